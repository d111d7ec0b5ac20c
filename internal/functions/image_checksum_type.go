// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
)

// imageChecksumType is the function image_checksum_type.
type imageChecksumType struct{}

// NewImageChecksumType returns the function image_checksum_type.
func NewImageChecksumType() function.Function { return imageChecksumType{} }

// Metadata names the function.
func (imageChecksumType) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "image_checksum_type"
}

// Definition describes the function.
func (imageChecksumType) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Name the type of a checksum",
		MarkdownDescription: "Returns `md5`, `sha256` or `sha512` for the digits of a checksum, told by their number. " +
			"The host resource finds this out for itself; the function helps to check a value, or to tell others.",
		Parameters: []function.Parameter{function.StringParameter{
			Name:                "checksum",
			MarkdownDescription: "A checksum in hexadecimal digits of either case.",
		}},
		Return: function.StringReturn{},
	}
}

// Run calls the function.
func (imageChecksumType) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var sum string

	if resp.Error = req.Arguments.Get(ctx, &sum); resp.Error != nil {
		return
	}

	kind, err := image.ChecksumType(sum)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, err.Error())

		return
	}

	resp.Error = resp.Result.Set(ctx, kind)
}
