// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fticm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

var (
	one = device("D1", "U1", "ADD_COMPLETE")
	two = device("D2", "U2", "ADD_COMPLETE")
	bad = device("DX", "UX", "ADD_FAILED")
)

// increase is the order that CM wants for one more.
func increase(count string) string {
	return resize + ` {"increase_resource_count":{"device_count":` + count + `,"spec_uuid":"S"}}`
}

func remove(count, id string) string {
	return resize + ` {"remove_resources":{"device_count":` + count + `,"devices":["` + id + `"],"spec_uuid":"S"}}`
}

// TestOGPU06_attach: an order is sent only where everything is clear.
func TestOGPU06_attach(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		specs  string
		count  int // wanted afterwards
		order  string
		kind   error
		words  []string
		passes bool
	}{
		"the first":                              {specs: spec("S", "A", `0,4,0`), count: 1, order: increase("1")},
		"one more":                               {specs: spec("S", "A", `0,4,1`, one), count: 2, order: increase("2")},
		"up to the bound":                        {specs: spec("S", "A", `0,2,1`, one), count: 2, order: increase("2")},
		"without a bound":                        {specs: spec("S", "A", `0,null,1`, one), count: 2, order: increase("2")},
		"without a count":                        {specs: spec("S", "A", `0,4,null`, one), count: 2, order: increase("2")},
		"numbers as text":                        {specs: spec("S", "A", `"0","4","1"`, one), count: 2, order: increase("2")},
		"below the minimum":                      {specs: spec("S", "A", `2,6,0`), count: 1, order: increase("1")},
		"beside another":                         {specs: spec("T", "B", `0,4,1`, two) + "," + spec("S", "A", `0,4,1`, one), count: 2, order: increase("2")},
		"beside one that failed and counts":      {specs: spec("S", "A", `0,4,2`, one, bad), count: 3, order: increase("3")},
		"beside one that failed and counts not":  {specs: spec("S", "A", `0,4,1`, one, bad), count: 3, order: increase("2")},
		"by the manager's count where none said": {specs: spec("S", "A", `0,4,1`, one), order: increase("2")},

		"a model that is spelled otherwise": {
			specs: spec("S", "A-1", `0,4,1`, one) + "," + spec("T", "H100", `0,2,2`), count: 1,
			kind: fabric.ErrRefused, words: []string{`"A"`, `"A-1" (3 of 4 remain)`, `"H100" (0 of 2 remain)`},
		},
		"no specification at all": {count: 1, kind: fabric.ErrRefused, words: []string{"none of this type"}},
		"two of them":             {specs: spec("S", "A", `0,4,0`) + "," + spec("T", "A", `0,4,0`), count: 1, kind: fabric.ErrRefused, words: []string{"S", "T"}},
		"one without an id":       {specs: spec("", "A", `0,4,0`), count: 1, kind: fabric.ErrRefused, words: []string{"spec_uuid"}},
		"beyond the bound":        {specs: spec("S", "A", `0,1,1`, one), count: 2, kind: fabric.ErrCapacity, words: []string{"1 of at most 1", "0 remain"}},
		"while one comes":         {specs: spec("S", "A", `0,4,1`, device("D", "U", "ADD_IN_PROGRESS")), count: 2, kind: fabric.ErrBusy, passes: true},
		"while one goes":          {specs: spec("S", "A", `0,4,1`, device("D", "U", "REMOVING")), count: 2, kind: fabric.ErrBusy, passes: true},
		"while one is awaited":    {specs: spec("S", "A", `0,4,2`, one), count: 2, kind: fabric.ErrBusy, passes: true},
		"after another writer":    {specs: spec("S", "A", `0,4,2`, one, two), count: 2, kind: fabric.ErrBusy, passes: true, words: []string{"has 2", "1 were expected"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, d := start(t, map[string]reply{getMach: {body: machine(mach, tc.specs)}, resize: {body: "whatever <html>"}})

			hint, err := f.Attach(t.Context(), mach, fabric.Want{Type: "gpu", Model: "A", Count: tc.count})
			if !errors.Is(err, tc.kind) || len(hint.Devices) > 0 || wait.IsTransient(err) != tc.passes {
				t.Errorf("got %+v, %v", hint, err)
			}

			for _, words := range tc.words {
				if err != nil && !strings.Contains(err.Error(), words) {
					t.Errorf("%v does not say %s", err, words)
				}
			}

			want := []string{getMach}
			if tc.order != "" {
				want = append(want, tc.order)
			} else if !fabric.NothingDone(err) {
				t.Errorf("%v does not say that nothing was done", err)
			}

			if !slices.Equal(d.Seen, want) {
				t.Errorf("sent %q, want %q", d.Seen, want)
			}
		})
	}
}

func TestDetach(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		specs  string
		order  string
		kind   error
		passes bool
	}{
		"the only one":                 {specs: spec("S", "A", `0,4,1`, one), order: remove("0", "D1")},
		"one of two":                   {specs: spec("S", "A", `1,4,2`, two, one), order: remove("1", "D1")},
		"again after a failure":        {specs: spec("S", "A", `0,4,1`, device("D1", "U1", "REMOVE_FAILED")), order: remove("0", "D1")},
		"one that failed and counts":   {specs: spec("S", "A", `0,4,2`, two, device("D1", "U1", "ADD_FAILED")), order: remove("1", "D1")},
		"one that failed, not counted": {specs: spec("S", "A", `1,4,1`, two, device("D1", "U1", "ADD_FAILED")), order: remove("1", "D1")},
		"of a changed id":              {specs: spec("S", "A", `0,4,1`, device("D9", "U1", "ADD_COMPLETE")), order: remove("0", "D9")},
		"gone already":                 {specs: spec("S", "A", `0,4,1`, two)},
		"on its way":                   {specs: spec("S", "A", `0,4,1`, device("D1", "U1", "REMOVING"))},
		"below the minimum":            {specs: spec("S", "A", `1,4,1`, one), kind: fabric.ErrRefused},
		"without an id to name":        {specs: spec("S", "A", `0,4,1`, device("", "U1", "ADD_COMPLETE")), kind: fabric.ErrRefused},
		"without a specification's id": {specs: spec("", "A", `0,4,1`, one), kind: fabric.ErrRefused},
		"while another comes":          {specs: spec("S", "A", `0,4,2`, one, device("D", "U", "ADDING")), kind: fabric.ErrBusy, passes: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, d := start(t, map[string]reply{getMach: {body: machine(mach, tc.specs)}, resize: {}})

			_, err := f.Detach(t.Context(), mach, fabric.Device{FabricID: "U1", DeviceID: "D1", Type: "gpu", Model: "A"})
			if !errors.Is(err, tc.kind) || wait.IsTransient(err) != tc.passes {
				t.Errorf("got %v", err)
			}

			want := []string{getMach}
			if tc.order != "" {
				want = append(want, tc.order)
			}

			if !slices.Equal(d.Seen, want) {
				t.Errorf("sent %q, want %q", d.Seen, want)
			}
		})
	}
}

// TestOrders_outcomes: a question that fails is no order whose outcome is unknown.
func TestOrders_outcomes(t *testing.T) {
	t.Parallel()

	good := reply{body: machine(mach, spec("S", "A", `0,4,1`, one))}

	for name, tc := range map[string]struct {
		get, post reply
		attach    error
		none      bool // nothing was done for sure
	}{
		"done":                     {good, reply{202, ``}, nil, false},
		"the question fails":       {reply{500, ``}, reply{}, fabric.ErrUnsent, true},
		"somebody else answers it": {reply{200, `<html>`}, reply{}, fabric.ErrUnsent, true},
		"no such machine":          {reply{404, `{"status":404,"detail":{"code":"E1","message":"x"}}`}, reply{}, fabric.ErrNotFound, true},
		"the order fails":          {good, reply{500, ``}, fabric.ErrUnknown, false},
		"a proxy answers it":       {good, reply{404, `<html>`}, fabric.ErrNotFabric, false},
		"it is refused":            {good, reply{400, `{"status":"400","detail":{"code":"E1","message":"x"}}`}, fabric.ErrRefused, true},
		"it is turned away":        {good, reply{409, ``}, fabric.ErrBusy, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, _ := start(t, map[string]reply{getMach: tc.get, resize: tc.post})

			_, attach := f.Attach(t.Context(), mach, fabric.Want{Type: "gpu", Model: "A", Count: 2})
			_, detach := f.Detach(t.Context(), mach, fabric.Device{FabricID: "U1", Type: "gpu", Model: "A"})

			for _, err := range []error{attach, detach} {
				if !errors.Is(err, tc.attach) || fabric.NothingDone(err) != tc.none {
					t.Errorf("got %v", err)
				}
			}
		})
	}

	f, d := start(t, map[string]reply{getMach: {body: strings.Replace(machine(mach, spec("S", "A", `0,4,0`)), "ACTIVE", "UNBUILDED", 1)}})
	if _, err := f.Attach(t.Context(), mach, fabric.Want{Type: "gpu", Model: "A", Count: 1}); !errors.Is(err, fabric.ErrRefused) || len(d.Seen) != 1 {
		t.Errorf("a machine that was: %v, %q", err, d.Seen)
	}

	f, d = start(t, nil)
	_, attach := f.Attach(t.Context(), "x", fabric.Want{Type: "gpu", Model: "A"})
	_, detach := f.Detach(t.Context(), "../x", fabric.Device{FabricID: "U1"})
	if !errors.Is(attach, fabric.ErrConfig) || !errors.Is(detach, fabric.ErrConfig) || len(d.Seen) > 0 {
		t.Errorf("ids: %v, %v, %q", attach, detach, d.Seen)
	}
}

func TestFree(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		specs string
		want  fabric.FreeInfo
		kind  error
	}{
		"what the bound leaves": {spec("S", "A", `1,4,1`, one) + "," + spec("T", "B", `0,1,0`), fabric.FreeInfo{Known: true, Count: 3, FabricID: "F", HasLimits: true, Min: 1, Max: 4, Current: 1, Models: []string{"A", "B"}}, nil},
		"more than the bound":   {spec("S", "A", `0,1,2`, one, two), fabric.FreeInfo{Known: true, FabricID: "F", HasLimits: true, Max: 1, Current: 2, Models: []string{"A"}}, nil},
		"no bound":              {spec("S", "A", `0,null,1`, one), fabric.FreeInfo{FabricID: "F", HasLimits: true, Current: 1, Models: []string{"A"}}, nil},
		"another model":         {spec("S", "B", `0,4,1`, one), fabric.FreeInfo{Known: true, FabricID: "F", Models: []string{"B"}}, nil},
		"two of them":           {spec("S", "A", `0,4,0`) + "," + spec("T", "A", `0,4,0`), fabric.FreeInfo{Models: []string{"A"}}, fabric.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, _ := start(t, map[string]reply{getMach: {body: machine(mach, tc.specs)}})

			got, err := f.Free(t.Context(), mach, "gpu", "A")
			if !errors.Is(err, tc.kind) || got.Known != tc.want.Known || got.Count != tc.want.Count || got.FabricID != tc.want.FabricID ||
				got.HasLimits != tc.want.HasLimits || got.Min != tc.want.Min || got.Max != tc.want.Max || got.Current != tc.want.Current ||
				!slices.Equal(got.Models, tc.want.Models) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
