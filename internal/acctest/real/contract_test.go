// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// The contract configuration names two systems of a BMC. As it must work as it
// stands, the machines of this run are shown to Ironic under those names.
const (
	contractA = "6d6f636b-0000-4000-8000-000000000001"
	contractB = "6d6f636b-0000-4000-8000-000000000002"
)

// renamed is a BMC with the machines a and b under the names of the contract.
func renamed(t *testing.T, base string, a, b acctest.Machine) string {
	t.Helper()

	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}

	id := func(m acctest.Machine) string { return m.SystemID[strings.LastIndexByte(m.SystemID, '/')+1:] }
	in := strings.NewReplacer(contractA, id(a), contractB, id(b))
	out := strings.NewReplacer(id(a), contractA, id(b), contractB)

	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.URL.Path, r.Out.URL.RawPath = in.Replace(r.In.URL.Path), ""
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(r *http.Response) error {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}

			_ = r.Body.Close()
			body = []byte(out.Replace(string(body)))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.Header.Del("Content-Length")

			if to := r.Header.Get("Location"); to != "" {
				r.Header.Set("Location", out.Replace(to))
			}

			return nil
		},
	}

	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)

	return server.URL
}

// contract is the contract's configuration in a workspace, with the two
// changes that a test makes to it.
type contract struct {
	*workspace
	far  *far
	a, b acctest.Machine
	text string
}

func newContract(t *testing.T, r acctest.Real) *contract {
	t.Helper()

	content, err := os.ReadFile("testdata/host-ironic.tf")
	if err != nil {
		t.Fatal(err)
	}

	c := &contract{workspace: newWorkspace(t, r), far: farSide(t, r), a: r.Machine(t), b: r.Machine(t), text: string(content)}
	c.far.sweep(t, full("real-a"), full("real-b"))
	c.set("TF_VAR_ironic", r.Endpoint)
	c.set("TF_VAR_bmc", renamed(t, r.BMC, c.a, c.b))
	c.set("TF_VAR_image_url", r.ImageURL)
	c.set("TF_VAR_image_sha256", r.ImageSHA256)

	if err := os.Remove(c.dir + "/provider.tf"); err != nil { // it has a provider block of its own
		t.Fatal(err)
	}

	c.change(t)

	return c
}

// change writes the configuration with pairs of old and new text.
func (c *contract) change(t *testing.T, pairs ...string) {
	t.Helper()

	for i := 0; i+1 < len(pairs); i += 2 {
		if !strings.Contains(c.text, pairs[i]) {
			t.Fatalf("the configuration has no %q", pairs[i])
		}
	}

	c.text = strings.NewReplacer(pairs...).Replace(c.text)
	c.write(t, "main.tf", c.text)
}

func (c *contract) both(t *testing.T, state string) {
	t.Helper()

	for _, name := range []string{"real-a", "real-b"} {
		n := c.far.node(t, full(name))
		if n == nil || stateOf(n) != state {
			t.Fatalf("%s: %v", name, n)
		}

		if c.state(t)[name].Attributes["id"] != n.text("uuid") {
			t.Errorf("%s: the state has another id", name)
		}
	}
}

func (c *contract) over(t *testing.T) {
	t.Helper()
	c.destroy(t)

	for _, name := range []string{"real-a", "real-b"} {
		if n := c.far.node(t, full(name)); n != nil {
			t.Errorf("%s is still there: %v", name, n)
		}
	}

	for _, m := range []acctest.Machine{c.a, c.b} {
		if v := m.View(t); v["power"] != "Off" || v["image"] != "" {
			t.Errorf("machine %d is %v with image %v", m.Index, v["power"], v["image"])
		}
	}
}

// lives is the contract's life: apply, an empty plan, changes with an empty plan after each, destroy.
func (c *contract) lives(t *testing.T, r acctest.Real) {
	t.Helper()
	c.apply(t)
	c.both(t, "active")
	c.empty(t)

	c.change(t, `meta_data    = { rack = "r1" }`, "meta_data    = { rack = \"r2\" }\n  labels       = { rack = \"r2\" }\n  description  = \"second\"")
	c.apply(t)
	c.empty(t)

	before := resets(t, c.a)

	url, sum := r.Image(t, "contract-2.raw")
	c.set("TF_VAR_image_url", url)
	c.set("TF_VAR_image_sha256", sum)
	c.plans(t, "Disk of host real-a will be overwritten", "Disk of host real-b will be overwritten")
	c.apply(t)
	c.both(t, "active")
	c.empty(t)

	if got := c.a.View(t)["image"]; got != url {
		t.Errorf("the machine runs %v, not %s", got, url)
	}

	if resets(t, c.a) == before {
		t.Error("the machine was not reset")
	}

	c.over(t)
}

func TestReal_hostIronicContract(t *testing.T) {
	t.Parallel()

	r := acctest.Ironic(t)
	newContract(t, r).lives(t, r)
}

func TestReal_hostIronicContractWithPasswordAndTLS(t *testing.T) {
	t.Parallel()

	r := acctest.IronicBasic(t)
	c := newContract(t, r)
	c.set("TF_VAR_ironic_password", r.Password)
	c.change(t, `ironic = { endpoint = var.ironic, auth = "noauth" }`,
		`ironic = { endpoint = var.ironic, auth = "http_basic", username = "`+r.Username+`", password = var.ironic_password, ca_cert_file = "`+r.CAFile+`" }`,
		`variable "image_url" {}`, "variable \"image_url\" {}\nvariable \"ironic_password\" { sensitive = true }")
	c.lives(t, r)
}
