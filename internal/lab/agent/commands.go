// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Command states, as the ramdisk spells them.
const (
	running   = "RUNNING"
	succeeded = "SUCCEEDED"
	failed    = "FAILED"
)

type command struct {
	ID     string `json:"id"`
	Name   string `json:"command_name"`
	Params any    `json:"command_params"`
	Status string `json:"command_status"`
	Error  any    `json:"command_error"`
	Result any    `json:"command_result"`
}

// request is what Ironic posts.
type request struct {
	Name   string         `json:"name"` // deploy.execute_deploy_step
	Params map[string]any `json:"params"`
}

// step is the name of the step that the command carries, if it does.
func (r request) step() string {
	step, _ := r.Params["step"].(map[string]any)
	name, _ := step["step"].(string)

	return name
}

// label is the command for people and for FailSteps: deploy.execute_deploy_step:write_image.
func (r request) label() string {
	if step := r.step(); step != "" {
		return r.Name + ":" + step
	}

	return r.Name
}

func (a *agent) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, map[string]any{"started_at": time.Now().Unix(), "version": agentVersion})
	})
	mux.HandleFunc("GET /v1/commands", a.list)
	mux.HandleFunc("GET /v1/commands/{id}", a.show)
	mux.HandleFunc("POST /v1/commands", a.order)

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimRight(r.URL.Path, "/") // Ironic writes /v1/commands/
		mux.ServeHTTP(w, r)
	})
}

func (a *agent) list(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()

	send(w, http.StatusOK, map[string]any{"commands": a.commands}) // never null: Ironic would fail the step
}

func (a *agent) show(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()

	for _, c := range a.commands {
		if c.ID == r.PathValue("id") {
			send(w, http.StatusOK, c)

			return
		}
	}

	send(w, http.StatusNotFound, refusal(http.StatusNotFound, "NotFound", "no such command"))
}

// order takes a command. Synchronous ones, and those that Ironic waits for, are done in the
// answer; the others end StepDelay later, and a heartbeat says so.
func (a *agent) order(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	token := a.token
	a.mu.Unlock()

	if token != "" && r.URL.Query().Get("agent_token") != token {
		send(w, http.StatusUnauthorized, refusal(http.StatusUnauthorized, "InvalidToken", "Token invalid"))

		return
	}

	var req request
	if err := json.NewDecoder(io.LimitReader(r.Body, maxMedium)).Decode(&req); err != nil {
		send(w, http.StatusBadRequest, refusal(http.StatusBadRequest, "InvalidContentError", err.Error()))

		return
	}

	_, short, ok := strings.Cut(req.Name, ".")
	if !ok {
		send(w, http.StatusBadRequest, refusal(http.StatusBadRequest, "InvalidCommandError", "no extension in "+req.Name))

		return
	}

	c := &command{ID: strings.ToLower(rand.Text()), Name: short, Params: req.Params, Status: running}

	a.mu.Lock()
	a.commands = append(a.commands, c)
	a.labels = append(a.labels, req.label())
	a.mu.Unlock()
	a.note("agent command %s", req.label())

	result, then, now := a.execute(req)
	if now || r.URL.Query().Get("wait") == "true" {
		a.finish(c, req, result)
	} else {
		go a.finishLater(c, req, result)
	}

	a.mu.Lock()
	send(w, http.StatusOK, c)
	a.mu.Unlock()

	if then != nil {
		go then()
	}
}

func (a *agent) finishLater(c *command, req request, result any) {
	if !pause(a.ctx, a.o.StepDelay) {
		return
	}

	a.finish(c, req, result)

	select {
	case a.poke <- struct{}{}:
	default:
	}
}

// finish ends a command: well, unless the machine was told to fail it.
func (a *agent) finish(c *command, req request, result any) {
	m, _, _ := a.load(a.m.Name) // without its memory a machine has no faults either

	why, fails := m.Faults.FailStep(req.label(), req.Name, c.Name, req.step())
	if !fails {
		a.effect(req)
	}

	a.mu.Lock()
	defer a.mu.Unlock()

	if fails {
		c.Status, c.Error = failed, refusal(http.StatusInternalServerError, "CommandExecutionError", why)

		return
	}

	c.Status, c.Result = succeeded, result
}

func refusal(code int, kind, text string) map[string]any {
	return map[string]any{"type": kind, "code": code, "message": text, "details": text}
}

func send(w http.ResponseWriter, code int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		http.Error(w, fmt.Sprintf("agent: %v", err), http.StatusInternalServerError)

		return
	}

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(raw)
}
