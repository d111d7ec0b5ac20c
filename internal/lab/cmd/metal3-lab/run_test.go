// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
)

// start runs the command until the end of the test, or until stop is called.
func start(t *testing.T, args ...string) (at addresses, stop func()) {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	up, ended := make(chan addresses, 1), make(chan error, 1)

	go func() {
		ended <- run(ctx, args, slog.New(slog.DiscardHandler), func(at addresses) { up <- at })
	}()

	stop = func() {
		cancel()

		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}

		ended <- nil // a second stop finds it ended
	}

	select {
	case at = <-up:
	case err := <-ended:
		t.Fatalf("it did not start: %v", err)
	case <-time.After(10 * time.Second):
		t.Fatal("it did not start")
	}

	t.Cleanup(stop)

	return at, stop
}

func ask(t *testing.T, method, url, body string, header ...string) (int, string) {
	t.Helper()

	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}

	req.SetBasicAuth("admin", "geheim")

	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}

	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()

	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}

	return resp.StatusCode, string(raw)
}

const system = "/redfish/v1/Systems/6d6f636b-0000-4000-8000-000000000002"

func TestRun_servesAndRemembers(t *testing.T) {
	t.Setenv(passwordVariable, "geheim")

	args := []string{"-listen", "127.0.0.1:0", "-ironic", "127.0.0.1:0", "-n", "2", "-power-delay", "0", "-dir", t.TempDir()}
	at, stop := start(t, args...)

	if code, text := ask(t, http.MethodGet, "http://"+at.ironic+"/v1/drivers", "", "X-OpenStack-Ironic-API-Version", "1.81"); code != http.StatusOK || !strings.Contains(text, "redfish") {
		t.Errorf("the lab's Ironic: %d %s", code, text)
	}

	code, text := ask(t, http.MethodPost, "http://"+at.bmc+system+"/Actions/ComputerSystem.Reset", `{"ResetType":"On"}`)
	if code != http.StatusNoContent {
		t.Fatalf("power on: %d %s", code, text)
	}

	stop()

	at, _ = start(t, args...)

	if code, text := ask(t, http.MethodGet, "http://"+at.bmc+system, ""); code != http.StatusOK || !strings.Contains(text, `"PowerState":"On"`) {
		t.Errorf("after a restart: %d %s", code, text)
	}

	if code, text := ask(t, http.MethodGet, "http://"+at.bmc+"/sim/machines/1", ""); code != http.StatusOK || !strings.Contains(text, `"power":"Off"`) {
		t.Errorf("the control API: %d %s", code, text)
	}
}

func TestRun_refuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		args []string
		want string
	}{
		"an address that all can reach":    {args: []string{"-listen", "0.0.0.0:0"}, want: "-listen"},
		"a port without an address":        {args: []string{"-listen", ":8000"}, want: "loopback"},
		"a name":                           {args: []string{"-listen", "localhost:0"}, want: "loopback"},
		"an address without a port":        {args: []string{"-listen", "127.0.0.1"}, want: "loopback"},
		"an Ironic that all can reach":     {args: []string{"-ironic", "0.0.0.0:0"}, want: "-ironic"},
		"a fabric that all can reach":      {args: []string{"-listen", "127.0.0.1:0", "-fabric", "0.0.0.0:0"}, want: "-fabric"},
		"a pool that cannot be read":       {args: []string{"-gpus", "A100"}, want: "A100"},
		"a flag that is not there":         {args: []string{"-listten", "x"}, want: "listten"},
		"a certificate that is not there":  {args: []string{"-listen", "127.0.0.1:0", "-cert", "missing", "-key", "missing"}, want: "missing"},
		"a directory that cannot be there": {args: []string{"-listen", "127.0.0.1:0", "-dir", "/dev/null/x"}, want: "/dev/null"},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()

			err := run(ctx, c.args, slog.New(slog.DiscardHandler), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("run ended with %v, want words of %q", err, c.want)
			}
		})
	}
}

func TestRun_aPortThatIsTaken(t *testing.T) {
	t.Parallel()

	at, _ := start(t, "-listen", "127.0.0.1:0")

	err := run(t.Context(), []string{"-listen", at.bmc}, slog.New(slog.DiscardHandler), nil)
	if err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("run on a taken port ended with %v", err)
	}
}

func TestRun_servesTheFabric(t *testing.T) {
	t.Parallel()

	at, _ := start(t, "-listen", "127.0.0.1:0", "-fabric", "127.0.0.1:0", "-gpus", "A100=2,H100=1", "-n", "1", "-dir", t.TempDir())

	url := "http://" + at.fabric + "/fabric_manager/api/v1/machines?tenant_uuid=" + fabric.Tenant
	if code, text := ask(t, http.MethodGet, url, ""); code != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", code, text)
	}

	form := "grant_type=password&client_id=" + fabric.ClientID + "&client_secret=" + fabric.ClientSecret + "&username=" + fabric.Username +
		"&password=" + fabric.Password + "&scope=openid&response_type=id_token+token"

	code, text := ask(t, http.MethodPost, "http://"+at.fabric+"/id_manager/realms/"+fabric.Realm+"/protocol/openid-connect/token", form,
		"Content-Type", "application/x-www-form-urlencoded")
	if code != http.StatusOK {
		t.Fatalf("login: %d %s", code, text)
	}

	var token struct {
		Access string `json:"access_token"`
	}

	if err := json.Unmarshal([]byte(text), &token); err != nil {
		t.Fatal(err)
	}

	if code, text := ask(t, http.MethodGet, url, "", "Authorization", "Bearer "+token.Access); code != http.StatusOK || !strings.Contains(text, "node-1") {
		t.Errorf("the machines: %d %s", code, text)
	}
}
