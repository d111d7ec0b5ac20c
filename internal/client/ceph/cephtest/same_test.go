// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// Two uuids and keys of OSDs that never start.
const (
	uuid1 = "6b1d1a2e-0000-4000-8000-000000000001"
	uuid2 = "6b1d1a2e-0000-4000-8000-000000000002"
	key1  = "AQBpKQRkAAAAABAAnRHLg2Y5ZkGfPTTg4ZbEVg=="
	key2  = "AQBpKQRkAAAAABAAmRHLg2Y5ZkGfPTTg4ZbEVg=="
)

// sameCase is a command that is sent through every transport, one after the other.
type sameCase struct {
	cmd   string
	in    string
	mgr   bool
	code  int
	words string // a part of the status
	out   string // a part of the output
	lax   bool   // outputs and words may differ: they hold what changes by itself, or the tool's own words
}

var sameCases = map[string]sameCase{
	"plain text":                   {cmd: `{"prefix":"fsid"}`, out: "-"},
	"JSON":                         {cmd: `{"prefix":"quorum_status","format":"json"}`, out: `"quorum_leader_name":"a"`, lax: true},
	"pretty JSON":                  {cmd: `{"prefix":"mon dump","format":"json-pretty"}`, out: `"mons": [`},
	"the status":                   {cmd: `{"prefix":"status","format":"json"}`, out: `"fsid"`, lax: true},
	"the OSD map":                  {cmd: `{"prefix":"osd dump","format":"json"}`, out: `"osds":[`},
	"the tree":                     {cmd: `{"prefix":"osd tree","format":"json"}`, out: `"stray":`},
	"the configuration":            {cmd: `{"prefix":"config dump","format":"json"}`},
	"versions":                     {cmd: `{"prefix":"versions","format":"json"}`, out: `"overall"`},
	"the manager map":              {cmd: `{"prefix":"mgr dump","format":"json"}`, out: `"active_name":"x"`, lax: true},
	"binary output":                {cmd: `{"prefix":"mon getmap"}`, words: "got monmap epoch 1"},
	"binary output and a format":   {cmd: `{"prefix":"mon getmap","format":"json"}`, words: "got monmap epoch 1"},
	"a parameter called entity":    {cmd: `{"prefix":"auth get","entity":"client.admin","format":"json"}`, out: `"key":"AQ`},
	"a parameter called id":        {cmd: `{"prefix":"osd find","id":1,"format":"json"}`, out: `"osd":1`},
	"a parameter called key":       {cmd: `{"prefix":"config get","who":"mon","key":"mon_allow_pool_delete"}`},
	"a list":                       {cmd: `{"prefix":"osd ok-to-stop","ids":["0"],"format":"json"}`, out: `"ok_to_stop":true`},
	"an OSD that is not there":     {cmd: `{"prefix":"osd ok-to-stop","ids":["77"],"format":"json"}`, out: `"ok_to_stop":true`},
	"a flag that is off":           {cmd: `{"prefix":"osd pool rm","pool":"none","pool2":"none","yes_i_really_really_mean_it":false}`, words: "pool 'none' does not exist"},
	"a flag that is on":            {cmd: `{"prefix":"osd purge","id":77,"yes_i_really_mean_it":true}`, mgr: true, words: "osd.77 does not exist"},
	"not permitted":                {cmd: `{"prefix":"osd pool rm","pool":"device_health_metrics"}`, code: -1, words: "WARNING: this will *PERMANENTLY DESTROY* all data"},
	"no such key":                  {cmd: `{"prefix":"auth get","entity":"client.nobody"}`, code: -2, words: "failed to find client.nobody in keyring"},
	"no such option":               {cmd: `{"prefix":"config set","who":"osd","name":"no_such_option","value":"1"}`, code: -22, words: "unrecognized config option 'no_such_option'"},
	"a value that is none":         {cmd: `{"prefix":"config set","who":"osd","name":"osd_max_backfills","value":"many"}`, code: -22, words: "error parsing value"},
	"no such command":              {cmd: `{"prefix":"osd nonsense"}`, code: -22, lax: true},
	"a parameter is missing":       {cmd: `{"prefix":"config set","who":"osd"}`, code: -22, lax: true},
	"a word of the wrong type":     {cmd: `{"prefix":"osd find","id":"x"}`, code: -22, lax: true},
	"busy":                         {cmd: `{"prefix":"osd purge","id":0,"yes_i_really_mean_it":true}`, mgr: true, code: -16, words: "osd.0 is not `down`"},
	"an OSD's place":               {cmd: `{"prefix":"osd crush set","id":1,"weight":0.01,"args":["root=default","host=elsewhere"]}`, words: "set item id 1 name 'osd.1' weight 0.01 at location {host=elsewhere,root=default}", lax: true},
	"an option with a class":       {cmd: `{"prefix":"config set","who":"osd/class:hdd","name":"osd_max_backfills","value":"2"}`},
	"capabilities with commas":     {cmd: `{"prefix":"auth get-or-create","entity":"client.c","caps":["mon","allow r, allow command \"osd ls\"","osd","allow rw pool=a, allow r pool=b"],"format":"json"}`, out: `"client.c"`},
	"capabilities without":         {cmd: `{"prefix":"auth get-or-create","entity":"client.d","caps":["mon","profile osd","mgr","allow r"],"format":"json"}`, out: `"client.d"`},
	"the capabilities that result": {cmd: `{"prefix":"auth get","entity":"client.c","format":"json"}`, out: `"osd":"allow rw pool=a, allow r pool=b"`},
	"input: a key for an OSD":      {cmd: `{"prefix":"osd new","uuid":"` + uuid1 + `"}`, in: `{"cephx_secret":"` + key1 + `"}`, out: "2"},
	"input: another key for it":    {cmd: `{"prefix":"osd new","uuid":"` + uuid1 + `"}`, in: `{"cephx_secret":"` + key2 + `"}`, code: -17, lax: true},
	"input: an OSD with a class":   {cmd: `{"prefix":"osd new","uuid":"` + uuid2 + `"}`, in: `{"cephx_secret":"` + key2 + `","crush_device_class":"ssd"}`, out: "3"},
	"input: a keyring":             {cmd: `{"prefix":"auth import"}`, in: "[client.i]\n\tkey = " + key1 + "\n\tcaps mon = \"allow r\"\n", words: "imported keyring"},
	"input: options":               {cmd: `{"prefix":"config assimilate-conf"}`, in: "[osd]\nosd_max_scrubs = 2\nno_such = 1\n", out: "no_such = 1"},
	"input: bytes":                 {cmd: `{"prefix":"config-key set","key":"t/bytes"}`, in: "a\x00b\xff\n\n", words: "set t/bytes"},
	"output: bytes":                {cmd: `{"prefix":"config-key get","key":"t/bytes"}`, out: "a\x00b\xff\n\n"},
	"empty input":                  {cmd: `{"prefix":"auth import"}`, in: "", code: -22, lax: true},
	"a manager's command":          {cmd: `{"prefix":"pg stat","format":"json"}`, mgr: true, out: "num_pgs", lax: true},
	"the same to the monitors":     {cmd: `{"prefix":"pg stat","format":"json"}`, out: "num_pgs", lax: true},
	"a module's command":           {cmd: `{"prefix":"balancer mode","mode":"none","target":["mon-mgr",""]}`, mgr: true},
	"a module says no":             {cmd: `{"prefix":"device info","devid":"nothing"}`, mgr: true, code: -2, words: "device nothing not found"},
	"input for a module": {
		cmd: `{"prefix":"crash post"}`, mgr: true,
		in: `{"crash_id":"2020-01-01T00:00:00.000000Z_6b1d1a2e-0000-4000-8000-000000000001","timestamp":"2020-01-01T00:00:00.000000Z","process_name":"ceph-osd","entity_name":"osd.0","ceph_version":"16","utsname_hostname":"h","utsname_sysname":"s","utsname_release":"r","utsname_version":"v","utsname_machine":"m"}`,
	},
}

// awkward are values that a shell, or the ceph tool, could take for something else.
var awkward = []string{
	"plain", "a b", "", "--id=1", "--key", "-x", "--", "a=b", "a,b", "'", `"`, `\`, "$HOME", "`id`", "*", "a\nb",
	"--yes-i-really-mean-it", "#", "true", "{}", "[1]", " ",
}

func sameAnswers(t *testing.T, one *acctest.One) {
	t.Helper()

	all := openAll(t, wayTo(one))

	names := make([]string, 0, len(sameCases))
	for name := range sameCases {
		names = append(names, name)
	}

	slices.Sort(names) // what an "input" case makes, and what shows it, stand in this order

	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			c := sameCases[name]
			first := c.send(t, all[0])

			c.judge(t, all[0].name, first)

			for _, other := range all[1:] {
				got := c.send(t, other)
				c.judge(t, other.name, got)

				if c.lax {
					continue
				}

				if !equal(got.Out, first.Out) {
					t.Errorf("%s answers %q, and %s %q", other.name, got.Out, all[0].name, first.Out)
				}

				if got.Status != first.Status {
					t.Errorf("%s says %q, and %s %q", other.name, got.Status, all[0].name, first.Status)
				}
			}
		})
	}

	t.Run("values that look like something else", func(t *testing.T) { sameValues(t, all) })
	t.Run("O-CEPH-02: a no keeps its reasons", func(t *testing.T) { sameRefusals(t, all) })
}

func (c sameCase) send(t *testing.T, to opened) api.Answer {
	t.Helper()

	var (
		a   api.Answer
		cmd = []byte(c.cmd)
	)

	switch in := []byte(c.in); {
	case c.mgr && c.in != "":
		a.Out, a.Status, a.Err = to.MgrCommandWithInputBuffer(t.Context(), [][]byte{cmd}, in)
	case c.mgr:
		a.Out, a.Status, a.Err = to.MgrCommand(t.Context(), [][]byte{cmd})
	case c.in != "":
		a.Out, a.Status, a.Err = to.MonCommandWithInputBuffer(t.Context(), cmd, in)
	default:
		a.Out, a.Status, a.Err = to.MonCommand(t.Context(), cmd)
	}

	return a
}

// judge compares an answer with what is expected of it.
func (c sameCase) judge(t *testing.T, who string, a api.Answer) {
	t.Helper()

	var failed *api.Error

	code := 0
	if errors.As(a.Err, &failed) {
		code = failed.Code
	} else if a.Err != nil {
		t.Fatalf("%s: %v", who, a.Err)
	}

	if code != c.code {
		t.Fatalf("%s: code %d (%v, %q), want %d", who, code, a.Err, a.Status, c.code)
	}

	if failed != nil && (failed.Status != a.Status || !strings.HasPrefix(c.cmd, `{"prefix":"`+failed.Command+`"`)) {
		t.Errorf("%s: the error is about %q and says %q; the status is %q", who, failed.Command, failed.Status, a.Status)
	}

	if !strings.Contains(a.Status, c.words) {
		t.Errorf("%s says %q, want %q", who, a.Status, c.words)
	}

	if !bytes.Contains(a.Out, []byte(c.out)) {
		t.Errorf("%s answers %q, want %q", who, a.Out, c.out)
	}
}

// equal compares outputs, as JSON where they are.
func equal(a, b []byte) bool {
	var x, y any

	if json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil {
		return reflect.DeepEqual(x, y)
	}

	return bytes.Equal(a, b)
}

func sameValues(t *testing.T, all []opened) {
	t.Helper()

	for i, value := range awkward {
		for _, c := range all {
			if c.name == "cli" && i%3 != 0 {
				continue // its processes take their time, and its words are tested without Ceph, too
			}

			key := fmt.Sprintf("t/%s/%d", c.name, i)

			set, err := json.Marshal(map[string]string{"prefix": "config-key set", "key": key, "val": value})
			if err != nil {
				t.Fatal(err)
			}

			if _, status, err := c.MonCommand(t.Context(), set); err != nil {
				t.Errorf("%s: %q: %v (%s)", c.name, value, err, status)

				continue
			}

			out, _, err := c.MonCommand(t.Context(), []byte(`{"prefix":"config-key get","key":"`+key+`"}`))
			if err != nil || string(out) != value {
				t.Errorf("%s: %q came back as %q: %v", c.name, value, out, err)
			}
		}
	}
}

// sameRefusals: ok-to-stop says no with EBUSY, in words, and why in JSON.
func sameRefusals(t *testing.T, all []opened) {
	t.Helper()

	for _, c := range all {
		out, status, err := c.MonCommand(t.Context(), []byte(`{"prefix":"osd ok-to-stop","ids":["0","1"],"format":"json"}`))

		var (
			refused *api.Error
			why     struct {
				OK   *bool    `json:"ok_to_stop"`
				OSDs []int    `json:"osds"`
				Bad  []string `json:"bad_become_inactive"`
			}
		)

		if !errors.Is(err, api.ErrBusy) || !errors.As(err, &refused) || !strings.HasPrefix(status, "unsafe to stop osd(s)") {
			t.Errorf("%s: %v, %q", c.name, err, status)

			continue
		}

		if err := json.Unmarshal(refused.Out, &why); err != nil || why.OK == nil || *why.OK || len(why.OSDs) != 2 || len(why.Bad) == 0 || !bytes.Equal(out, refused.Out) {
			t.Errorf("%s: the error keeps %q, the answer is %q: %v", c.name, refused.Out, out, err)
		}
	}
}
