// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bridge

// MaxLine bounds a line.
const MaxLine = maxLine

// Greeting reads the first line of a session.
func Greeting(line []byte) (ok bool, err error) {
	h, ok := parseHello(line)

	return ok, h.failure()
}

// Reply reads an answer to command 0.
func Reply(cmd, line []byte) (ok bool, err error) {
	a, ok, err := call{cmd: cmd}.parseReply(line, 0)
	if err == nil {
		err = a.Err
	}

	return ok, err
}
