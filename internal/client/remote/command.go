// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	defaultMaxOutput = 8 << 20
	// maxLine: Linux takes no argument longer than 128 KiB, and the whole line is one.
	maxLine = 120 << 10
	// grace is how long a command that is ended may take to end by itself.
	grace = 2 * time.Second
)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// newToken names one run of a command.
func newToken() string {
	var b [12]byte

	_, _ = rand.Read(b[:]) // it never fails

	return hex.EncodeToString(b[:])
}

// words returns the program and arguments of a command.
func (c Command) words() []string {
	if len(c.Args) > 0 {
		return c.Args
	}

	return append([]string{"/bin/sh", "-c", c.Script, "sh"}, c.Params...)
}

// program is what the wrapper runs.
func (c Command) program() []string {
	if c.Detach {
		return c.detached()
	}

	return c.words()
}

// step names a command for people, without its arguments.
func (c Command) step() string {
	if len(c.Args) > 0 {
		return path.Base(c.Args[0])
	}

	first, _, _ := strings.Cut(c.Script, "\n")
	if name, ok := strings.CutPrefix(first, "# metal3: "); ok {
		return strings.TrimSpace(name)
	}

	return "script"
}

// bounds are how long a command may take and how much it may print.
func (c Command) bounds() (time.Duration, int) {
	limit, maxOutput := c.Limit, c.MaxOutput
	if limit <= 0 {
		limit = DefaultLimit
	}

	if maxOutput <= 0 {
		maxOutput = defaultMaxOutput
	}

	return limit, maxOutput
}

func (c Command) check() error {
	if len(c.Args) == 0 && c.Script == "" {
		return fmt.Errorf("%w: no command", ErrConfig)
	}

	for _, e := range c.Env {
		if !variable.MatchString(e) {
			return fmt.Errorf("%w: an environment variable is not NAME=value", ErrConfig)
		}
	}

	length := 0

	for _, w := range slices.Concat(c.program(), c.Env) {
		if strings.ContainsRune(w, 0) {
			return fmt.Errorf("%w: %s: an argument contains a NUL byte", ErrConfig, c.step())
		}

		length += len(quote(w)) + 1
	}

	if length+len(quote(wrapper)) > maxLine {
		return fmt.Errorf("%w: %s: the command is longer than the %d KiB that a host takes: give data on standard input",
			ErrConfig, c.step(), maxLine>>10)
	}

	return nil
}

// argv is what is run on the host for a command; see wrapper.go.
func argv(c Command, token string, sudo bool) []string {
	all := append(environment(sudo), tokenName+"="+token)
	all = append(all, c.Env...)
	all = append(all, "/bin/sh", "-c", wrapper, wrapperName, token, strconv.Itoa(len(c.Stdin)))

	return append(all, c.program()...)
}

// sessionArgv is what is run on the host for a program that is spoken to.
func sessionArgv(c Command, token string, sudo bool) []string {
	all := append(environment(sudo), tokenName+"="+token)
	all = append(all, c.Env...)
	all = append(all, "/bin/sh", "-c", sessionWrapper, sessionName, token)

	return append(all, c.words()...)
}

// killArgv is what ends a command with all that it started.
func killArgv(token string, sudo bool) []string {
	tenths := strconv.Itoa(int(grace / (100 * time.Millisecond)))

	return append(environment(sudo), "/bin/sh", "-c", killer, killerName, token, tenths)
}

func environment(sudo bool) []string {
	all := []string{"env", "LC_ALL=C"}
	if sudo {
		all = append(all, "sudo", "-n", "--", "env", "LC_ALL=C")
	}

	return all
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,-]+$`)

// quote makes a word that a POSIX shell takes as it is.
func quote(word string) string {
	if plain.MatchString(word) {
		return word
	}

	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// line is an argv as a command line for a POSIX shell.
func line(argv []string) string {
	quoted := make([]string, len(argv))

	for i, w := range argv {
		quoted[i] = quote(w)
		if i > 0 && variable.MatchString(w) {
			// NAME=value: the shell must not take it for anything but a word.
			name, value, _ := strings.Cut(w, "=")
			quoted[i] = name + "=" + quote(value)
		}
	}

	return strings.Join(quoted, " ")
}

// sudoRefused tells whether what a command left is sudo's refusal and not the command's own
// words. The texts are those of sudo 1.8 to 1.9 and of sudo-rs, in the C locale.
func sudoRefused(r Result) (string, bool) {
	text := strings.TrimSpace(string(r.Stderr))
	last := text[strings.LastIndexByte(text, '\n')+1:]

	if r.Exit == 127 && strings.HasPrefix(text, "env: ") && strings.Contains(text, "sudo") {
		return "there is no sudo on the host", true
	}

	if r.Exit != 1 {
		return "", false
	}

	for _, words := range []string{
		"a password is required", "a terminal is required", "interactive authentication is required",
		"is not in the sudoers file", "is not allowed to execute", "is not allowed to run sudo", "you must have a tty",
	} {
		if strings.Contains(last, words) && (strings.HasPrefix(text, "sudo") || strings.Contains(text, "Sorry, ") || strings.Contains(last, "sudoers")) {
			return last, true
		}
	}

	return "", false
}
