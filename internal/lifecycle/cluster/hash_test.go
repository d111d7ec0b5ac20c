// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
)

// TestTemplateHash_userData: what a version stands for is not looked at, and all beside it is.
func TestTemplateHash_userData(t *testing.T) {
	t.Parallel()

	marked := func(of bootstrap.UserData) cluster.Pool {
		return cluster.Pool{Name: "cp", Role: cluster.ControlPlane, UserDataMark: "version 1", UserData: of}
	}
	second := marked(bootstrap.UserData{Constant: "a"})
	second.UserDataMark = "version 2"

	for name, c := range map[string]struct {
		a, b  cluster.Pool
		equal bool
	}{
		"write-only user data that is there, and not": {marked(bootstrap.UserData{Constant: "a"}), marked(bootstrap.UserData{}), true},
		"another version":                               {marked(bootstrap.UserData{Constant: "a"}), second, false},
		"another template of the first machine":         {marked(bootstrap.UserData{InitTemplate: "a"}), marked(bootstrap.UserData{InitTemplate: "b"}), false},
		"another template of the others":                {marked(bootstrap.UserData{JoinTemplate: "a"}), marked(bootstrap.UserData{JoinTemplate: "b"}), false},
		"other user data of the first machine":          {marked(bootstrap.UserData{InitConstant: "a"}), marked(bootstrap.UserData{}), false},
		"both, with write-only user data that is not":   {marked(bootstrap.UserData{Constant: "a", JoinConstant: "b"}), marked(bootstrap.UserData{JoinConstant: "b"}), true},
		"other user data of all, without a version":     {cluster.Pool{UserData: bootstrap.UserData{Constant: "a"}}, cluster.Pool{UserData: bootstrap.UserData{Constant: "b"}}, false},
		"the same template of all, without a version":   {cluster.Pool{UserData: bootstrap.UserData{Template: "a"}}, cluster.Pool{UserData: bootstrap.UserData{Template: "a"}}, true},
		"user data of the others for that of the first": {cluster.Pool{UserData: bootstrap.UserData{InitConstant: "a"}}, cluster.Pool{UserData: bootstrap.UserData{JoinConstant: "a"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := wanted()
			if a, b := w.TemplateHash(c.a, "edge-cp-0"), w.TemplateHash(c.b, "edge-cp-0"); (a == b) != c.equal {
				t.Errorf("%s and %s", a, b)
			}
		})
	}
}
