// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/command"
)

var (
	// refusal is how the tool says Ceph's no: "Error EBUSY: osd.0 is not `down`.".
	refusal = regexp.MustCompile(`(?m)^Error (E[A-Z0-9]+|Unknown): ?`)
	// raised is how it says that librados said no: "[errno 2] RADOS object not found (error …)".
	raised = regexp.MustCompile(`\[errno (\d{1,3})\]`)
)

// exceptions are the names of librados' errors where the tool gives no number.
var exceptions = map[string]int{
	"ObjectNotFound": api.ErrNotFound.Code, "PermissionDenied": api.ErrPermission.Code,
	"InvalidArgument": api.ErrInvalid.Code, "TimedOut": command.TimedOut,
}

const (
	eperm     = 1
	eio       = 5
	maxErrno  = 133
	noProgram = 127
	noRight   = 126
)

// answer makes an answer of what the tool left.
func (l line) answer(r Result) ([]byte, string, error) {
	out := r.Stdout
	if strings.HasPrefix(l.format, "json") {
		// The tool prints an empty line before JSON.
		out = bytes.TrimPrefix(out, []byte("\n"))
	}

	words := command.Words(string(r.Stderr))
	if r.Exit == 0 {
		return out, words, nil
	}

	if at := refusal.FindAllStringIndex(words, -1); at != nil && r.Exit <= maxErrno {
		last := at[len(at)-1]
		status := strings.TrimSpace(words[last[1]:])

		if before := strings.TrimSpace(words[:last[0]]); status == "invalid command" && before != "" {
			// The tool itself said no, and what is wrong stands before.
			status = command.Last(before)
		}

		return out, status, command.Failure(l.cmd, -r.Exit, status, out)
	}

	return out, words, l.broken(r.Exit, words)
}

// broken is the error of a tool that had no answer of Ceph.
func (l line) broken(exit int, words string) error {
	words = command.Last(words)

	switch {
	case exit == noProgram, exit == noRight:
		return fmt.Errorf("%w: %s", api.ErrNoTool, words)
	case exit > maxErrno || exit < 0:
		return inCommand(l.cmd, fmt.Errorf("%w: the ceph command ended with status %d: %s", api.ErrLost, exit, words))
	case strings.Contains(words, "usage: ceph"):
		return &api.Error{Code: api.ErrInvalid.Code, Status: words, Command: command.Prefix(l.cmd)}
	}

	code := -exit
	if exit == eperm {
		code = cause(words)
	}

	return command.Refused(code, words)
}

// cause is the code behind exit status 1, which the tool has for all that went wrong before
// there was an answer.
func cause(words string) int {
	if m := raised.FindStringSubmatch(words); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			return -n
		}
	}

	for name, code := range exceptions {
		if strings.Contains(words, name) {
			return code
		}
	}

	for _, silent := range []string{"timed out", "error connecting to the cluster", "Cluster connection interrupted", "Cluster connection aborted"} {
		if strings.Contains(words, silent) {
			return command.TimedOut
		}
	}

	return -eio
}
