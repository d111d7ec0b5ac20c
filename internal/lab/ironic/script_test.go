// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

func TestOBMH04_nodeLocked(t *testing.T) {
	t.Parallel()

	r := newRig(t, ironic.Options{})
	r.fake()
	r.Inject(ironic.Trouble{Match: "PUT /v1/nodes/*/states/provision", Locked: true, Times: 3})

	for range 3 {
		code, body := r.do(http.MethodPut, "/v1/nodes/n/states/provision", `{"target":"manage"}`)
		if code != http.StatusConflict || !strings.Contains(text(body), "is locked by host ironic.lab") {
			t.Fatalf("%d %v", code, body)
		}
	}

	if code := r.verb("manage", ""); code != http.StatusAccepted {
		t.Errorf("the fourth: %d", code)
	}
}

func TestInject_everyKindOfTrouble(t *testing.T) {
	t.Parallel()

	r := newRig(t, ironic.Options{})
	r.fake()

	server := httptest.NewServer(r.Service)
	defer server.Close()

	// call returns the status, the body, and the header Retry-After.
	call := func(method, path, body string) (status int, content, retry string, err error) {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}

		req.Header.Set("X-OpenStack-Ironic-API-Version", "1.96")

		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, "", "", err
		}
		defer res.Body.Close()

		raw, err := io.ReadAll(res.Body)

		return res.StatusCode, string(raw), res.Header.Get("Retry-After"), err
	}

	r.Inject(ironic.Busy("GET /v1/nodes/*", 1))

	if status, _, retry, err := call(http.MethodGet, "/v1/nodes/n", ""); err != nil || status != 503 || retry != "1" {
		t.Errorf("busy: %d, again after %q, %v", status, retry, err)
	}

	r.Inject(ironic.Trouble{Match: "GET /v1/nodes/*", HTML: "<html>proxy</html>"})

	if status, body, _, err := call(http.MethodGet, "/v1/nodes/n", ""); err != nil || status != 200 || body != "<html>proxy</html>" {
		t.Errorf("HTML: %d %q %v", status, body, err)
	}

	r.Inject(ironic.Trouble{Match: "POST /v1/nodes", DropAfter: true})

	if _, _, _, err := call(http.MethodPost, "/v1/nodes", `{"name":"lost","driver":"fake-hardware"}`); err == nil {
		t.Error("no error from a dropped connection")
	}

	if status, _, _, err := call(http.MethodGet, "/v1/nodes/lost", ""); err != nil || status != 200 {
		t.Errorf("the work was not done: %d %v", status, err)
	}

	// The client repeats a DELETE whose connection broke before any answer: all are dropped.
	r.Inject(ironic.Trouble{Match: "DELETE /v1/nodes/*", DropBefore: true, Times: -1})

	if _, _, _, err := call(http.MethodDelete, "/v1/nodes/lost", ""); err == nil {
		t.Error("no error from a dropped connection")
	}

	r.get("lost")

	r.Inject(ironic.Trouble{Match: "GET /v1/drivers", Delay: 30 * time.Millisecond})

	began := time.Now()
	if _, _, _, err := call(http.MethodGet, "/v1/drivers", ""); err != nil || time.Since(began) < 30*time.Millisecond {
		t.Errorf("not late: %s %v", time.Since(began), err)
	}
}

func TestOTF02_theServerRewrites(t *testing.T) {
	t.Parallel()

	r := newRig(t, ironic.Options{})
	r.fake()
	r.Rewrite(ironic.Mangle)
	r.do(http.MethodPatch, "/v1/nodes/n",
		`[{"op":"add","path":"/properties/CPU","value":8},{"op":"add","path":"/instance_info/image_source","value":"http://Images.lab/A.qcow2"}]`)

	n := r.get("n")
	if p := n["properties"].(map[string]any); p["CPU"] != "8" || len(p) != 4 {
		t.Errorf("properties: %v", p)
	}

	if i := n["instance_info"].(map[string]any); i["image_source"] != "http://images.lab/a.qcow2/" {
		t.Errorf("instance_info: %v", i)
	}

	if n["provision_state"] != "enroll" {
		t.Errorf("the state is rewritten too: %v", n["provision_state"])
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()

	r := newRig(t, ironic.Options{})
	r.fake()
	r.KeepRequests()
	r.get("n")
	r.get("n")
	r.do(http.MethodPut, "/v1/nodes/n/maintenance", `{"reason":"x"}`)

	counts := r.Counts()
	if counts["GET /v1/nodes/{node}"] != 2 || counts["POST /v1/nodes"] != 1 || counts["PUT /v1/nodes/{node}/maintenance"] != 1 {
		t.Errorf("counts: %v", counts)
	}

	all := r.Requests()
	if len(all) != 3 || all[2].Body != `{"reason":"x"}` || all[2].Status != http.StatusAccepted || all[2].Minor != "1.96" {
		t.Errorf("requests: %+v", all)
	}
}

func TestConductor_dies(t *testing.T) {
	t.Parallel()

	r := newRig(t, ironic.Options{Pace: 20 * time.Millisecond})
	r.fake()
	r.verb("manage", "")

	if err := r.StopConductor(); err != nil {
		t.Fatal(err)
	}

	time.Sleep(30 * time.Millisecond)

	if n := r.get("n"); n["provision_state"] != "verifying" || n["conductor"] != nil {
		t.Errorf("without a conductor: %v by %v", n["provision_state"], n["conductor"])
	}

	if all := r.must(http.StatusOK, http.MethodGet, "/v1/drivers", nil)["drivers"].([]any); len(all) != 0 {
		t.Errorf("%d drivers without a conductor", len(all))
	}

	if err := r.StartConductor(); err != nil {
		t.Fatal(err)
	}

	if n := r.get("n"); n["provision_state"] != "enroll" || n["last_error"] == nil {
		t.Errorf("after a restart: %v, %v", n["provision_state"], n["last_error"])
	}
}
