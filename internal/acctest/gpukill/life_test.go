// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpukill_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
)

// gpuPause is how long the fabric takes where the host is what counts.
const gpuPause = 200 * time.Millisecond

// TestSSHD_aWholeLife has GPUs come and go on a host behind a real sshd, by a user who needs
// sudo: seen, used, held, drained, removed.
func TestSSHD_aWholeLife(t *testing.T) {
	t.Parallel()
	long(t)

	f := newFar(t, gpuPause)
	h := newHost(t, f)
	w := newWorkspace(t, f, "fti_fm")
	root := h.open()

	w.train(h, 2, "")

	said := w.apply()
	if !strings.Contains(said, "nvidia-persistenced is enabled") {
		t.Errorf("no warning of the service: %s", said)
	}

	w.shown(h, 2)
	w.Empty()

	if got := h.deviceFiles(root); got != "nvidia0 nvidia1" {
		t.Errorf("device files %q", got)
	}

	// One more, which the kernel sees only when it is told to look.
	h.shows(false)
	w.train(h, 3, "")
	w.apply()
	w.shown(h, 3)
	h.shows(true)

	if h.scans() == 0 {
		t.Error("nobody told the kernel to look")
	}

	// The one that somebody computes on stays, although it is the oldest.
	oldest := w.state()[gpuHost].Attributes.Devices[0]
	h.put("apps", oldest.DeviceID+", python3\n")
	h.put("gpu/"+oldest.BusID+"/persistence", "")
	w.train(h, 2, "")
	w.apply()
	w.shown(h, 2)

	if got := w.state()[gpuHost].Attributes.Devices[0]; got != oldest || !h.has("gpu/"+oldest.BusID+"/persistence") || !h.has("persistenced") {
		t.Errorf("the oldest is %+v, was %+v; or what serves it is off", got, oldest)
	}

	// And is not taken away by force.
	w.train(h, 0, "")
	w.Fails([]string{"in use", "python3", oldest.DeviceID, "force_detach"}, "apply", "-auto-approve")
	w.shown(h, 1)

	// Nor is one that a process merely holds, whatever nvidia-smi says.
	h.put("apps", "")

	release := h.hold(root, "/dev/nvidia"+h.get("gpu/"+oldest.BusID+"/minor"))
	said = w.Fails([]string{"in use", "sleep", "force_detach"}, "destroy", "-auto-approve")
	w.untouched(h, oldest.BusID, said)
	release()

	w.Must("destroy", "-auto-approve")
	w.shown(h, 0)

	if got := h.deviceFiles(root); got != "" {
		t.Errorf("device files %q are left", got)
	}
}

// shown wants so many devices on the host, all of them in the state, with the host's ids.
func (w *workspace) shown(h *host, want int) {
	w.T.Helper()

	all, err := w.far.On(gpuHost)
	if err != nil {
		w.T.Fatal(err)
	}

	state := w.state()[gpuHost].Attributes.Devices
	if len(all) != want || len(state) != want || len(h.bus()) != want {
		w.T.Errorf("the fabric has %d, the state %d, the kernel %d devices; wanted are %d", len(all), len(state), len(h.bus()), want)
	}

	for _, d := range state {
		if !slices.ContainsFunc(all, func(o hardware.Device) bool { return o.ID == d.ID && o.Serial == d.DeviceID && o.Slot == d.BusID }) || d.State != "Online" {
			w.T.Errorf("%+v is not what the host has", d)
		}

		if h.has("gpu/" + d.BusID + "/draining") {
			w.T.Errorf("%s drains", d.DeviceID)
		}
	}
}

// untouched wants a GPU whose release was refused to be as it was.
func (w *workspace) untouched(h *host, bus, said string) {
	w.T.Helper()
	w.shown(h, 1)

	if !h.has("gpu/"+bus+"/persistence") || !h.has("persistenced") {
		w.T.Errorf("persistence mode or the service is off: %s", said)
	}

	if n := w.far.effects(hardware.KindDetach); n != 2 {
		w.T.Errorf("the fabric was told to take %d devices", n)
	}
}

// hold makes a process on the host hold a file until it is told to end.
func (h *host) hold(c remote.Host, file string) (release func()) {
	h.t.Helper()

	ctx, cancel := context.WithCancel(h.t.Context())
	ended := make(chan struct{})

	go func() {
		defer close(ended)

		_, _ = c.Run(ctx, remote.Command{Script: "exec 9<\"$1\"; echo held >>\"$2\"; exec sleep 300", Params: []string{file, h.dir + "/calls"}, Limit: time.Hour})
	}()

	for range 500 {
		if strings.Contains(h.get("calls"), "held") {
			break
		}

		time.Sleep(20 * time.Millisecond)
	}

	return func() {
		cancel()
		<-ended
	}
}

// TestSSHD_hostsThatGetNothing: whatever is wrong with a host is found out before a device is
// attached to it, and said in words that help.
func TestSSHD_hostsThatGetNothing(t *testing.T) {
	t.Parallel()
	long(t)

	f := newFar(t, gpuPause)
	h := newHost(t, f)
	strangerKey, strangerPublic := newKey(t)
	bare := newHost(t, f)

	if _, err := bare.open().Run(t.Context(), remote.Command{Args: []string{"rm", "/usr/local/bin/nvidia-smi"}}); err != nil {
		t.Fatal(err)
	}

	node := func(user, more string, port int, key, hostKey string) string {
		return fmt.Sprintf("user = %q, port = %d, private_key_file = %q, host_key = %q%s", user, port, key, hostKey, more)
	}

	for name, c := range map[string]struct {
		node  string
		words []string
	}{
		"no driver": {node("root", "", bare.port, bare.key, bare.hostKey), []string{
			"the host has no NVIDIA driver", `driver_check = "skip"`,
		}},
		"nobody listens": {node("root", "", acctest.FreePort(t, "127.0.0.1"), h.key, h.hostKey), []string{"the host cannot be reached", "connection refused"}},
		"another host answers": {node("root", "", h.port, h.key, strangerPublic), []string{
			"host key not as expected", "if the host was installed anew, give the new host_key or correct known_hosts_file",
		}},
		"the key is refused": {node("root", "", h.port, h.file("stranger", strangerKey, 0o600), h.hostKey), []string{
			"login refused", "check user, key and agent of the connection",
		}},
		"sudo is refused": {node(plain, ", sudo = true", h.port, h.key, h.hostKey), []string{
			"sudo asks for a password", "log in as root",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorkspace(t, f, "fti_fm")
			w.train(h, 1, c.node)

			said := w.Fails(append(c.words, `step "check the driver on" failed on `+gpuHost, "Nothing was attached.",
				"nothing is in the state; apply again when the cause is removed"), "apply", "-auto-approve")

			if strings.Contains(said, "PRIVATE KEY") {
				t.Errorf("a secret in: %s", said)
			}

			if len(w.state()) > 0 || len(w.open()) > 0 {
				t.Errorf("state %v, journal %v", w.state(), w.open())
			}
		})
	}

	t.Cleanup(func() {
		if n := f.effects(hardware.KindAttach); n != 0 {
			t.Errorf("%d devices were attached", n)
		}
	})
}

// TestSSHD_cutShort ends provider and host in the middle of what is done on the host.
func TestSSHD_cutShort(t *testing.T) {
	t.Parallel()
	long(t)

	f := newFar(t, gpuPause)
	h := newHost(t, f)
	w := newWorkspace(t, f, "fti_fm")

	// The fabric has attached the first device, and the host does not show it yet.
	h.shows(false)
	w.train(h, 2, "")

	r := w.Start("apply", "-auto-approve")
	if !r.Cut(strikes[0], tfrun.Cut{Look: look, Later: 500 * time.Millisecond, Ready: func() bool {
		all, err := f.On(gpuHost)

		return err == nil && len(all) == 1 && all[0].Present()
	}}) {
		t.Fatalf("the apply was not cut short: %s", r.Out)
	}

	h.shows(true)

	if said := w.apply(); !strings.Contains(said, "an earlier run that did not finish") {
		t.Errorf("nothing was taken over: %s", said)
	}

	w.shown(h, 2)
	w.Empty()

	if n := f.effects(hardware.KindAttach); n != 2 {
		t.Errorf("%d devices were attached for 2", n)
	}

	// The host is told to remove a GPU, which it does not do at once.
	h.put("hang", "")
	w.train(h, 1, "")

	r = w.Start("apply", "-auto-approve")
	if !r.Cut(strikes[0], tfrun.Cut{Ready: func() bool { return strings.Contains(h.get("calls"), " -r") }, Look: look, Later: 300 * time.Millisecond}) {
		t.Fatalf("the apply was not cut short: %s", r.Out)
	}

	if n := f.effects(hardware.KindDetach); n != 0 {
		t.Errorf("the fabric was told to take %d devices which their host still had", n)
	}

	h.rm("hang")
	w.apply()
	w.shown(h, 1)
	w.Empty()

	// A host that merely does not answer keeps its device.
	h.stop()
	w.Fails([]string{"cannot be reached", "skip_drain"}, "destroy", "-auto-approve")
	h.start()
	w.shown(h, 1)

	w.Must("destroy", "-auto-approve")
	w.shown(h, 0)
}
