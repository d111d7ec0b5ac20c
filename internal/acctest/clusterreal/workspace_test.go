// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusterreal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// verbLimit is how long a command may take on a loaded machine.
const verbLimit = 5 * time.Minute

// providerDir is the folder of the provider, which all tests of the run share.
var providerDir = func() func(t *testing.T) string {
	var (
		once sync.Once
		dir  string
	)

	return func(t *testing.T) string {
		t.Helper()
		once.Do(func() {
			content, err := os.ReadFile(acctest.Binary(t))
			if err != nil {
				t.Fatal(err)
			}

			made, err := os.MkdirTemp(os.Getenv("METAL3_TEST_DIR"), "provider-") //nolint:usetesting // for all tests of the run
			if err != nil {
				t.Fatal(err)
			}

			if err := os.WriteFile(filepath.Join(made, "terraform-provider-metal3"), content, 0o755); err != nil {
				t.Fatal(err)
			}

			dir = made
		})

		return dir
	}
}()

// block is the provider's configuration for an Ironic.
func block(r acctest.Real) string {
	if r.Username == "" {
		return fmt.Sprintf("provider \"metal3\" {\n  ironic = { endpoint = %q, auth = \"noauth\" }\n}\n", r.Endpoint)
	}

	return fmt.Sprintf("variable \"ironic_password\" { sensitive = true }\nprovider \"metal3\" {\n  ironic = { endpoint = %q, auth = \"http_basic\", username = %q, password = var.ironic_password, ca_cert_file = %q }\n}\n",
		r.Endpoint, r.Username, r.CAFile)
}

func newWorkspace(t *testing.T, r acctest.Real) *tfrun.Workspace {
	t.Helper()

	w := tfrun.NewOf(t, providerDir(t), block(r))
	w.Limit = verbLimit

	if r.Password != "" {
		w.Env = append(w.Env, "TF_VAR_ironic_password="+r.Password)
	}

	return w
}

// pool is hosts of fake hardware that a configuration of its own registers.
type pool struct {
	*far

	t    *testing.T
	real acctest.Real
	name string // a label of the hosts, and the beginning of their names
	w    *tfrun.Workspace
}

// newPool registers so many hosts. Those with a resource class are made available, too: they are
// allocated. A host that was never deployed rests in manageable, and is claimed by an instance_uuid
// alone, as one without a resource class is.
func newPool(t *testing.T, r acctest.Real, hosts int, class bool) *pool {
	t.Helper()

	p := &pool{t: t, real: r, name: "cr" + uuid.NewString()[:8], w: newWorkspace(t, r)}
	p.far = newFar(t, r, p.name)

	more := ""
	if class {
		more = fmt.Sprintf("resource_class = %q", p.name)
	}

	p.w.Write("main.tf", fmt.Sprintf(`
resource "metal3_baremetal_host" "pool" {
  count                   = %d
  name                    = "%s-${count.index}"
  bmc                     = { address = "fake-hardware://%s-${count.index}", username = "admin", password_wo = "password", password_wo_version = 1 }
  inspection_mode         = "disabled"
  automated_cleaning_mode = "disabled"
  labels                  = { pool = %q }
  %s
}
`, hosts, p.name, p.name, p.name, more))
	p.w.Must("apply", "-auto-approve", "-parallelism=10")

	if class {
		p.provide()
	}

	return p
}

// over ends the pool, whose hosts have to be free.
func (p *pool) over() {
	p.t.Helper()
	p.free()
	p.w.Must("destroy", "-auto-approve", "-parallelism=10")
}

// cluster is a cluster of a pool's hosts.
type cluster struct {
	*tfrun.Workspace

	pool  *pool
	name  string
	image string
	sum   string
	more  string // attributes of the cluster
}

// newCluster is the configuration of one, in a folder of its own.
func (p *pool) newCluster(name string) *cluster {
	p.t.Helper()

	c := &cluster{Workspace: newWorkspace(p.t, p.real), pool: p, name: p.name + name, image: p.real.ImageURL, sum: p.real.ImageSHA256}
	c.wants(2)

	return c
}

// wants writes a configuration of one machine of the control plane and so many workers.
func (c *cluster) wants(workers int) {
	c.T.Helper()
	c.Write("main.tf", fmt.Sprintf(`
data "metal3_data_template" "node" {
  meta_data = { ip_addresses_from_pool = [{ key = "node_ip", name = "prov" }] }
}

locals {
  image = { url = %q, checksum = %q, checksum_type = "sha256", disk_format = "raw" }
}

resource "metal3_cluster" "c" {
  name                   = %q
  control_plane_endpoint = { host = "192.0.2.249" }
  host_pool              = { selector = { match_labels = { pool = %q } } }
  ip_pools               = { prov = { ranges = [{ start = "192.0.2.100", end = "192.0.2.150" }], prefix = 24, gateway = "192.0.2.1" } }

  control_plane = {
    replicas                = 1
    image                   = local.image
    data_template           = data.metal3_data_template.node.json
    user_data_template      = "#cloud-config\nhostname: << .Machine.Name >>\n"
    automated_cleaning_mode = "disabled"
  }

  workers = {
    w = {
      replicas                = %d
      image                   = local.image
      data_template           = data.metal3_data_template.node.json
      ip_index_offset         = 10
      automated_cleaning_mode = "disabled"
      rollout                 = { strategy = "rebuild", max_unavailable = "100%%" }
    }
  }
  %s
}
`, c.image, c.sum, c.name, c.pool.name, workers, c.more))
}

// applied applies, and wants the cluster ready, an empty plan after it, and so many machines in
// state and Ironic. It returns the host of each machine.
func (c *cluster) applied(workers int) map[string]string {
	c.T.Helper()
	c.Must("apply", "-auto-approve")
	c.Empty()

	return c.is(workers)
}

// object is a cluster in the state.
type object struct {
	Status     string
	Attributes struct {
		ID       string
		Ready    bool
		Machines map[string]struct {
			HostID   string `json:"host_id"`
			ClaimID  string `json:"claim_id"`
			ImageURL string `json:"image_url"`
		}
	}
}

// known is the cluster in the state; its id is empty where there is none.
func (c *cluster) known() object {
	c.T.Helper()

	for _, o := range tfrun.Instances[json.RawMessage](c.Workspace) {
		var got object
		if err := json.Unmarshal(o, &got); err == nil && strings.HasSuffix(got.Attributes.ID, "/"+c.name) {
			return got
		}
	}

	return object{}
}

// is wants the cluster ready with so many workers, in the state and in Ironic alike.
func (c *cluster) is(workers int) map[string]string {
	c.T.Helper()

	o, hosts := c.known(), map[string]string{}
	claims := c.pool.claims(c.T.Context())

	if !o.Attributes.Ready || o.Status != "" || len(o.Attributes.Machines) != 1+workers {
		c.T.Errorf("%s: status %q, ready %t, machines %v", c.name, o.Status, o.Attributes.Ready, o.Attributes.Machines)
	}

	for machine, m := range o.Attributes.Machines {
		hosts[machine] = m.HostID

		if m.HostID == "" || claims[m.HostID] != m.ClaimID || m.ImageURL != c.image {
			c.T.Errorf("%s: host %s, claim %s, image %s; Ironic has the claim %q there", machine, m.HostID, m.ClaimID, m.ImageURL, claims[m.HostID])
		}
	}

	return hosts
}

// destroyed ends the cluster.
func (c *cluster) destroyed() {
	c.T.Helper()
	c.Must("destroy", "-auto-approve")

	if o := c.known(); o.Attributes.ID != "" {
		c.T.Errorf("the state still has %s", o.Attributes.ID)
	}
}

// background is for what has to be done when a test has ended.
func background() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Minute)
}
