// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

const (
	agentVersion = "10.2.0"

	// API versions that the ramdisk's calls need: heartbeats with agent_verify_ca, inspection in Ironic.
	agentAPI   = "1.68"
	inspectAPI = "1.84"

	retryPause   = 2 * time.Second
	inspectTries = 30
	// afterStep is how soon a beat follows a finished command: Ironic is busy for a moment.
	afterStep = 50 * time.Millisecond
)

// agent is the program that a deployment ramdisk runs.
type agent struct {
	*Runner

	m      machine.Machine // as it booted: name and MACs stay, the rest is only looked up for the inventory
	params map[string]string
	ctx    context.Context // the agent's life
	cancel context.CancelFunc
	poke   chan struct{} // a command ended: beat now

	mu       sync.Mutex // guards what follows
	token    string
	node     string
	url      string
	ca       string
	commands []*command
	labels   []string
	beats    int
}

func newAgent(r *Runner, m machine.Machine, params map[string]string) *agent {
	a := &agent{
		Runner: r, m: m, params: params, token: params[paramToken],
		poke: make(chan struct{}, 1), commands: []*command{},
	}
	a.ctx, a.cancel = context.WithCancel(r.ctx)

	return a
}

func (a *agent) stop() { a.cancel() }

func (a *agent) note(format string, args ...any) {
	if a.ctx.Err() == nil { // a dead agent is silent
		a.say(a.m.Name, fmt.Sprintf(format, args...))
	}
}

func (a *agent) view() map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()

	return map[string]any{"node": a.node, "url": a.url, "heartbeats": a.beats, "commands": slices.Clone(a.labels)}
}

func (a *agent) run() {
	if err := a.listen(); err != nil {
		a.note("agent cannot serve: %v", err)

		return
	}

	if callback := a.params[paramCallback]; callback != "" {
		a.inspect(callback)
	}

	api := strings.TrimRight(a.params[paramAPI], "/")
	if api == "" || !a.lookup(api) {
		return // an inspection ramdisk has no more to say
	}

	for a.ctx.Err() == nil {
		a.beat(api)
		a.rest()
	}
}

// rest is the time until the next heartbeat: short when a command has ended.
func (a *agent) rest() {
	ctx, cancel := context.WithTimeout(a.ctx, a.o.Heartbeat)
	defer cancel()

	select {
	case <-ctx.Done():
	case <-a.poke:
		pause(a.ctx, afterStep)
	}
}

// inspect sends the inventory. Ironic answers 404 while it still holds the node's lock.
func (a *agent) inspect(callback string) {
	m, ok, err := a.load(a.m.Name)
	if !ok || err != nil {
		return
	}

	for range inspectTries {
		code, body, err := a.call(http.MethodPost, callback, inspectAPI, m.Report())
		if err == nil && code < http.StatusMultipleChoices {
			a.note("inventory accepted: %d", code)

			var answer struct {
				Token string `json:"agent_token"`
			}
			if json.Unmarshal(body, &answer) == nil && answer.Token != "" {
				a.setToken(answer.Token)
			}

			return
		}

		a.note("inventory: %s", outcome(code, body, err))

		if err == nil && code != http.StatusNotFound && code != http.StatusConflict || !pause(a.ctx, retryPause) {
			return
		}
	}
}

// lookup finds the node that the machine is in Ironic; false: the agent ended before.
func (a *agent) lookup(api string) bool {
	query := url.Values{"addresses": {strings.Join(a.m.MACs, ",")}}
	if node := a.params[paramNode]; node != "" {
		query.Set("node_uuid", node)
	}

	for {
		code, body, err := a.call(http.MethodGet, api+"/v1/lookup?"+query.Encode(), agentAPI, nil)

		var found struct {
			Node   struct{ UUID string }
			Config struct {
				Token   string `json:"agent_token"`
				Timeout int    `json:"heartbeat_timeout"`
			}
		}

		if err == nil && code == http.StatusOK && json.Unmarshal(body, &found) == nil && found.Node.UUID != "" {
			a.mu.Lock()
			a.node = found.Node.UUID
			a.mu.Unlock()

			// Ironic hides a token that came by the medium.
			if token := found.Config.Token; token != "" && token != "******" {
				a.setToken(token)
			}

			a.note("lookup: node %s, heartbeat timeout %d", found.Node.UUID, found.Config.Timeout)

			return true
		}

		a.note("lookup: %s", outcome(code, body, err))

		if !pause(a.ctx, retryPause) {
			return false
		}
	}
}

// beat tells Ironic that the agent lives, and where.
func (a *agent) beat(api string) {
	a.mu.Lock()
	a.beats++
	path := api + "/v1/heartbeat/" + a.node
	body := map[string]string{
		"callback_url": a.url, "agent_token": a.token, "agent_version": agentVersion, "agent_verify_ca": a.ca,
	}
	a.mu.Unlock()

	code, answer, err := a.call(http.MethodPost, path, agentAPI, body)
	if err != nil || code != http.StatusAccepted {
		a.note("heartbeat: %s", outcome(code, answer, err))
	}
}

func (a *agent) setToken(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.token = token
}

func (a *agent) call(method, url, version string, body any) (int, []byte, error) {
	var reader io.Reader

	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, nil, fmt.Errorf("agent: %w", err)
		}

		reader = bytes.NewReader(raw)
	}

	req, err := http.NewRequestWithContext(a.ctx, method, url, reader)
	if err != nil {
		return 0, nil, fmt.Errorf("agent: %w", err)
	}

	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-OpenStack-Ironic-API-Version", version)

	resp, err := a.client.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("agent: %w", err)
	}
	defer resp.Body.Close()

	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxConfig))
	if err != nil {
		return 0, nil, fmt.Errorf("agent: %w", err)
	}

	return resp.StatusCode, raw, nil
}

// outcome is a failed call in a few words.
func outcome(code int, body []byte, err error) string {
	if err != nil {
		return err.Error()
	}

	return fmt.Sprintf("%d %.160s", code, body)
}
