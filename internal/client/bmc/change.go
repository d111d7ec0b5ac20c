// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Patch changes properties of a resource and waits until the BMC has done it.
func (c *Client) Patch(ctx context.Context, path string, change map[string]any) error {
	op := "change " + path

	a, err := c.get(ctx, "the resource", path)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}

	a, err = c.change(ctx, path, tag(a), request{op: op, method: http.MethodPatch, path: path, payload: change})
	if err != nil {
		return err
	}

	return c.follow(ctx, op, a, c.has(path, change))
}

// change sends a request that changes something, with the resource's ETag where there is one.
//
// Boards differ in what they take: some demand If-Match (428), some refuse the very tag
// that they gave out when it is weak (gofish 171, community.general 3268). A refusal means
// that nothing was done, so the next spelling may be tried, each of them once.
func (c *Client) change(ctx context.Context, resource, given string, r request) (answer, error) {
	a, err := c.with(ctx, given, r)
	if !errors.Is(err, ErrConflict) {
		return a, err
	}

	fresh, readErr := c.get(ctx, "the resource", resource)
	if readErr != nil {
		return a, errors.Join(err, readErr)
	}

	now := tag(fresh)
	tried := map[string]bool{"": true}

	for _, t := range []string{now, strong(now), "*"} {
		if tried[t] {
			continue
		}

		tried[t] = true

		if a, err = c.with(ctx, t, r); !errors.Is(err, ErrConflict) {
			return a, err
		}
	}

	return a, err
}

// with sends the request with a tag, "" for none.
func (c *Client) with(ctx context.Context, tag string, r request) (answer, error) {
	if tag != "" {
		r.header = map[string]string{"If-Match": tag}
	}

	return c.do(ctx, r)
}

// tag returns the ETag of a resource that was read.
func tag(a answer) string { return cmp.Or(a.header.Get("ETag"), a.doc.text("@odata.etag")) }

// strong makes the plain tag out of one that is weak, quoted twice or marked as compressed.
func strong(tag string) string {
	if tag == "" {
		return ""
	}

	tag = strings.Trim(strings.TrimPrefix(tag, "W/"), `"`)

	return `"` + strings.TrimSuffix(tag, "-gzip") + `"`
}

// has returns a probe that is done when the resource shows the values of the change.
func (c *Client) has(path string, change map[string]any) wait.Probe {
	var want map[string]any

	raw, err := json.Marshal(change)
	if err == nil {
		err = json.Unmarshal(raw, &want) // numbers as they come from the BMC
	}

	return func(ctx context.Context) (wait.Verdict, string, error) {
		if err != nil {
			return wait.Again, "", err
		}

		a, err := c.get(ctx, "the resource", path)
		if err != nil {
			return wait.Again, "", err
		}

		if !contains(map[string]any(a.doc), want) {
			return wait.Again, "the new values do not show", nil
		}

		return wait.Done, "", nil
	}
}

// contains reports whether an object has the values of another one.
func contains(have, want any) bool {
	wanted, ok := want.(map[string]any)
	if !ok {
		return reflect.DeepEqual(have, want)
	}

	object, ok := have.(map[string]any)
	if !ok {
		return false
	}

	for key, value := range wanted {
		if !contains(object[key], value) {
			return false
		}
	}

	return true
}
