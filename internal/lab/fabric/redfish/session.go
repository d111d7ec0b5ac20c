// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/token"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const (
	sessionsPath   = root + "/SessionService/Sessions"
	sessionBucket  = "fabric_redfish_sessions" // by token
	sessionTimeout = 30 * time.Minute
	// usedGrain keeps reads reads: the last use of a session is noted that often at most.
	usedGrain = time.Minute
)

// session is somebody who logged in.
type session struct {
	ID   string    `json:"id"`
	User string    `json:"user"`
	Used time.Time `json:"used"`
}

func (s session) ended(now time.Time) bool { return now.Sub(s.Used) > sessionTimeout }

// authorized checks the request's token or its basic credentials.
func (c *call) authorized() (bool, error) {
	if c.o.NoLogin {
		return true, nil
	}

	key := c.header.Get("X-Auth-Token")
	if key == "" {
		user, password, ok := c.basic()

		return ok && user == token.Username && password == token.Password, nil
	}

	var s session

	found, err := c.tx.Get(sessionBucket, key, &s)
	if !found || err != nil || s.ended(c.now) {
		return false, err
	}

	if c.now.Sub(s.Used) < usedGrain {
		return true, nil
	}

	if !c.write {
		return false, errWantsWrite
	}

	s.Used = c.now

	return true, c.tx.Put(sessionBucket, key, s)
}

func (c *call) login() (answer, error) {
	user, password, err := decodeLogin(c.body)
	if err != nil {
		return bad("PropertyMissing", err.Error()), nil
	}

	if user != token.Username || password != token.Password {
		return failure(http.StatusUnauthorized, "ResourceAtUriUnauthorized", "user name or password is wrong"), nil
	}

	key := rand.Text()
	s := session{ID: strings.ToLower(rand.Text()[:8]), User: user, Used: c.now}

	return answer{
		code: http.StatusCreated, body: s.doc(),
		header: http.Header{"X-Auth-Token": {key}, "Location": {sessionsPath + "/" + s.ID}},
	}, c.tx.Put(sessionBucket, key, s)
}

func (c *call) logout() (answer, error) {
	open, err := c.sessions()
	if err != nil {
		return answer{}, err
	}

	for key, s := range open {
		if c.path == sessionsPath+"/"+s.ID {
			return noContent(), c.tx.Delete(sessionBucket, key)
		}
	}

	return notFound(c.path), nil
}

// sessions are the open ones by token.
func (c *call) sessions() (map[string]session, error) {
	open := map[string]session{}
	err := c.tx.Each(sessionBucket, func(key string, raw json.RawMessage) error {
		var s session
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}

		if !s.ended(c.now) {
			open[key] = s
		}

		return nil
	})

	return open, err
}

func (s session) doc() obj {
	return entity(sessionsPath+"/"+s.ID, "Session.v1_5_0.Session", s.ID, "Session", obj{"UserName": s.User})
}

// sessionDoc finds documents below the session service.
func (c *call) sessionDoc(rest []string) (obj, error) {
	open, err := c.sessions()
	if err != nil {
		return nil, err
	}

	switch {
	case len(rest) == 0:
		return entity(root+"/SessionService", "SessionService.v1_1_8.SessionService", "SessionService", "Sessions", obj{
			"ServiceEnabled": true, "SessionTimeout": int(sessionTimeout.Seconds()), "Sessions": ref(sessionsPath),
		}), nil
	case rest[0] != "Sessions":
		return nil, nil
	}

	var paths []string

	for _, s := range open {
		if len(rest) == 2 && rest[1] == s.ID {
			return s.doc(), nil
		}

		paths = append(paths, sessionsPath+"/"+s.ID)
	}

	if len(rest) > 1 {
		return nil, nil
	}

	slices.Sort(paths)

	return collection(sessionsPath, "SessionCollection", paths), nil
}

// EndSessions ends all sessions, as a restart of the service does.
func EndSessions(tx store.Tx) error {
	var keys []string

	err := tx.Each(sessionBucket, func(key string, _ json.RawMessage) error {
		keys = append(keys, key)

		return nil
	})
	if err != nil {
		return err
	}

	for _, key := range keys {
		if err := tx.Delete(sessionBucket, key); err != nil {
			return err
		}
	}

	return nil
}
