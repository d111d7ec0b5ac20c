// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/cli"
)

func TestWords_ofCommands(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		cmd  string
		want string // words, with | between them; "" is an error
	}{
		"a prefix alone":              {`{"prefix":"quorum_status"}`, "--|quorum_status"},
		"a format is an option":       {`{"prefix":"osd dump","format":"json"}`, "--format|json|--|osd|dump"},
		"parameters have their names": {`{"prefix":"config set","who":"osd.1","name":"x","value":"a b"}`, "--|config|set|--who|osd.1|--name|x|--value|a b"},
		"their order is kept":         {`{"value":1,"prefix":"p","b":2,"a":3}`, "--|p|--value|1|--b|2|--a|3"},
		"numbers are as written":      {`{"prefix":"p","weight":0.50000,"id":-1,"big":12345678901234567890}`, "--|p|--weight|0.50000|--id|-1|--big|12345678901234567890"},
		"flags":                       {`{"prefix":"p","yes_i_really_mean_it":true,"force":false}`, "--|p|--yes_i_really_mean_it=true|--force=false"},
		"nothing is left out":         {`{"prefix":"p","a":null,"b":""}`, "--|p|--b|"},
		"a list":                      {`{"prefix":"p","ids":["1",2],"sure":"--yes"}`, "--|p|--ids|1|--ids|2|--sure|--yes"},
		"an empty list":               {`{"prefix":"p","ids":[]}`, "--|p"},
		"a list with commas":          {`{"prefix":"p","caps":["mon","allow r, allow w"],"entity":"x"}`, "--|p|--entity|x|mon|allow r, allow w"},
		"a text with commas":          {`{"prefix":"p","a":"1,2"}`, "--|p|--a|1,2"},
		"a mark for the manager":      {`{"prefix":"p","target":["mon-mgr",""]}`, "--|p"},
		"two commands of one name":    {`{"args":["root=default","host=h"],"id":1,"prefix":"osd crush set","weight":0.5}`, "--|osd|crush|set|1|0.5|root=default|host=h"},
		"the other one":               {`{"prefix":"osd crush set"}`, "--|osd|crush|set"},
		"consent of older releases":   {`{"prefix":"osd pool rm","pool":"a","pool2":"a","sure":"--yes-i-really-really-mean-it"}`, "--|osd|pool|rm|--pool|a|--pool2|a|--yes-i-really-really-mean-it"},
		"a value that looks like it":  {`{"prefix":"config-key set","key":"a","val":"--yes-i-really-mean-it"}`, "--|config-key|set|--key|a|--val|--yes-i-really-mean-it"},
		"no JSON":                     {`prefix`, ""},
		"no object":                   {`["prefix"]`, ""},
		"half an object":              {`{"prefix":"p","a":`, ""},
		"no prefix":                   {`{"a":1}`, ""},
		"a prefix that is no text":    {`{"prefix":1}`, ""},
		"an object in it":             {`{"prefix":"p","a":{"b":1}}`, ""},
		"a list in a list":            {`{"prefix":"p","a":[["b"]]}`, ""},
		"two lists with commas":       {`{"prefix":"p","a":["b,c"],"d":["e,f"]}`, ""},
		"a format that is none":       {`{"prefix":"p","format":"toml"}`, ""},
		"an OSD as target":            {`{"prefix":"p","target":["osd","1"]}`, ""},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			words, err := cli.Words([]byte(c.cmd))
			if c.want == "" {
				if !errors.Is(err, api.ErrInvalid) {
					t.Errorf("%q, %v", words, err)
				}

				return
			}

			got := strings.TrimPrefix(strings.Join(words, "|"), "ceph|--connect-timeout|1|--rados_mon_op_timeout=60|")
			if err != nil || got != c.want {
				t.Errorf("%q, want %q: %v", got, c.want, err)
			}
		})
	}
}

// The corpus' output, and what else the tool of 16.2.15 leaves.
func TestAnswers_ofTheTool(t *testing.T) {
	t.Parallel()

	const busy = "\n{\"ok_to_stop\":false}\n"

	cases := map[string]struct {
		cmd    string
		left   cli.Result
		out    string
		status string
		want   error
	}{
		"JSON behind an empty line":  {left: cli.Result{Stdout: []byte("\n{\"a\":1}")}, out: `{"a":1}`},
		"JSON without one":           {left: cli.Result{Stdout: []byte(`{"a":1}`)}, out: `{"a":1}`},
		"plain text stays":           {cmd: `{"prefix":"x"}`, left: cli.Result{Stdout: []byte("\na\n")}, out: "\na\n"},
		"words":                      {left: cli.Result{Stderr: []byte("\x1b[0;31mnoout is set\x1b[0m\n")}, status: "noout is set"},
		"words of its log are none":  {left: cli.Result{Stderr: []byte("2024-02-03T04:05:06.789+0000 7f8a3179b6c0 -1 auth: val=xxx\n\nset\n")}, status: "set"},
		"O-CEPH-02: a refusal":       {left: cli.Result{Stdout: []byte(busy), Stderr: []byte("Error EBUSY: unsafe to stop osd(s)\n"), Exit: 16}, out: busy[1:], status: "unsafe to stop osd(s)", want: api.ErrBusy},
		"O-CEPH-02: without output":  {left: cli.Result{Stderr: []byte("Error EBUSY: no\n"), Exit: 16}, status: "no", want: api.ErrBusy},
		"O-CEPH-02: nothing but 110": {left: cli.Result{Stderr: []byte("Error ETIMEDOUT: \n"), Exit: 110}, want: api.ErrTimedOut},
		"words of several lines":     {left: cli.Result{Stderr: []byte("a warning\nError ENOENT: one\ntwo\n"), Exit: 2}, status: "one\ntwo", want: api.ErrNotFound},
		"not permitted":              {left: cli.Result{Stderr: []byte("Error EPERM: pool deletion is disabled\n"), Exit: 1}, status: "pool deletion is disabled", want: &api.Error{Code: -1}},
		"a code without a name":      {left: cli.Result{Stderr: []byte("Error Unknown: x\n"), Exit: 41}, status: "x", want: &api.Error{Code: -41}},
		"the tool's own no":          {left: cli.Result{Stderr: []byte("Invalid command: missing required parameter pool\nosd pool rm <pool>\nError EINVAL: invalid command\n"), Exit: 22}, status: "Invalid command: missing required parameter pool\nosd pool rm <pool>", want: api.ErrInvalid},
		"no monitor":                 {left: cli.Result{Stderr: []byte("timed out\n"), Exit: 1}, status: "timed out", want: api.ErrNoQuorum},
		"no monitor, with a number":  {left: cli.Result{Stderr: []byte("[errno 110] RADOS timed out (error connecting to the cluster)\n"), Exit: 1}, status: "[errno 110] RADOS timed out (error connecting to the cluster)", want: api.ErrNoQuorum},
		"no monitor, in old words":   {left: cli.Result{Stderr: []byte("[errno 2] error connecting to the cluster\n"), Exit: 1}, status: "[errno 2] error connecting to the cluster", want: api.ErrNotFound},
		"interrupted":                {left: cli.Result{Stderr: []byte("Cluster connection interrupted or timed out\n"), Exit: 1}, status: "Cluster connection interrupted or timed out", want: api.ErrNoQuorum},
		"a key that is not taken":    {left: cli.Result{Stderr: []byte("[errno 13] RADOS permission denied (error connecting to the cluster)\n"), Exit: 13}, status: "[errno 13] RADOS permission denied (error connecting to the cluster)", want: api.ErrPermission},
		"no ceph.conf":               {left: cli.Result{Stderr: []byte("Error initializing cluster client: ObjectNotFound('RADOS object not found')\n"), Exit: 1}, status: "Error initializing cluster client: ObjectNotFound('RADOS object not found')", want: api.ErrNotFound},
		"no tool":                    {left: cli.Result{Stderr: []byte("sh: ceph: not found\n"), Exit: 127}, status: "sh: ceph: not found", want: api.ErrNoTool},
		"a tool that may not run":    {left: cli.Result{Exit: 126}, want: api.ErrNoTool},
		"ended by a signal":          {left: cli.Result{Exit: 137}, want: api.ErrLost},
		"a traceback":                {left: cli.Result{Stderr: []byte("Traceback\nValueError: x\n"), Exit: 1}, status: "Traceback\nValueError: x", want: &api.Error{Code: -5}},
		"its usage":                  {left: cli.Result{Stderr: []byte("usage: ceph [-h]\n"), Exit: 2}, status: "usage: ceph [-h]", want: api.ErrInvalid},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if c.cmd == "" {
				c.cmd = `{"prefix":"osd x","format":"json"}`
			}

			out, status, err := cli.AnswerTo([]byte(c.cmd), c.left)
			if string(out) != c.out || status != c.status || !errors.Is(err, c.want) {
				t.Errorf("%q %q %v, want %q %q %v", out, status, err, c.out, c.status, c.want)
			}
		})
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{`{"prefix":"osd dump","format":"json"}`, `{"prefix":"p","a":[1,"b,c",null,true]}`, `{"prefix":"p","target":"mgr"}`, "{", "", "{}", `{"prefix":"\ud800"}`} {
		f.Add([]byte(seed))
	}

	f.Fuzz(func(t *testing.T, cmd []byte) {
		words, err := cli.Words(cmd)
		if err == nil && (len(words) < 6 || !slices.Contains(words, "--")) {
			t.Errorf("%q", words)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("\n{}"), []byte("Error EBUSY: x"), 16)
	f.Add([]byte(""), []byte("[errno 999999] \x1b[0m"), 1)
	f.Add([]byte(""), []byte("timed out"), -1)

	f.Fuzz(func(t *testing.T, out, said []byte, exit int) {
		_, _, err := cli.AnswerTo([]byte(`{"prefix":"p","format":"json"}`), cli.Result{Stdout: out, Stderr: said, Exit: exit})
		if (err == nil) != (exit == 0) {
			t.Errorf("status %d: %v", exit, err)
		}
	})
}

func FuzzOutputs(f *testing.F) {
	f.Add([]byte("eA==\nM\nM\n"), []byte("words\nM 0\n\nM 2\n"), 2)
	f.Add([]byte("%\nM\n"), []byte("\nM x\n"), 1)

	f.Fuzz(func(t *testing.T, out, said []byte, n int) {
		if n < 0 || n > 100 {
			return
		}

		got, err := cli.Outputs(n, "M", cli.Result{Stdout: out, Stderr: said})
		if err == nil && got != n {
			t.Errorf("%d answers to %d commands", got, n)
		}
	})
}
