// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// TestMachine_isGoneOnlyByTheList: a 404 at the path of a system, whoever says it, is held
// against the list of all systems.
func TestMachine_isGoneOnlyByTheList(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		say    func(http.ResponseWriter)
		listed bool
		kind   error
	}{
		"a router's word, and it is listed":    {answer(404, obj{"error": "HTTP 404 Not Found"}), true, fabric.ErrNotFabric},
		"a router's word, and it is not":       {answer(404, obj{"error": "HTTP 404 Not Found"}), false, fabric.ErrNotFound},
		"the service's word, and it is listed": {refusing(404, "ResourceMissingAtURI"), true, fabric.ErrBusy},
		"the service's word, and it is not":    {refusing(404, "ResourceMissingAtURI"), false, fabric.ErrNotFound},
	} {
		for _, id := range []string{"1", sys1} {
			s := composable(t)
			s.answers["GET "+sys1] = c.say

			if !c.listed {
				s.answers["GET "+v1+"/Systems"] = answer(200, obj{"Members": refs(sys2), "Members@odata.count": 1})
			}

			if _, err := s.serve().Machine(t.Context(), id); !errors.Is(err, c.kind) {
				t.Errorf("%s: %s: %v, want %v", name, id, err, c.kind)
			}
		}
	}
}
