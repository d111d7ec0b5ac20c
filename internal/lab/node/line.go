// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// request is a command as it was meant, without what the provider wraps around it:
//
//	env LC_ALL=C [sudo -n -- env LC_ALL=C] METAL3_RUN=<token> [NAME=value …] /bin/sh -c <wrapper> metal3 <token> <n> <program> [<argument> …]
//	env LC_ALL=C [sudo -n -- env LC_ALL=C] /bin/sh -c <killer> metal3-kill <token> <tenths>
//
// A script is the program "/bin/sh -c <script> sh [<parameter> …]", and names itself in its
// first line: "# metal3: <name>".
type request struct {
	kill  string // the token of what is to be ended
	token string
	stdin int

	args   []string // the program and its arguments
	script string   // or the name of a script
	params []string
}

var errLine = errors.New("syntax error")

// split takes a command line of a POSIX shell apart that consists of nothing but words.
func split(line string) ([]string, error) {
	var (
		words  []string
		word   strings.Builder
		inWord bool
	)

	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, fmt.Errorf("%w: a quote is open", errLine)
			}

			word.WriteString(line[i+1 : i+1+end])

			inWord = true
			i += end + 1
		case c == '\\' && i+1 < len(line):
			i++
			inWord = true

			word.WriteByte(line[i])
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()

				inWord = false
			}
		case strings.IndexByte("\\\"$`;&|<>()*?[#~!{}", c) >= 0:
			return nil, fmt.Errorf("%w: the lab's shell knows words and single quotes only, not %q", errLine, c)
		default:
			inWord = true

			word.WriteByte(c)
		}
	}

	if inWord {
		words = append(words, word.String())
	}

	return words, nil
}

// parse finds the command in a command line. What has no wrapper is the command itself.
func parse(line string) (request, error) {
	words, err := split(line)
	if err != nil {
		return request{}, err
	}

	words = bare(words)

	if len(words) >= 6 && words[0] == "/bin/sh" && words[1] == "-c" {
		switch words[3] {
		case "metal3-kill":
			return request{kill: words[4]}, nil
		case "metal3":
			n, err := strconv.Atoi(words[5])
			if err != nil || n < 0 || len(words) < 7 {
				return request{}, fmt.Errorf("%w: not the wrapper that the lab knows", errLine)
			}

			r := command(words[6:])
			r.token, r.stdin = words[4], n

			return r, nil
		}
	}

	if len(words) == 0 {
		return request{}, fmt.Errorf("%w: no command", errLine)
	}

	return command(words), nil
}

// bare takes env and sudo away: everybody is root here.
func bare(words []string) []string {
	for len(words) > 0 {
		switch {
		case words[0] == "env", strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "/"):
			words = words[1:]
		case len(words) >= 3 && words[0] == "sudo" && words[1] == "-n" && words[2] == "--":
			words = words[3:]
		default:
			return words
		}
	}

	return nil
}

// command is a program, or a script where the program is a shell with one.
func command(words []string) request {
	if len(words) < 3 || path.Base(words[0]) != "sh" || words[1] != "-c" {
		return request{args: words}
	}

	r := request{script: "?"}

	first, _, _ := strings.Cut(words[2], "\n")
	if name := strings.TrimSpace(strings.TrimPrefix(first, "# metal3: ")); name != "" && name != strings.TrimSpace(first) {
		r.script = name
	}

	if len(words) > 4 {
		r.params = words[4:]
	}

	return r
}

// String is the request in one line, for tests and people.
func (r request) String() string {
	if r.script != "" {
		return strings.TrimSpace(r.script + " " + strings.Join(r.params, " "))
	}

	return strings.Join(r.args, " ")
}

// param is a parameter, empty where there is none.
func (r request) param(i int) string {
	if i < len(r.params) {
		return r.params[i]
	}

	return ""
}
