// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package remote

import "fmt"

func newLocal(Config) (link, error) {
	return nil, fmt.Errorf("%w: type %q needs a Unix system: use an SSH connection", ErrConfig, Local)
}
