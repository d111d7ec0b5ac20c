// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package command is what the transports have in common: how a command is named, how an answer
// becomes an error, and what is asked when none came.
package command

import (
	"encoding/json"
	"fmt"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// TimedOut is the code of a command that was given up.
const TimedOut = -110

// Prefix returns the words that name a command, such as "osd ok-to-stop".
func Prefix(cmd []byte) string {
	var c struct {
		Prefix string `json:"prefix"`
	}

	if json.Unmarshal(cmd, &c) != nil {
		return ""
	}

	return c.Prefix
}

// Join makes one JSON text of the parts that a manager's command has. librados concatenates
// them, too.
func Join(cmd [][]byte) []byte {
	if len(cmd) == 1 {
		return cmd[0]
	}

	var all []byte

	for _, part := range cmd {
		all = append(all, part...)
	}

	return all
}

// Failure is the error of an answer: nil for code 0, else an [*api.Error]. librados 16 answers
// a manager's command that was given up with a positive errno; all others are negative.
func Failure(cmd []byte, code int, status string, out []byte) error {
	if code == 0 {
		return nil
	}

	return &api.Error{Code: min(code, -code), Status: status, Command: Prefix(cmd), Out: out}
}

// Refused is the error of a connection that was not made.
func Refused(code int, words string) error {
	switch min(code, -code) {
	case TimedOut:
		return fmt.Errorf("%w: %s", api.ErrNoQuorum, words)
	case -1: // EPERM: what older releases say for a key that is not taken
		code = api.ErrPermission.Code
	}

	return fmt.Errorf("connect to the cluster: %w", &api.Error{Code: min(code, -code), Status: words})
}
