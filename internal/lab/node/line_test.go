// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		line string
		want request
		fail bool
	}{
		"a wrapped program": {
			line: `env LC_ALL=C METAL3_RUN=ab A='b c' /bin/sh -c 'a '\''b'\''' metal3 ab 12 nvidia-smi -L ''`,
			want: request{token: "ab", stdin: 12, args: []string{"nvidia-smi", "-L", ""}},
		},
		"a script below sudo": {
			line: "env LC_ALL=C sudo -n -- env LC_ALL=C METAL3_RUN=ab /bin/sh -c x metal3 ab 0 /bin/sh -c '# metal3: gpu-pci\nexit' sh 'a b' c",
			want: request{token: "ab", script: "gpu-pci", params: []string{"a b", "c"}},
		},
		"a script without a name": {line: "/bin/sh -c 'exit 1'", want: request{script: "?"}},
		"the killer":              {line: "env LC_ALL=C /bin/sh -c x metal3-kill ab 20", want: request{kill: "ab"}},
		"a bare program":          {line: `uname\ -a`, want: request{args: []string{"uname -a"}}},
		"an open quote":           {line: "echo 'a", fail: true},
		"a second command":        {line: "true; id", fail: true},
		"a variable":              {line: `echo $HOME`, fail: true},
		"nothing":                 {line: "", fail: true},
		"nothing but a variable":  {line: "env A=b", fail: true},
		"a length that is none":   {line: "/bin/sh -c x metal3 ab many true", fail: true},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := parse(c.line)
			if (err != nil) != c.fail || !c.fail && (got.kill != c.want.kill || got.token != c.want.token || got.stdin != c.want.stdin ||
				got.script != c.want.script || !slices.Equal(got.args, c.want.args) || !slices.Equal(got.params, c.want.params)) {
				t.Errorf("got %+v %v, want %+v", got, err, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`env LC_ALL=C METAL3_RUN=ab /bin/sh -c 'x' metal3 ab 12 nvidia-smi drain -p 0000:1F:00.0 -r`)
	f.Add("/bin/sh -c '# metal3: gpu-holders' sh /dev/nvidia0 0")
	f.Add("chroot /run/nvidia/driver nvidia-smi -i x -pm 0")
	f.Add("'\\")
	f.Add("sh -c '# metal3: '")

	f.Fuzz(func(_ *testing.T, line string) {
		r, err := parse(line)
		if err == nil && r.kill == "" {
			v := &view{State: &State{GPUs: map[string]GPU{}, CXL: map[string]CXL{}}, name: "node-0"}
			_ = v.answer(r, nil)
		}
	})
}
