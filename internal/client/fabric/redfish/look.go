// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/document"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const (
	atATime  = 8    // requests of one question under way
	maxPages = 1000 // of one collection: no service has so many, but a loop has
)

// look is one question or one order. Within it a resource is read once, whoever asks; what
// one look saw, the next does not know.
type look struct {
	caller *fabric.Caller
	op     string
	levels int           // how far collections come unfolded
	slots  chan struct{} // one for each request under way

	mu   sync.Mutex
	seen map[string]*once[resource]
}

// resource is a resource as it was read.
type resource struct {
	document.Object

	path string
	etag string
}

func (d *driver) look(op string) *look {
	return &look{caller: d.caller, op: op, slots: make(chan struct{}, atATime), seen: map[string]*once[resource]{}}
}

// get reads a resource.
func (l *look) get(ctx context.Context, path string) (resource, error) {
	l.mu.Lock()

	s := l.seen[path]
	if s == nil {
		s = newOnce[resource]()
		l.seen[path] = s
	}

	l.mu.Unlock()

	return s.get(ctx, l.op, func(ctx context.Context) (resource, error) { return l.fetch(ctx, path) })
}

func (l *look) fetch(ctx context.Context, path string) (resource, error) {
	r := request(l.op, path)

	l.slots <- struct{}{} // never long: whoever has a slot waits for nothing but its answer
	defer func() { <-l.slots }()

	a, err := l.caller.Do(ctx, r)
	if err != nil {
		return resource{}, err
	}

	doc, ok := document.Parse(a.Body)
	if !ok {
		return resource{}, l.caller.Unusable(r, a, "no JSON object")
	}

	res := resource{Object: doc, path: path, etag: a.Header.Get("ETag")}
	if res.etag == "" {
		res.etag = doc.Text("@odata.etag")
	}

	return res, nil
}

// part reads a resource that another one names. That it is missing says nothing about what
// was asked for: something changes just now, or the service contradicts itself.
func (l *look) part(ctx context.Context, path string) (resource, error) {
	res, err := l.get(ctx, path)

	var e *fabric.Error
	if !errors.Is(err, fabric.ErrNotFound) || !errors.As(err, &e) {
		return res, err
	}

	own := *e
	own.Kind, own.Message = fabric.ErrBusy, "the service names it, and does not have it: "+e.Message

	return resource{}, wait.Transient(&own)
}

// parts reads resources, some at a time, in the order of their paths.
func (l *look) parts(ctx context.Context, paths []string) ([]resource, error) {
	return each(ctx, paths, l.part)
}

// each does something with every path, some at a time, and keeps the order.
func each[T any](ctx context.Context, paths []string, f func(context.Context, string) (T, error)) ([]T, error) {
	out := make([]T, len(paths))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atATime)

	for i, path := range paths {
		group.Go(func() error {
			var err error
			out[i], err = f(ctx, path)

			return err
		})
	}

	if err := group.Wait(); err != nil {
		return nil, err
	}

	return out, nil
}

// wrong is the error for an answer that cannot be relied on.
func (l *look) wrong(path, why string) error {
	return &fabric.Error{Op: l.op, Method: http.MethodGet, Path: path, Message: why, Kind: fabric.ErrNotFabric}
}

// refuse is the error for an order that is not sent.
func refuse(op string, kind error, format string, args ...any) error {
	return &fabric.Error{Op: op, Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// links are the paths of a list of references. One that names nothing makes the list useless.
func (r resource) links(keys ...string) ([]string, error) {
	last := len(keys) - 1

	list, err := r.Object.Object(keys[:last]...).Objects(keys[last])
	if err != nil {
		return nil, err
	}

	paths := make([]string, 0, len(list))

	for i, o := range list {
		path := local(o.Text("@odata.id"))
		if path == "" {
			return nil, fmt.Errorf("entry %d of %s is no reference", i+1, keys[last])
		}

		paths = append(paths, path)
	}

	return paths, nil
}

// list is links that have to be there: what has none says so with an empty list, and one that
// is missing, or null, says nothing.
func (r resource) list(keys ...string) ([]string, error) {
	last := len(keys) - 1
	if !r.Object.Object(keys[:last]...).Has(keys[last]) {
		return nil, fmt.Errorf("it has no list %s", strings.Join(keys, "."))
	}

	return r.links(keys...)
}

// link is the path of a reference.
func link(o document.Object, key string) string { return local(o.Object(key).Text("@odata.id")) }

// local is path and query of a reference. Where a service names a host, it is its own idea
// of its name: requests go nowhere but to the configured address.
func local(reference string) string {
	u, err := url.Parse(reference)
	if err != nil || !strings.HasPrefix(u.Path, "/") || strings.Contains(u.EscapedPath(), "//") {
		return ""
	}

	path := strings.TrimRight(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}

	return path
}

// request reads a path that the service gave, which may have a query.
func request(op, path string) fabric.Request {
	r := fabric.Request{Op: op}

	var query string

	r.Path, query, _ = strings.Cut(path, "?")
	if query != "" {
		r.Query, _ = url.ParseQuery(query) // what does not parse is left out
	}

	return r
}

// same compares paths as services write them.
func same(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

func has(paths []string, path string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return same(p, path) })
}
