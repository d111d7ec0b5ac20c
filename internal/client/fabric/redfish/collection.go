// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/document"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// How far collections are unfolded, where the service can. Of systems only the members: below
// them is far more than anybody asks for here.
const (
	flat = 1 // the members
	deep = 2 // and the devices that they name
)

// levelsOf is how far a service unfolds a collection for us; 0: not at all.
func levelsOf(root document.Object) int {
	q := root.Object("ProtocolFeaturesSupported", "ExpandQuery")
	if !q.Bool("NoLinks", false) {
		return 0
	}

	most, told := q.Int("MaxLevels")

	switch {
	case !q.Bool("Levels", false):
		return flat
	case !told:
		return deep
	default:
		return max(min(most, deep), flat)
	}
}

// members are the paths of a collection's members, of all its pages. Fewer than the count
// says are an error: a partial list is no list.
func (l *look) members(ctx context.Context, path string, levels int) ([]string, error) {
	if levels = min(levels, l.levels); levels > 0 && !strings.Contains(path, "?") {
		how := "." // services without levels know this one
		if levels > flat {
			how = fmt.Sprintf(".($levels=%d)", levels)
		}

		paths, err := l.pages(ctx, path+"?$expand="+how)
		if err == nil || wait.IsTransient(err) || errors.Is(err, fabric.ErrAuth) {
			return paths, err
		}
	}

	return l.pages(ctx, path)
}

// pages reads the pages of a collection. What members say beyond their paths is kept.
func (l *look) pages(ctx context.Context, path string) ([]string, error) {
	var (
		paths []string
		pages []string
		total = -1
	)

	for next := path; next != ""; {
		if len(pages) == maxPages || slices.Contains(pages, next) {
			return nil, l.wrong(path, "the pages of the collection have no end")
		}

		pages = append(pages, next)

		page, err := l.part(ctx, next)
		if err != nil {
			return nil, err
		}

		if !page.Has("Members") {
			return nil, l.wrong(next, "no collection")
		}

		links, err := page.links("Members")
		if err != nil {
			return nil, l.wrong(next, err.Error())
		}

		paths = append(paths, links...)
		l.keep(page.Object["Members"])

		if n, ok := page.Int("Members@odata.count"); ok {
			total = n
		}

		next = local(page.Text("Members@odata.nextLink"))
	}

	if total >= 0 && total != len(paths) {
		return nil, l.wrong(path, fmt.Sprintf("the list is not complete: %d members, and the count says %d", len(paths), total))
	}

	return paths, nil
}

// keep remembers the resources that an answer holds in full, with all that is below them.
func (l *look) keep(v any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			l.keep(one)
		}
	case map[string]any:
		for _, one := range v {
			l.keep(one)
		}

		o := document.Object(v)

		path := local(o.Text("@odata.id"))
		if path == "" || !o.Has("@odata.type") || strings.Contains(o.Text("@odata.id"), "#") {
			return // a reference, or a part of a resource
		}

		s := newOnce[resource]()
		s.known, s.value = true, resource{Object: o, path: path, etag: o.Text("@odata.etag")}

		l.mu.Lock()
		defer l.mu.Unlock()

		if l.seen[path] == nil {
			l.seen[path] = s
		}
	}
}
