// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephfilesystem

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
)

// What is noted beside the state, where users do not see it.
const (
	noteLeft   = "pools_left" // pools of a file system that is gone, which could not be deleted
	noteClosed = "closed"     // no MDS may take the file system's ranks
)

// notes are what the framework keeps beside the state of a resource.
type notes interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// leftPool is a pool as it is noted.
type leftPool struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// left are the pools that an earlier deletion left. Where the note cannot be read, there are none.
func left(ctx context.Context, n notes, diags *diag.Diagnostics) []pool.Which {
	doc, d := n.GetKey(ctx, noteLeft)
	diags.Append(d...)

	if len(doc) == 0 {
		return nil
	}

	var all []leftPool
	if err := json.Unmarshal(doc, &all); err != nil {
		diags.AddWarning("Note of pools that are left cannot be read", "Look for pools of the file system with `ceph osd pool ls`: "+err.Error())

		return nil
	}

	var out []pool.Which

	for _, p := range all {
		if p.ID > 0 && p.Name != "" {
			out = append(out, pool.Which{ID: p.ID, Name: p.Name})
		}
	}

	return out
}

// setLeft notes the pools that are left; none: it ends the note.
func setLeft(ctx context.Context, n notes, all []pool.Which, diags *diag.Diagnostics) {
	if len(all) == 0 {
		diags.Append(n.SetKey(ctx, noteLeft, nil)...)

		return
	}

	out := make([]leftPool, 0, len(all))
	for _, p := range all {
		out = append(out, leftPool{p.ID, p.Name})
	}

	doc, err := json.Marshal(out)
	if err != nil {
		diags.AddWarning("Pools that are left cannot be noted", err.Error())

		return
	}

	diags.Append(n.SetKey(ctx, noteLeft, doc)...)
}

func names(all []pool.Which) string {
	out := make([]string, 0, len(all))
	for _, p := range all {
		out = append(out, p.Name)
	}

	return strings.Join(out, ", ")
}

// setClosed notes whether MDS may take the ranks.
func setClosed(ctx context.Context, n notes, closed bool, diags *diag.Diagnostics) {
	var doc []byte
	if closed {
		doc = []byte("true")
	}

	diags.Append(n.SetKey(ctx, noteClosed, doc)...)
}

func closed(ctx context.Context, n notes, diags *diag.Diagnostics) bool {
	doc, d := n.GetKey(ctx, noteClosed)
	diags.Append(d...)

	return string(doc) == "true"
}
