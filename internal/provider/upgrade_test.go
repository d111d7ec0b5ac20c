// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// A state of today goes back as it came; any other goes through the framework.
func TestUpgradeResourceState(t *testing.T) {
	t.Parallel()

	const host = "metal3_baremetal_host"

	served := provider.NewServer("test")()

	schema, err := served.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}

	kind, version := schema.ResourceSchemas[host].ValueType(), schema.ResourceSchemas[host].Version

	for name, c := range map[string]struct {
		version     int64
		state       string
		short, fail bool
	}{
		"the state of today": {version, `{"id":"a","name":"n","labels":{"a":"b"},"online":true,"provisioning_attempts":2,"bmc":{"address":"x","password_wo_version":1},
			"ports":[{"mac":"52:54:00:00:00:01","pxe_enabled":true,"local_link":null}],"traits":["CUSTOM_A"],"hardware":null}`, true, false},
		"an attribute that is no more":           {version, `{"id":"a","name":"n","colour":"red"}`, false, false},
		"a nested attribute that is no more":     {version, `{"id":"a","bmc":{"address":"x","colour":"red"}}`, false, false},
		"an attribute of a list that is gone":    {version, `{"id":"a","ports":[{"mac":"52:54:00:00:00:01","colour":"red"}]}`, false, false},
		"a value of another kind":                {version, `{"id":"a","labels":["a"]}`, false, true},
		"a number where a text is":               {version, `{"id":1}`, false, false},
		"a version of the future":                {version + 1, `{"id":"a"}`, false, true},
		"what is no object":                      {version, `null`, false, false},
		"what is no JSON: the framework's words": {version, `{`, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			resp, err := served.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{
				TypeName: host, Version: c.version, RawState: &tfprotov6.RawState{JSON: []byte(c.state)},
			})
			if err != nil {
				t.Fatal(err)
			}

			if said := providertest.Errors(resp.Diagnostics); (said != "") != c.fail {
				t.Fatalf("said %q", said)
			}

			if c.fail {
				return
			}

			if short := resp.UpgradedState.MsgPack == nil; short != c.short {
				t.Errorf("the short way: %v", short)
			}

			if _, err := resp.UpgradedState.Unmarshal(kind); err != nil {
				t.Errorf("no state of the resource: %v", err)
			}
		})
	}
}
