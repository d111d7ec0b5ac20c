// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/redfish"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

var known = fabric.Auth{Username: "u", Password: "hunter2!"}

func TestLogin_isOneSessionForAll(t *testing.T) {
	t.Parallel()

	s := composable(t)
	s.login = "session"
	f := s.serveAs(known)

	var all sync.WaitGroup

	for range 8 {
		all.Go(func() {
			if _, err := f.Machine(t.Context(), "1"); err != nil {
				t.Error(err)
			}
		})
	}

	all.Wait()

	if n := s.count("POST " + sessions); n != 1 {
		t.Errorf("%d logins", n)
	}
}

func TestLogin_anEndedSessionIsRenewedOnce(t *testing.T) {
	t.Parallel()

	s := composable(t)
	s.login = "session"
	f := s.serveAs(known)

	if _, err := f.Machine(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}

	s.tokens = map[string]bool{"gone": true} // the service was started again

	if err := do(t, f, "attach", blockDir+"/g2"); err != nil || len(s.orders) != 1 {
		t.Errorf("%v, sent %q", err, s.orders)
	}

	action := "POST " + sys1 + "/Actions/ComputerSystem.AddResourceBlock"
	s.answers[action] = refusing(http.StatusUnauthorized, "NoValidSession")
	s.log = nil

	err := do(t, f, "attach", blockDir+"/g2")
	if !errors.Is(err, fabric.ErrAuth) || s.count(action) != 2 || s.count("POST "+sessions) != 1 {
		t.Errorf("%v, requests %q", err, s.log)
	}
}

func TestLogin_fallsBackToUserNameAndPassword(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(*service){
		"no sessions":              func(*service) {},
		"the root names none":      func(s *service) { s.docs[v1]["Links"] = obj{} },
		"all are taken":            func(s *service) { s.answers["POST "+sessions] = refusing(503, "SessionLimitExceeded") },
		"an answer without token":  func(s *service) { s.answers["POST "+sessions] = answer(201, obj{}) },
		"the limit, with 400":      func(s *service) { s.answers["POST "+sessions] = refusing(400, "SessionLimitExceeded") },
		"nobody has made it":       func(s *service) { s.answers["POST "+sessions] = refusing(501, "NotImplemented") },
		"there is no such service": func(s *service) { s.answers["POST "+sessions] = raw(404, "text/plain", "no") },
	} {
		s := composable(t)
		s.login = "basic"
		change(s)

		f := s.serveAs(known)
		for range 2 {
			if _, err := f.Machine(t.Context(), "1"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}

		if n := s.count("POST " + sessions); n > 1 {
			t.Errorf("%s: tried %d times", name, n)
		}
	}
}

func TestLogin_aWrongPasswordIsNotTriedAnotherWay(t *testing.T) {
	t.Parallel()

	s := composable(t)
	s.login = "session"

	_, err := s.serveAs(fabric.Auth{Username: "u", Password: "wr0ng!"}).Machine(t.Context(), "1")
	if !errors.Is(err, fabric.ErrAuth) || strings.Contains(err.Error(), "wr0ng!") || s.count("GET "+sys1) != 0 {
		t.Errorf("%v, requests %q", err, s.log)
	}

	s.login = "basic"

	_, err = s.serveAs(fabric.Auth{Username: "u", Password: "wr0ng!"}).Machine(t.Context(), "1")
	if !errors.Is(err, fabric.ErrAuth) || s.count("POST "+sessions) != 2 {
		t.Errorf("%v, requests %q", err, s.log)
	}
}

func TestReads_refuseWhatIsNoRedfish(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		request   string
		say       func(http.ResponseWriter)
		kind      error
		transient bool
	}{
		"a root of another service":  {v1, answer(200, obj{"items": 1}), fabric.ErrNotFabric, false},
		"a root without systems":     {v1, answer(200, obj{"RedfishVersion": "1.0"}), fabric.ErrNotFabric, false},
		"HTML":                       {v1, raw(200, "text/html", "<html>"), fabric.ErrNotFabric, false},
		"a redirect":                 {v1 + "/Systems", raw(302, "text/plain", ""), fabric.ErrNotFabric, false},
		"no collection":              {v1 + "/Systems", answer(200, obj{"x": 1}), fabric.ErrNotFabric, false},
		"a list":                     {v1 + "/Systems", answer(200, []int{1}), fabric.ErrNotFabric, false},
		"members that are none":      {v1 + "/Systems", answer(200, obj{"Members": []any{7}}), fabric.ErrNotFabric, false},
		"members that name nothing":  {v1 + "/Systems", answer(200, obj{"Members": []any{obj{}}}), fabric.ErrNotFabric, false},
		"more than counted":          {v1 + "/Systems", answer(200, obj{"Members": refs(sys1), "Members@odata.count": 0}), fabric.ErrNotFabric, false},
		"pages without end":          {v1 + "/Systems", answer(200, obj{"Members": refs(sys1), "Members@odata.nextLink": v1 + "/Systems"}), fabric.ErrNotFabric, false},
		"a member that has gone":     {sys2, refusing(404, "ResourceMissingAtURI"), fabric.ErrBusy, true},
		"zones of another type":      {blockDir + "/g1", answer(200, obj{"Links": obj{"Zones": "x"}}), fabric.ErrNotFabric, false},
		"processors of another type": {blockDir + "/g1", answer(200, obj{"Processors": obj{}}), fabric.ErrNotFabric, false},
		"overload":                   {sys1, refusing(503, "ServiceTemporarilyUnavailable"), fabric.ErrBusy, true},
		"nothing":                    {sys1, drop, fabric.ErrUnknown, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := composable(t)
			s.answers["GET "+c.request] = c.say

			_, err := s.serve().Machines(t.Context())
			if !errors.Is(err, c.kind) || wait.IsTransient(err) != c.transient {
				t.Errorf("%v (transient %v)", err, wait.IsTransient(err))
			}
		})
	}
}

func TestService_mayKnowItsRootOnlyWithoutTheSlash(t *testing.T) {
	t.Parallel()

	s := composable(t)
	first := true
	s.answers["GET "+v1] = func(w http.ResponseWriter) {
		if first {
			first = false
			raw(404, "text/plain", "no such page")(w)

			return
		}

		write(w, 200, s.docs[v1])
	}

	if _, err := s.serve().Machine(t.Context(), "1"); err != nil {
		t.Error(err)
	}
}

func TestService_withoutAnythingToComposeIsAskedAgain(t *testing.T) {
	t.Parallel()

	s := newService(t)
	s.system(sys1, "1", uuid1, nil)
	f := s.serve()

	// It may have been started just now: that it shows nothing does not mean that there is nothing.
	for range 2 {
		if m, err := f.Machine(t.Context(), "1"); !errors.Is(err, fabric.ErrNotFabric) {
			t.Errorf("%+v, %v", m, err)
		}
	}

	s.docs[sys1]["Links"] = obj{"ResourceBlocks": refs()} // now it says so

	if m, err := f.Machine(t.Context(), "1"); err != nil || len(m.Devices) != 0 {
		t.Errorf("%+v, %v", m, err)
	}

	if free, err := f.Free(t.Context(), "1", "gpu", ""); err != nil || !free.Known || free.Count != 0 {
		t.Errorf("%+v, %v", free, err)
	}

	if n := s.count("GET " + v1); n != 4 {
		t.Errorf("asked %d times", n)
	}
}

func TestLockKey_isOneForTheWholeService(t *testing.T) {
	t.Parallel()

	f := composable(t).serve()
	for _, name := range []string{"1", sys1 + "/", uuid1, "2"} {
		if f.LockKey(name) != f.Endpoint() {
			t.Errorf("%s: %q", name, f.LockKey(name))
		}
	}

	if caps := f.Caps(); !caps.PicksDevice || !caps.Async || !caps.ReportsSerial || len(caps.Types) != 2 {
		t.Errorf("%+v", caps)
	}
}

func TestNew_refusesPlainHTTP(t *testing.T) {
	t.Parallel()

	if _, err := redfish.New(fabric.Config{Endpoint: "http://redfish.example.com"}); !errors.Is(err, fabric.ErrConfig) {
		t.Error(err)
	}
}
