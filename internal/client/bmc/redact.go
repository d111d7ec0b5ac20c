// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"encoding/base64"
	"slices"
	"strings"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
)

// redactor removes the secrets of a client from texts: BMCs and proxies echo requests.
type redactor struct {
	mu    sync.RWMutex
	forms []string // longest first
}

func newRedactor(username, password string) *redactor {
	r := &redactor{}
	r.learn(password)

	if password != "" {
		r.learn(base64.StdEncoding.EncodeToString([]byte(username + ":" + password)))
	}

	return r
}

// learn remembers a secret in the spellings in which it may come back.
func (r *redactor) learn(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, form := range transport.Spellings(secret) {
		if !slices.Contains(r.forms, form) {
			r.forms = append(r.forms, form)
		}
	}

	transport.LongestFirst(r.forms)
}

// clean returns the text without secrets.
func (r *redactor) clean(text string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()

	for _, form := range r.forms {
		text = strings.ReplaceAll(text, form, "***")
	}

	return text
}
