// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// TestGPU_secrets has something to hide, and something to say: that the search of every other
// test finds what it looks for is shown here.
func TestGPU_secrets(t *testing.T) {
	t.Parallel()

	for _, k := range kinds {
		t.Run("11.29 no secret comes out, "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				w.apply(gpus(1, nodes(0)))
				w.far.Inject(labfabric.Fault{Match: k.attach, Times: -1, Status: 500, Body: "broken"})
				w.fails(gpus(2, nodes(0)), "500")
				w.far.Inject(labfabric.Fault{Times: -1, DropBefore: true})
				w.Refresh(w.ctx)
				w.far.Heal()
				w.killed(gpus(1, on(1)), 1, false) // leaves an order in the journal

				found := w.secrets()
				if k.tenant && len(found) < 5 || len(found) < 3 {
					t.Errorf("only %d secrets were used", len(found))
				}

				all := w.outputs()
				if logs := all["logs, diagnostics or state"]; !strings.Contains(logs, `"@level":"trace"`) || !strings.Contains(logs, "request to the fabric manager") {
					t.Errorf("nothing was logged: %d bytes", len(logs))
				}

				if n := w.written(); n != 1 {
					t.Errorf("%d orders in the journal", n)
				}

				if o := w.another().Apply(w.ctx, gpus(1, on(1))); o.Errors != "" {
					t.Errorf("%s", o.Errors)
				}
			})
		})
	}

	t.Run("11.29 the user's own key for a host is in the state alone, as a sensitive attribute", func(t *testing.T) {
		t.Parallel()

		inLab(t, setup{}, func(w world) {
			const secret = "a-password-of-the-user"

			w.apply(gpus(1, Map{"hosts": []any{Map{"machine_id": hostID(0), "node": Map{"host": "node-0.lab", "password": secret}}}}))

			if strings.Contains(w.said.logs(), secret) {
				t.Error("the password of the host is in the logs")
			}

			s := providertest.NewServer(w.t, w.Options...).Schema().ResourceSchemas[theGPU]
			for _, name := range []string{"private_key", "password"} {
				if a := nested(s.Block.Attributes, "hosts", "node", name); a == nil || !a.Sensitive {
					t.Errorf("hosts.node.%s is not sensitive", name)
				}
			}
		})
	})
}

// nested finds an attribute by its path.
func nested(all []*tfprotov6.SchemaAttribute, path ...string) *tfprotov6.SchemaAttribute {
	for _, a := range all {
		if a.Name != path[0] {
			continue
		}

		if len(path) == 1 {
			return a
		}

		return nested(a.NestedType.Attributes, path[1:]...)
	}

	return nil
}

// written counts the orders in the journal.
func (w world) written() int {
	all, err := filepath.Glob(filepath.Join(w.journal, "*.json"))
	if err != nil {
		w.t.Fatal(err)
	}

	for _, path := range all {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			w.t.Errorf("%s: %v: others can read it", path, err)
		}
	}

	return len(all)
}

// TestOGPU14_endpoints spells the address of the manager in many ways.
func TestOGPU14_endpoints(t *testing.T) {
	t.Parallel()

	for endpoint, works := range map[string]bool{
		"http://fabric.lab": true, "http://fabric.lab/": true, " http://fabric.lab ": true, "http://fabric.lab:80/": true, "http://fabric.lab:80//": false, "HTTP://FABRIC.LAB": true,
		"fabric.lab": false, "https://fabric.lab": false, "http://user:word@fabric.lab": false, "http://fabric.lab/cdi": false, "ftp://fabric.lab": false,
		"http://": false, "http://fabric.lab?x=1": false,
	} {
		t.Run("O-GPU-14 "+endpoint, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{fabric: Map{"endpoint": endpoint}}, func(w world) {
				o := w.Apply(w.ctx, gpus(1))
				if (o.Errors == "") != works || w.Exists() != works {
					t.Errorf("%s; state %v", o.Errors, w.State())
				}

				if strings.Contains(o.Errors, "user:word") || strings.Contains(w.said.all(), "user:word") {
					t.Errorf("the user info is in %s", o.Errors)
				}

				for _, r := range w.far.Requests() {
					if strings.Contains(r.Path, "//") {
						t.Errorf("%s %s", r.Method, r.Path)
					}
				}
			})
		})
	}

	t.Run("O-GPU-14 plain HTTP only where it is allowed", func(t *testing.T) {
		t.Parallel()

		inLab(t, setup{fabric: Map{"allow_plain_http": false}}, func(w world) {
			w.fails(gpus(1), "allow_plain_http")

			if n := len(w.far.Requests()); n != 0 {
				t.Errorf("%d requests", n)
			}
		})
	})
}

// TestOGPU13_sizes has sizes at the edge.
func TestOGPU13_sizes(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		size, left int
		says       string
	}{
		"11.2 none":     {0, 0, ""},
		"11.2 negative": {-1, 0, "at least 0"},
	} {
		t.Run("O-GPU-13 "+name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{}, func(w world) {
				if c.says != "" {
					w.fails(gpus(c.size), c.says)

					if n := len(w.far.Requests()); n != 0 {
						t.Errorf("%d requests", n)
					}

					return
				}

				w.apply(gpus(c.size))
				w.apply(gpus(c.size, Map{"force_detach": true}))
				w.destroy()

				if n := w.orders(); n != 0 {
					t.Errorf("%d orders", n)
				}
			})
		})
	}

	for _, k := range kinds {
		t.Run("O-GPU-13 the third of three fails, and the next apply attaches it, "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				w.apply(gpus(2))
				w.far.Inject(labfabric.Fault{Match: k.attach, Status: 400, Times: -1, Body: `{"status":400,"detail":{"code":"E1","message":"no port"},"code":"E1","message":"no port"}`})
				w.fails(gpus(3), "400")
				w.count(2)

				if w.Tainted || w.Get("size") != int64(2) || w.Get("state") != "Degraded" {
					t.Errorf("state %v", w.State())
				}

				w.far.Heal()
				w.apply(gpus(3))
				w.count(3)
			})
		})
	}
}
