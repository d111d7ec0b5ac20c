// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// echo answers every request with one of two documents: what is fuzzed, and a service root
// that leads to it.
type echo struct {
	root, doc []byte
	status    int
}

// RoundTrip implements http.RoundTripper.
func (e echo) RoundTrip(r *http.Request) (*http.Response, error) {
	a := &http.Response{StatusCode: e.status, Header: http.Header{"Location": {"/x?y"}}, Request: r, Body: io.NopCloser(bytes.NewReader(e.doc))}
	if strings.TrimSuffix(r.URL.Path, "/") == rootPath {
		a.StatusCode, a.Body = http.StatusOK, io.NopCloser(bytes.NewReader(e.root))
	}

	return a, nil
}

func FuzzService(f *testing.F) {
	blocks := `{"RedfishVersion":"1","Systems":{"@odata.id":"/s"},"ResourceBlocks":{"@odata.id":"/b"}}`
	zones := `{"RedfishVersion":"1","Systems":{"@odata.id":"/s"},"Fabrics":{"@odata.id":"/f"}}`

	for _, root := range []string{blocks, zones, `{}`} {
		for _, doc := range []string{
			`{"Members":[{"@odata.id":"/m"}],"Members@odata.count":1,"Id":"m","UUID":"u","Links":{"ResourceBlocks":[{"@odata.id":"/m"}],"Zones":[],"Endpoints":[{"@odata.id":"/m"}]},"ProcessorType":"GPU","Processors":[{"@odata.id":"/m"}],"CompositionStatus":{"CompositionState":"Unused"},"Zones":{"@odata.id":"/z"},"Endpoints":{"@odata.id":"/e"},"ConnectedEntities":[{"EntityLink":{"@odata.id":"/m"}}]}`,
			`{"Members":[],"Members@odata.nextLink":"/p?$skip=1"}`, `{"Members":null}`, `{"Links":"x"}`, `[]`, `{"TaskState":"Exception","Messages":[{"Message":1}]}`,
		} {
			f.Add([]byte(root), []byte(doc), "/m")
		}
	}

	f.Fuzz(func(t *testing.T, root, doc []byte, id string) {
		d, err := New(fabric.Config{Endpoint: "fabric.example", Transport: echo{root, doc, http.StatusOK}})
		if err != nil {
			t.Fatal(err)
		}

		if m, err := d.Machine(t.Context(), id); err == nil && m.ID == "" {
			t.Fatalf("a machine without an id: %+v", m)
		}

		if free, err := d.Free(t.Context(), "", "", ""); err == nil && free.Count != len(free.Devices) {
			t.Fatalf("%+v", free)
		}

		_, _ = d.Machines(t.Context())
		_, _ = d.Attach(t.Context(), id, fabric.Want{Device: fabric.Device{FabricID: id}})
		_, _ = d.Detach(t.Context(), id, fabric.Device{FabricID: id})
		_ = d.LockKey(id)

		for _, status := range []int{http.StatusOK, http.StatusAccepted} {
			if got := taskOf(id, status, doc); got.ID != id {
				t.Fatalf("%+v", got)
			}
		}
	})
}
