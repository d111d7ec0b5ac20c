// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// far looks at an Ironic past the provider, and does to it what people do by hand.
type far struct {
	acctest.Real

	version string // of the API, "1.N"
	client  *http.Client
}

func farSide(t *testing.T, r acctest.Real) *far {
	t.Helper()

	f := &far{Real: r, version: "1.82", client: &http.Client{Timeout: 30 * time.Second}}

	if r.CAFile != "" {
		pem, err := os.ReadFile(r.CAFile)
		if err != nil {
			t.Fatal(err)
		}

		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		f.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	}

	return f
}

// try asks Ironic; an answer that cannot be had is status 0.
func (f *far) try(method, path string, body any) (int, []byte) {
	// Also called when a test has ended.
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()

	var content io.Reader

	if body != nil {
		doc, err := json.Marshal(body)
		if err != nil {
			return 0, []byte(err.Error())
		}

		content = bytes.NewReader(doc)
	}

	req, err := http.NewRequestWithContext(ctx, method, f.Endpoint+"/v1"+path, content)
	if err != nil {
		return 0, []byte(err.Error())
	}

	req.Header.Set("X-Openstack-Ironic-Api-Version", f.version)
	req.Header.Set("Content-Type", "application/json")

	if f.Username != "" {
		req.SetBasicAuth(f.Username, f.Password)
	}

	resp, err := f.client.Do(req)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer resp.Body.Close()

	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, []byte(err.Error())
	}

	return resp.StatusCode, answer
}

// ask asks Ironic for what has to be done, also while it is busy with the node.
func (f *far) ask(t *testing.T, method, path string, body any) {
	t.Helper()

	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(300 * time.Millisecond) {
		status, answer := f.try(method, path, body)

		switch {
		case status >= 200 && status < 300:
			return
		case status != http.StatusConflict && status != 0 || time.Now().After(end):
			t.Fatalf("%s %s: %d %s", method, path, status, answer)
		}
	}
}

// node is what Ironic says of one.
type node map[string]any

func (n node) text(key string) string { s, _ := n[key].(string); return s }

// node reads a record; nil where there is none.
func (f *far) node(t *testing.T, name string) node {
	t.Helper()

	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(300 * time.Millisecond) {
		status, answer := f.try(http.MethodGet, "/nodes/"+name, nil)

		switch {
		case status == http.StatusNotFound:
			return nil
		case status == http.StatusOK:
			var n node
			if err := json.Unmarshal(answer, &n); err != nil {
				t.Fatalf("node %s: %v", name, err)
			}

			return n
		case time.Now().After(end):
			t.Fatalf("node %s: %d %s", name, status, answer)
		}
	}
}

// provision sends a verb.
func (f *far) provision(t *testing.T, id, verb string) {
	t.Helper()
	f.ask(t, http.MethodPut, "/nodes/"+id+"/states/provision", map[string]any{"target": verb})
}

// of counts the records that lead to one machine, whatever they are called.
func (f *far) of(t *testing.T, m acctest.Machine) []string {
	t.Helper()

	status, answer := f.try(http.MethodGet, "/nodes?fields=uuid,driver_info", nil)
	if status != http.StatusOK {
		t.Fatalf("nodes: %d %s", status, answer)
	}

	var list struct{ Nodes []node }
	if err := json.Unmarshal(answer, &list); err != nil {
		t.Fatal(err)
	}

	var ids []string

	for _, n := range list.Nodes {
		info, _ := n["driver_info"].(map[string]any)
		if info["redfish_system_id"] == m.SystemID {
			ids = append(ids, n.text("uuid"))
		}
	}

	return ids
}

// sweep removes what a test that failed left of its nodes, so that its
// machines are free again.
func (f *far) sweep(t *testing.T, names ...string) {
	t.Helper()
	t.Cleanup(func() {
		for _, name := range names {
			for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
				_, _ = f.try(http.MethodPut, "/nodes/"+name+"/maintenance", map[string]any{"reason": "the test is over"})
				if status, _ := f.try(http.MethodDelete, "/nodes/"+name, nil); status == http.StatusNoContent || status == http.StatusNotFound {
					break
				}
			}
		}
	})
}

// full is the name of a node.
func full(name string) string { return "metal3~" + name }

// unique is a host name from a test's own name.
func unique(t *testing.T) string {
	t.Helper()

	name := strings.ToLower(t.Name())
	name = name[strings.IndexByte(name, '_')+1:]

	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}

		return '-'
	}, name)
}
