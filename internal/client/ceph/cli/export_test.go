// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "time"

// Words are the arguments that the tool gets for a command, from "--" on.
func Words(cmd []byte) ([]string, error) {
	l, err := parse(cmd)
	if err != nil {
		return nil, err
	}

	return (&CLI{tool: []string{"ceph"}}).argv(l, time.Minute, false), nil
}

// AnswerTo makes an answer of what the tool left.
func AnswerTo(cmd []byte, r Result) ([]byte, string, error) {
	l, err := parse(cmd)
	if err != nil {
		return nil, "", err
	}

	return l.answer(r)
}

// Outputs takes the outputs of a batch of n commands apart.
func Outputs(n int, mark string, r Result) (int, error) {
	all, err := answers(make([]line, n), mark, r)

	return len(all), err
}
