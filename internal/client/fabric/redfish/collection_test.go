// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"slices"
	"testing"
)

// unfolds lets a service say that it unfolds collections.
func unfolds(s *service) {
	s.docs[v1]["ProtocolFeaturesSupported"] = obj{"ExpandQuery": obj{"NoLinks": true, "Levels": true, "MaxLevels": 6}}
	s.docs[blockDir+"/base"]["@odata.type"] = "#ResourceBlock.v1_4_3.ResourceBlock"
}

func TestCollections_comeUnfoldedWhereTheServiceCan(t *testing.T) {
	t.Parallel()

	s := composable(t)
	s.page = 2

	unfolds(s)
	f := s.serve()

	if _, err := f.Machine(t.Context(), "1"); err != nil { // finds out what is there
		t.Fatal(err)
	}

	s.log = nil

	free, err := f.Free(t.Context(), "", "gpu", "A100")
	if err != nil || !slices.Equal(ids(free.Devices), []string{"g2", "g3"}) {
		t.Errorf("%+v, %v", free, err)
	}

	if len(s.log) != 2 { // pages
		t.Errorf("requests: %q", s.log)
	}
}

func TestCollections_areReadOneByOneWhereUnfoldingFails(t *testing.T) {
	t.Parallel()

	for name, say := range map[string]func(http.ResponseWriter){
		"refused": refusing(http.StatusNotImplemented, "QueryNotSupported"), "an odd answer": answer(200, []int{}),
	} {
		s := composable(t)
		unfolds(s)

		first := true
		s.answers["GET "+blockDir] = func(w http.ResponseWriter) {
			if first = !first; !first {
				say(w)

				return
			}

			write(w, 200, obj{"Members": refs(blockDir + "/g2")})
		}

		if free, err := s.serve().Free(t.Context(), "1", "gpu", "A100"); err != nil || free.Count != 1 {
			t.Errorf("%s: %+v, %v", name, free, err)
		}
	}
}

func TestOrders_doNotRelyOnUnfoldedMembers(t *testing.T) {
	t.Parallel()

	s := composable(t)
	unfolds(s)

	if _, err := s.serve().Attach(t.Context(), uuid1, want(blockDir+"/g2")); err != nil || !slices.Equal(s.orders, []string{"AddResourceBlock g2"}) {
		t.Errorf("%q, %v", s.orders, err)
	}
}
