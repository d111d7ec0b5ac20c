// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/agent"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/bmc"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// ramdiskSide is what an agent sees of Ironic: media, look-up, heartbeats and the call-back.
type ramdiskSide struct {
	*httptest.Server

	mu        sync.Mutex
	beats     map[string]heartbeat // the last one by node
	inventory []map[string]any
}

type heartbeat struct {
	URL   string `json:"callback_url"`
	Token string `json:"agent_token"`
	CA    string `json:"agent_verify_ca"`
}

func newRamdiskSide(t *testing.T) *ramdiskSide {
	t.Helper()

	s := &ramdiskSide{beats: map[string]heartbeat{}}
	mux := http.NewServeMux()
	// An image as Ironic makes it: the configuration of the boot loader lies in it as it is.
	medium := func(line string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("\x00CD001\x00menuentry\n linux /vmlinuz " + strings.ReplaceAll(line, "HERE", s.URL) + " --\ninitrd\x00\x00"))
		}
	}
	mux.HandleFunc("GET /deploy.iso", medium("nofb ipa-api-url=HERE ipa-agent-token=secret-1"))
	mux.HandleFunc("GET /inspect.iso", medium("ipa-inspection-callback-url=HERE/v1/continue_inspection ipa-agent-token=secret-1"))
	mux.HandleFunc("GET /pxelinux.cfg/{mac}", medium("ipa-api-url=HERE"))
	mux.HandleFunc("GET /v1/lookup", func(w http.ResponseWriter, r *http.Request) {
		mac, _, _ := strings.Cut(r.URL.Query().Get("addresses"), ",")
		_, _ = fmt.Fprintf(w, `{"node":{"uuid":%q},"config":{"agent_token":"handed-out","heartbeat_timeout":300}}`, mac)
	})
	mux.HandleFunc("POST /v1/heartbeat/{node}", func(w http.ResponseWriter, r *http.Request) {
		var b heartbeat
		_ = json.NewDecoder(r.Body).Decode(&b)

		s.mu.Lock()
		s.beats[r.PathValue("node")] = b
		s.mu.Unlock()
		w.WriteHeader(http.StatusAccepted)
	})
	mux.HandleFunc("POST /v1/continue_inspection", func(w http.ResponseWriter, r *http.Request) {
		var b map[string]any
		_ = json.NewDecoder(r.Body).Decode(&b)

		s.mu.Lock()
		s.inventory = append(s.inventory, b)
		s.mu.Unlock()
		w.WriteHeader(http.StatusAccepted)
	})

	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)

	return s
}

func (s *ramdiskSide) beat(t *testing.T, m machine.Machine) heartbeat {
	t.Helper()

	var b heartbeat

	eventually(t, "a heartbeat of "+m.Name, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()

		var ok bool
		b, ok = s.beats[m.MACs[0]]

		return ok
	})

	return b
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()

	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if f() {
			return
		}
	}

	t.Fatalf("never seen: %s", what)
}

type world struct {
	t     *testing.T
	store *store.Store
	side  *ramdiskSide
	rack  *httptest.Server
}

func newWorld(t *testing.T, machines int, st *store.Store) world {
	t.Helper()

	w := world{t: t, store: st, side: newRamdiskSide(t)}

	rack, err := agent.NewRack(st, machine.Options{Count: machines, PowerDelay: 5 * time.Millisecond, BootDelay: 5 * time.Millisecond},
		agent.Options{Netboot: w.side.URL, Heartbeat: 30 * time.Millisecond, StepDelay: 20 * time.Millisecond}, bmc.Options{})
	if err != nil {
		t.Fatal(err)
	}

	w.rack = httptest.NewServer(rack)
	t.Cleanup(func() { w.rack.Close(); rack.Close() })

	return w
}

func (w world) send(method, url, body string) (int, string) {
	w.t.Helper()

	req, err := http.NewRequestWithContext(w.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}

	req.SetBasicAuth("admin", "password")

	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()

	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}

	return resp.StatusCode, string(raw)
}

// boot presses the buttons that a conductor presses.
func (w world) boot(i int, target, medium string) {
	w.t.Helper()

	system := w.rack.URL + "/redfish/v1/Systems/" + machine.ID(i)
	order := [][3]string{
		{http.MethodPatch, system, fmt.Sprintf(`{"Boot":{"BootSourceOverrideTarget":%q,"BootSourceOverrideEnabled":"Once"}}`, target)},
		{http.MethodPost, system + "/Actions/ComputerSystem.Reset", `{"ResetType":"ForceRestart"}`},
	}

	if medium != "" {
		order = append([][3]string{{
			http.MethodPost, system + "/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia", fmt.Sprintf(`{"Image":"%s/%s"}`, w.side.URL, medium),
		}}, order...)
	}

	for _, o := range order {
		if code, text := w.send(o[0], o[1], o[2]); code != http.StatusNoContent {
			w.t.Fatalf("%s %s: %d %s", o[0], o[1], code, text)
		}
	}
}

// command orders something of an agent and waits for its end, as Ironic does: over TLS that it
// trusts by the heartbeat alone.
func (b heartbeat) command(t *testing.T, token, body string) (int, map[string]any) {
	t.Helper()

	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(b.CA)) {
		t.Fatal("the heartbeat carries no certificate")
	}

	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	do := func(method, path string, body []byte) (int, map[string]any) {
		req, err := http.NewRequestWithContext(t.Context(), method, b.URL+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}

		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()

		var answer map[string]any
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}

		return resp.StatusCode, answer
	}

	code, answer := do(http.MethodPost, "/v1/commands/?wait=false&agent_token="+token, []byte(body))
	for code == http.StatusOK && answer["command_status"] == "RUNNING" {
		time.Sleep(5 * time.Millisecond)

		id, _ := answer["id"].(string)
		code, answer = do(http.MethodGet, "/v1/commands/"+id, nil)
	}

	return code, answer
}

const writeImage = `{"name":"deploy.execute_deploy_step","params":{"step":{"step":"write_image","interface":"deploy"},` +
	`"node":{"instance_info":{"image_source":"http://images.lab/debian-12.qcow2"}}}}`

func TestRack_deploys(t *testing.T) {
	t.Parallel()

	w := newWorld(t, 2, store.New(""))
	w.boot(1, "Cd", "deploy.iso")

	b := w.side.beat(t, load(t, w.store, 1))
	if b.Token != "handed-out" {
		t.Errorf("the heartbeat carries the token %q", b.Token)
	}

	if r := load(t, w.store, 1).Running; r != machine.Agent {
		t.Errorf("the machine runs %q", r)
	}

	if code, answer := b.command(t, "stolen", writeImage); code != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d %v", code, answer)
	}

	if code, answer := b.command(t, b.Token, `{"name":"nothing"}`); code != http.StatusBadRequest {
		t.Errorf("a wrong command: %d %v", code, answer)
	}

	if _, answer := b.command(t, b.Token, writeImage); answer["command_status"] != "SUCCEEDED" {
		t.Fatalf("write_image: %v", answer)
	}

	if image := load(t, w.store, 1).Image; image != "http://images.lab/debian-12.qcow2" {
		t.Errorf("on the disk is %q", image)
	}

	b.command(t, b.Token, `{"name":"standby.power_off","params":{}}`)
	eventually(t, "power off", func() bool { return load(t, w.store, 1).Power == machine.Off })

	w.boot(1, "Hdd", "")
	eventually(t, "the deployed system", func() bool { return load(t, w.store, 1).Running == machine.Disk })

	if m := load(t, w.store, 0); m.Boots != 0 {
		t.Errorf("the other machine was booted %d times", m.Boots)
	}
}

func TestRack_boots(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		faults         machine.Faults
		target, medium string
		running        string
		event          string
	}{
		"an inspection":                    {target: "Cd", medium: "inspect.iso", running: machine.Agent, event: "inventory accepted: 202"},
		"from the network":                 {target: "Pxe", running: machine.Agent, event: "lookup: node"},
		"a silent agent":                   {faults: machine.Faults{NoAgent: true}, target: "Cd", medium: "deploy.iso", running: machine.ISO, event: "silent"},
		"a medium that is not there":       {target: "Cd", medium: "missing.iso", running: machine.ISO, event: "404 Not Found"},
		"a medium that says nothing of us": {target: "Cd", medium: "v1/lookup", running: machine.ISO, event: "runs http"},
		"a disk, which concerns no agent":  {target: "Hdd", running: machine.Nothing, event: "nothing to boot"},
		"the token is never said aloud":    {target: "Cd", medium: "deploy.iso", running: machine.Agent, event: "ipa-agent-token=***"},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, 1, store.New(""))

			faults, err := json.Marshal(c.faults)
			if err != nil {
				t.Fatal(err)
			}

			if code, text := w.send(http.MethodPut, w.rack.URL+"/sim/machines/0/faults", string(faults)); code != http.StatusOK {
				t.Fatalf("faults: %d %s", code, text)
			}

			w.boot(0, c.target, c.medium)
			eventually(t, c.event, func() bool {
				events := strings.Join(load(t, w.store, 0).Events, "\n")
				if strings.Contains(events, "secret-1") {
					t.Error("the token is in the events")
				}

				return strings.Contains(events, c.event)
			})

			if r := load(t, w.store, 0).Running; r != c.running {
				t.Errorf("runs %q, want %q", r, c.running)
			}
		})
	}
}

func TestRack_failingSteps(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"write_image", "execute_deploy_step", "deploy.execute_deploy_step", "deploy.execute_deploy_step:write_image"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, 1, store.New(""))
			w.send(http.MethodPut, w.rack.URL+"/sim/machines/0/faults", fmt.Sprintf(`{"fail_steps":{%q:"disk is frozen"}}`, name))
			w.boot(0, "Cd", "deploy.iso")

			_, answer := w.side.beat(t, load(t, w.store, 0)).command(t, "handed-out", writeImage)
			if answer["command_status"] != "FAILED" || !strings.Contains(fmt.Sprint(answer["command_error"]), "disk is frozen") {
				t.Errorf("the command ended as %v", answer)
			}

			if image := load(t, w.store, 0).Image; image != "" {
				t.Errorf("on the disk is %q", image)
			}
		})
	}
}

// TestRack_isRestarted: what should run an agent does so again under the next process.
func TestRack_isRestarted(t *testing.T) {
	t.Parallel()

	path := t.TempDir() + "/lab.db"
	side := newRamdiskSide(t)

	start := func() (*agent.Rack, world) {
		st := store.New(path)

		rack, err := agent.NewRack(st, machine.Options{Count: 1}, agent.Options{Heartbeat: 20 * time.Millisecond}, bmc.Options{})
		if err != nil {
			t.Fatal(err)
		}

		srv := httptest.NewServer(rack)
		t.Cleanup(srv.Close)

		return rack, world{t: t, store: st, side: side, rack: srv}
	}

	rack, w := start()
	w.boot(0, "Cd", "deploy.iso")
	first := side.beat(t, load(t, w.store, 0))
	rack.Close()

	rack, w = start()
	defer rack.Close()

	eventually(t, "an agent at another place", func() bool { return side.beat(t, load(t, w.store, 0)).URL != first.URL })
}

// TestRack_manyMachines is what a run of many hosts does to us, all of it at once.
func TestRack_manyMachines(t *testing.T) {
	t.Parallel()

	const machines = 60

	w := newWorld(t, machines, store.New(""))

	var wg sync.WaitGroup
	for i := range machines {
		wg.Go(func() { w.boot(i, "Cd", "deploy.iso") })
	}

	wg.Wait()

	for i := range machines {
		b := w.side.beat(t, load(t, w.store, i))
		if i%10 != 0 {
			continue
		}

		if _, answer := b.command(t, b.Token, writeImage); answer["command_status"] != "SUCCEEDED" {
			t.Errorf("machine %d: %v", i, answer)
		}
	}

	code, text := w.send(http.MethodGet, w.rack.URL+"/sim/machines", "")

	var all []struct {
		Name  string
		Agent struct{ Heartbeats int }
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil || code != http.StatusOK || len(all) != machines {
		t.Fatalf("%d machines, %d, %v", len(all), code, err)
	}

	for _, m := range all {
		if m.Agent.Heartbeats == 0 {
			t.Errorf("%s shows no agent", m.Name)
		}
	}
}

func TestControl(t *testing.T) {
	t.Parallel()

	w := newWorld(t, 2, store.New(""))

	cases := map[string]struct {
		method, path, body string
		code               int
	}{
		"one machine":                 {http.MethodGet, "/1", "", http.StatusOK},
		"a machine that is not":       {http.MethodGet, "/2", "", http.StatusNotFound},
		"no number":                   {http.MethodGet, "/x", "", http.StatusNotFound},
		"faults that are no object":   {http.MethodPut, "/1/faults", "[]", http.StatusBadRequest},
		"a fault with a typing error": {http.MethodPut, "/1/faults", `{"fail_powr":true}`, http.StatusBadRequest},
		"its faults":                  {http.MethodGet, "/1/faults", "", http.StatusOK},
		"the power button":            {http.MethodPut, "/1/power", `{"state":"On","boot":"Pxe"}`, http.StatusOK},
	}

	for name, c := range cases {
		code, text := w.send(c.method, w.rack.URL+"/sim/machines"+c.path, c.body)
		if code != c.code {
			t.Errorf("%s: %d %s, want %d", name, code, text, c.code)
		}

		if strings.Contains(text, `"password"`) {
			t.Errorf("%s: the password is in %s", name, text)
		}
	}

	if p := load(t, w.store, 1).Power; p != machine.On {
		t.Errorf("the button left the power %s", p)
	}
}

func TestParams(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		image string
		want  map[string]string
	}{
		"nothing of ours":           {image: "\x00linux /vmlinuz quiet\n"},
		"a quoted value":            {image: "kernel ipa-api-url=http://a x=\"b c\" y=d", want: map[string]string{"ipa-api-url": "http://a", "x": "b c", "y": "d"}},
		"only its own line":         {image: "a=1\nipa-api-url=http://a b=2\nc=3", want: map[string]string{"ipa-api-url": "http://a", "b": "2"}},
		"up to the end of the file": {image: "x ipa-inspection-callback-url=http://a\x00b=2", want: map[string]string{"ipa-inspection-callback-url": "http://a"}},
		"an empty value":            {image: "ipa-api-url= z=1", want: map[string]string{"ipa-api-url": "", "z": "1"}},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := agent.Params([]byte(c.image)); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
