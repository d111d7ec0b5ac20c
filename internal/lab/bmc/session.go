// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const (
	sessionBucket  = "bmc-sessions" // by token
	sessionTimeout = 30 * time.Minute
	// usedGrain keeps reads reads: the last use of a session is noted that often at most.
	usedGrain    = time.Minute
	sessionsPath = root + "/SessionService/Sessions"
)

type session struct {
	ID   string    `json:"id"`
	BMC  string    `json:"bmc"` // the machine's name; empty: the shared service
	User string    `json:"user"`
	Key  string    `json:"key"` // hash of the credentials: a changed password ends the session
	Used time.Time `json:"used"`
}

func sessionKey(user, password string) string {
	sum := sha256.Sum256([]byte(user + "\x00" + password))

	return hex.EncodeToString(sum[:])
}

// authorized checks the request's token or its basic credentials.
func (c *call) authorized() (bool, error) {
	user, password, basic := c.r.BasicAuth()

	if token := c.r.Header.Get("X-Auth-Token"); token != "" {
		return c.validToken(token)
	}

	if c.known {
		free, _ := c.m.Credentials()

		return free == "" || basic && c.m.Accepts(user, password), nil
	}

	return c.anyAccepts(user, password, basic)
}

func (c *call) validToken(token string) (bool, error) {
	var s session

	ok, err := c.tx.Get(sessionBucket, token, &s)
	if !ok || err != nil || s.BMC != c.face.name || c.now.Sub(s.Used) > sessionTimeout {
		return false, err
	}

	if user, password := c.m.Credentials(); c.known && user != "" && s.Key != sessionKey(user, password) {
		return false, nil
	}

	if c.now.Sub(s.Used) < usedGrain {
		return true, nil
	}

	if !c.write {
		return false, errWantsWrite
	}

	s.Used = c.now

	return true, c.tx.Put(sessionBucket, token, s)
}

// anyAccepts is the shared service's check: it lets in whom any of its machines knows.
func (c *call) anyAccepts(user, password string, given bool) (bool, error) {
	all, err := machine.All(c.tx)
	if err != nil {
		return false, err
	}

	for _, m := range all {
		if free, _ := m.Credentials(); free == "" || given && m.Accepts(user, password) {
			return true, nil
		}
	}

	return false, nil
}

func login(c *call) (answer, error) {
	if refused, err := c.loginRefused(); err != nil || refused {
		// The words of Dell's RAC0218, which every client that met it looks for.
		return failure(http.StatusServiceUnavailable, "RAC0218", "The maximum number of user sessions is reached."), err
	}

	user, password := text(c.body, "UserName"), text(c.body, "Password")

	ok := c.m.Accepts(user, password)
	if !c.known {
		var err error
		if ok, err = c.anyAccepts(user, password, true); err != nil {
			return answer{}, err
		}
	}

	if !ok {
		return failure(http.StatusUnauthorized, "ResourceAtUriUnauthorized", "bad credentials"), nil
	}

	open, err := c.sessions()
	if err != nil {
		return answer{}, err
	}

	if limit := c.sessionLimit(); limit > 0 && len(open) >= limit {
		return failure(http.StatusServiceUnavailable, "SessionLimitExceeded",
			"The session establishment failed due to the number of simultaneous sessions exceeding the limit of the implementation."), nil
	}

	token := rand.Text()
	s := session{ID: strings.ToLower(rand.Text()[:8]), BMC: c.face.name, User: user, Key: sessionKey(user, password), Used: c.now}

	a := answer{code: http.StatusCreated, body: sessionDoc(s)}
	a.header = http.Header{"X-Auth-Token": {token}, "Location": {sessionsPath + "/" + s.ID}}

	return a, c.tx.Put(sessionBucket, token, s)
}

func (c *call) loginRefused() (bool, error) {
	f := &c.m.Faults
	if c.now.Before(f.RefuseLoginUntil) {
		return true, nil
	}

	if f.RefuseLogins == 0 {
		return false, nil
	}

	f.RefuseLogins--

	return true, c.save()
}

func (c *call) sessionLimit() int {
	if c.m.Faults.SessionLimit > 0 {
		return c.m.Faults.SessionLimit
	}

	return c.face.o.Sessions
}

// sessions are the open ones of this BMC, by token.
func (c *call) sessions() (map[string]session, error) {
	open := map[string]session{}
	err := c.tx.Each(sessionBucket, func(token string, raw json.RawMessage) error {
		var s session
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}

		if s.BMC == c.face.name && c.now.Sub(s.Used) <= sessionTimeout {
			open[token] = s
		}

		return nil
	})

	return open, err
}

func sessionDoc(s session) obj {
	return entity(sessionsPath+"/"+s.ID, "Session.v1_5_0.Session", s.ID, "Session", obj{"UserName": s.User})
}

func sessionService(c *call) (answer, error) {
	return c.resource(entity(c.path(), "SessionService.v1_1_8.SessionService", "SessionService", "Session Service", obj{
		"ServiceEnabled": true, "SessionTimeout": int(sessionTimeout.Seconds()), "Sessions": ref(sessionsPath),
	})), nil
}

func sessionList(c *call) (answer, error) {
	open, err := c.sessions()

	var paths []string
	for _, s := range open {
		paths = append(paths, sessionsPath+"/"+s.ID)
	}

	return c.resource(collection(c.path(), "Session", sorted(paths)...)), err
}

// oneSession shows or ends a session.
func oneSession(c *call) (answer, error) {
	open, err := c.sessions()
	if err != nil {
		return answer{}, err
	}

	for token, s := range open {
		if s.ID != c.r.PathValue("session") {
			continue
		}

		if c.r.Method == http.MethodDelete {
			return noContent(), c.tx.Delete(sessionBucket, token)
		}

		return c.resource(sessionDoc(s)), nil
	}

	return c.missing(), nil
}

// Sessions counts the open sessions of a machine's own BMC, for tests that look for leaks.
func (s *Service) Sessions(name string) (int, error) {
	var n int

	err := s.store.View(func(tx store.Tx) error {
		open, err := (&call{face: &face{Service: s, name: name}, tx: tx, now: time.Now()}).sessions()
		n = len(open)

		return err
	})

	return n, err
}
