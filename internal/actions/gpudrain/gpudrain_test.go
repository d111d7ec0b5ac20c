// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpudrain_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

type block = providertest.Map

const uuid = "GPU-a83da4d9-d250-ff86-30e7-352b57eb9202"

func node() block { return block{"host": "node-0.lab"} }

// TestDrain_refusals is what is refused before anybody is asked.
func TestDrain_refusals(t *testing.T) {
	t.Parallel()

	lab := block{"lab": block{"dir": t.TempDir()}}

	for name, c := range map[string]struct {
		provider, config block
		says             []string
	}{
		"no GPU":            {lab, block{"node": node()}, []string{"device_id", "pci_bus_id"}},
		"an empty GPU":      {lab, block{"node": node(), "device_id": ""}, []string{`AttributeName("device_id")`}},
		"no PCI address":    {lab, block{"node": node(), "pci_bus_id": "1f:00"}, []string{`AttributeName("pci_bus_id")`, "0000:1f:00.0"}},
		"no host":           {lab, block{"node": block{"user": "root"}, "device_id": uuid}, []string{`AttributeName("host")`}},
		"no connection":     {lab, block{"node": block{"type": "none"}, "device_id": uuid}, []string{`AttributeName("type")`}},
		"a host with port":  {lab, block{"node": block{"host": "ssh://h:22"}, "device_id": uuid}, []string{`AttributeName("host")`}},
		"opposites":         {lab, block{"node": node(), "device_id": uuid, "undrain": true, "remove": true}, []string{`AttributeName("remove")`, "undrain"}},
		"other opposites":   {lab, block{"node": node(), "device_id": uuid, "undrain": true, "force": true}, []string{`AttributeName("force")`, "undrain"}},
		"no time":           {lab, block{"node": node(), "device_id": uuid, "timeout": "0s"}, []string{`AttributeName("timeout")`}},
		"two keys":          {lab, block{"node": block{"host": "h", "private_key": "k", "private_key_file": "f"}, "device_id": uuid}, []string{"private_key_file"}},
		"an unknown user":   {block{"ssh": block{"user": providertest.Unknown{}}}, block{"node": node(), "device_id": uuid}, []string{"cannot be reached", "ssh.user"}},
		"an outsider":       {lab, block{"node": block{"host": "real.test"}, "device_id": uuid}, []string{"real.test", "no such host"}},
		"a machine too far": {lab, block{"node": block{"host": "node-99.lab"}, "device_id": uuid}, []string{"node-99.lab"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := providertest.NewServer(t)
			if text := providertest.Errors(s.Configure(t, c.provider)); text != "" {
				t.Fatal(text)
			}

			_, diags := s.Invoke(t, "metal3_gpu_drain", c.config)

			text := providertest.Errors(diags)
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %q", want, text)
				}
			}
		})
	}
}
