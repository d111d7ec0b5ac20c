// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"context"
	"flag"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

const (
	theGPU = "metal3_composable_gpu"

	a100 = "A100"
	l40s = "L40S"

	// How long the lab's fabric takes, where a test does not say otherwise.
	addTime, removeTime = 10 * time.Second, 5 * time.Second
)

// setup is what a test has: a manager of a kind, and what is special about it.
type setup struct {
	kind kind // zero: FM
	lab  lab.Options
	tune func(*face.Tuning)
	// fabric is merged into the fabric block.
	fabric Map

	// strange tests leave devices on the fabric that no state knows, on purpose.
	strange bool
	// apart tests are several runs at a time, which do not know of each other.
	apart bool
	// rough tests take devices away while a system uses them, on purpose.
	rough bool
}

// TestMain lets garbage lie longer: hundreds of providers start here, and each makes a lot.
func TestMain(m *testing.M) {
	flag.Parse()
	chooseKinds()
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// world is a lab with one resource on it.
type world struct {
	*acctest.Core

	t     *testing.T
	ctx   context.Context //nolint:containedctx // of one test
	lab   acctest.Lab
	far   *labfabric.Service
	setup setup
	said  *record
	cores *[]*acctest.Core
	// journal is the directory of the fabric journal.
	journal string
}

// inLab runs a test in virtual time on a lab of its own. Whatever it is about, in the end no
// two orders overlapped, state and fabric agree, no system lost a device in use, and no secret
// is in anything that came out.
func inLab(t *testing.T, s setup, test func(w world)) {
	t.Helper()
	acctest.OneIn(t, 4)

	synctest.Test(t, func(t *testing.T) {
		if s.kind.name == "" {
			s.kind = fm
		}

		if s.lab.Machines == 0 {
			s.lab.Machines = 3
		}

		s.lab.Fabric.AddTime, s.lab.Fabric.RemoveTime = or(s.lab.Fabric.AddTime, addTime), or(s.lab.Fabric.RemoveTime, removeTime)

		l := acctest.NewLab(t, s.lab)
		l.Fabric.KeepRequests()

		for _, tune := range []func(*face.Tuning){s.kind.tune, s.tune} {
			if tune != nil {
				l.Fabric.Tune(tune)
			}
		}

		w := world{t: t, lab: l, far: l.Fabric, setup: s, said: &record{}, cores: &[]*acctest.Core{}, journal: t.TempDir()}
		w.ctx = tflogtest.RootLogger(t.Context(), w.said)
		w.Core = w.core()

		// The lab makes its devices when somebody first dials it.
		if conn, err := l.Dial(w.ctx, "tcp", labfabric.Host+":80"); err == nil {
			_ = conn.Close()
		}

		test(w)
		w.sound()
	})
}

func or(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}

	return d
}

// core is one more resource of this configuration, or the same one as another process sees it.
func (w world) core() *acctest.Core {
	w.t.Helper()

	c := w.lab.Core(w.t, theGPU)
	c.Provider = Map{"fabric": w.block(), "ssh": Map{"private_key": w.lab.SSHKey()}}
	*w.cores = append(*w.cores, c)

	return c
}

// another is this world with another resource in the place of the first.
func (w world) another() world {
	w.t.Helper()
	w.Core = w.core()

	return w
}

// forgotten says that the state of this resource was lost: nobody has to agree with it.
func (w world) forgotten() {
	*w.cores = slices.DeleteFunc(*w.cores, func(c *acctest.Core) bool { return c == w.Core })
}

// block is the provider's fabric block.
func (w world) block() Map {
	b := Map{
		"type": w.setup.kind.driver, "endpoint": lab.FabricEndpoint, "allow_plain_http": true, "journal_dir": w.journal,
		"auth": Map{
			"realm": labfabric.Realm, "client_id": labfabric.ClientID, "client_secret": labfabric.ClientSecret,
			"username": labfabric.Username, "password": labfabric.Password,
		},
	}

	if w.setup.kind.tenant {
		b["tenant_id"], b["cluster_id"] = labfabric.Tenant, labfabric.Cluster
	}

	for k, v := range w.setup.fabric {
		b[k] = v
	}

	return b
}

// Apply is terraform apply.
func (w world) Apply(ctx context.Context, config Map) acctest.Outcome {
	w.t.Helper()

	return w.hear(w.Core.Apply(ctx, config))
}

// Plan is terraform plan.
func (w world) Plan(ctx context.Context, config Map) acctest.Outcome {
	w.t.Helper()

	return w.hear(w.Core.Plan(ctx, config))
}

// Refresh is terraform refresh.
func (w world) Refresh(ctx context.Context) acctest.Outcome {
	w.t.Helper()

	return w.hear(w.Core.Refresh(ctx))
}

// Import is terraform import.
func (w world) Import(ctx context.Context, id string) acctest.Outcome {
	w.t.Helper()

	return w.hear(w.Core.Import(ctx, id))
}

// hear keeps what was said and shown, and takes the warning away that is the lab's fault.
func (w world) hear(o acctest.Outcome) acctest.Outcome {
	var kept []string

	for line := range strings.SplitSeq(o.Warnings, "\n") {
		if !strings.Contains(line, "talked to without TLS") {
			kept = append(kept, line)
		}
	}

	o.Warnings = strings.Join(kept, "\n")
	w.said.add(o.Errors, o.Warnings, w.Dump())

	return o
}

// apply wants an apply without errors, and an empty plan after it.
func (w world) apply(config Map) acctest.Outcome {
	w.t.Helper()

	o := w.Apply(w.ctx, config)
	if o.Errors != "" {
		w.t.Fatalf("apply: %s", o.Errors)
	}

	w.empty(config)

	return o
}

// empty wants a plan that changes nothing.
func (w world) empty(config Map) {
	w.t.Helper()

	if p := w.Plan(w.ctx, config); p.Action != "" || p.Errors != "" {
		w.t.Errorf("the plan is %q, changes %v: %s", p.Action, p.Changed, p.Errors)
	}
}

// fails wants an apply with an error that has these words.
func (w world) fails(config Map, words ...string) acctest.Outcome {
	w.t.Helper()

	o := w.Apply(w.ctx, config)
	if o.Errors == "" {
		w.t.Fatalf("no error; warnings: %s", o.Warnings)
	}

	for _, word := range words {
		if !strings.Contains(o.Errors, word) {
			w.t.Errorf("the error lacks %q: %s", word, o.Errors)
		}
	}

	return o
}

// destroy wants a destroy without errors that leaves nothing.
func (w world) destroy() {
	w.t.Helper()

	o := w.Apply(w.ctx, nil)
	if o.Errors != "" || w.Exists() {
		w.t.Fatalf("destroy: %s; left: %v", o.Errors, w.State())
	}
}

// devices are the fabric ids in the state, in order.
func (w world) devices() []string { return attribute(w.Core, "fabric_device_id") }

// first reads an attribute of the first device in the state.
func (w world) first(name string) string {
	all := attribute(w.Core, name)
	if len(all) == 0 {
		return "no device"
	}

	return all[0]
}

// attribute is one attribute of all devices of a resource; null is empty.
func attribute(c *acctest.Core, name string) []string {
	out := []string{}

	all, _ := c.Get("devices").([]any)
	for _, d := range all {
		one, _ := d.(Map)
		s, _ := one[name].(string)
		out = append(out, s)
	}

	return out
}

// on are the devices of a machine, in whatever phase.
func (w world) on(i int) []hardware.Device {
	w.t.Helper()

	all, err := w.far.On(machine.Name(i))
	if err != nil {
		w.t.Fatal(err)
	}

	return all
}

// count wants that many devices of ours on the first machine, and in the state.
func (w world) count(want int) {
	w.t.Helper()

	if here, known := len(w.on(0)), len(w.devices()); here != want || known != want {
		w.t.Errorf("%d on the machine, %d in the state, want %d", here, known, want)
	}
}

// orders counts the requests to attach or detach that came, whatever they were answered.
func (w world) orders() int {
	n := 0

	for _, r := range w.far.Requests() {
		if r.Mutates() && !strings.HasSuffix(r.Path, "/Sessions") && !strings.Contains(r.Path, "/Sessions/") {
			n++
		}
	}

	return n
}
