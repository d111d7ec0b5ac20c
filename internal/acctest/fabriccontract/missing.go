// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabriccontract

import (
	"errors"
	"net/http"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
)

// missing is what a driver must not take for "gone": a state would lose its devices.
func missing() map[string]func(*rig) {
	return map[string]func(*rig){
		"lists that are not shown are no empty lists":            hiddenLists,
		"a router's words for 404 are not the manager's":         routers404,
		"what is held at the manager is given back, if anything": givenBack,
	}
}

// lists changes every list of a document, however deep; change says whether to keep its field.
func lists(doc any, change func(list []any) (any, bool)) any {
	m, ok := doc.(map[string]any)
	if !ok {
		return doc
	}

	for key, v := range m {
		list, ok := v.([]any)
		if !ok {
			m[key] = lists(v, change)

			continue
		}

		for i := range list {
			list[i] = lists(list[i], change)
		}

		after, keep := change(list)
		if m[key] = after; !keep {
			delete(m, key)
		}
	}

	return m
}

func hiddenLists(r *rig) {
	r.attach(0, model)
	before := r.read(0)

	for name, change := range map[string]func([]any) (any, bool){
		"missing":        func([]any) (any, bool) { return nil, false },
		"null":           func([]any) (any, bool) { return nil, true },
		"null inside":    func(list []any) (any, bool) { return make([]any, len(list)), true },
		"nothing inside": func(list []any) (any, bool) { return slices.Repeat([]any{map[string]any{}}, len(list)), true },
		"an object":      func([]any) (any, bool) { return map[string]any{}, true },
	} {
		f := labfabric.Rewritten(r.Reads, func(doc any) any { return lists(doc, change) })
		f.Times = -1
		r.far.Inject(f)

		// The list may be told elsewhere as well.
		m, err := r.f.Machine(r.Context(), id(0))
		if err == nil && !slices.Equal(m.Devices, before.Devices) {
			r.Errorf("%s: before %+v, now %+v", name, before.Devices, m.Devices)
		} else if err != nil {
			r.fails(name, err, fabric.ErrNotFabric)
		}

		r.far.Heal()
	}

	r.sound()
}

func routers404(r *rig) {
	r.read(0)

	for _, body := range []string{
		`{"error":"HTTP 404 Not Found"}`, `{"error":"RESTEASY003210: Could not find resource for full path: https://x/y"}`,
		`{"error":"404 page not found"}`, `{"code":"NOT_FOUND","message":"no such route"}`, `{"error":{"code":"NotFound","message":"x"}}`,
	} {
		// Some drivers ask for the list where a single read is in doubt: that one answers, or does not.
		for _, match := range []string{r.Reads, "GET /**"} {
			r.far.Inject(labfabric.Fault{Match: match, Times: -1, Status: http.StatusNotFound, Body: body})

			if _, err := r.f.Machine(r.Context(), id(0)); errors.Is(err, fabric.ErrNotFound) {
				r.Errorf("%s to %s: %v", body, match, err)
			}

			r.far.Heal()
		}
	}

	r.sound()
}

func givenBack(r *rig) {
	door, ok := r.f.(fabric.Closer)
	if !ok {
		r.Skip("the driver holds nothing")
	}

	for range 2 { // it may be used again
		r.read(0)

		if err := door.Close(r.Context()); err != nil {
			r.Error(err)
		}
	}

	r.sound()
}
