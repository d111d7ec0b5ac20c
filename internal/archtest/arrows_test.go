// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"strings"
	"testing"
)

// ours is the module's path; the house under test has the same.
const ours = "github.com/terraform-metal3/terraform-provider-metal3"

// arrow is one import: a file of a room, and what it imports. A path that
// begins with "internal/" is ours.
type arrow struct {
	from, to string
}

// wrong lists one import of each kind that the house forbids.
func wrong() map[string]arrow {
	return map[string]arrow{
		"main imports a room":                        {"main.go", "internal/resources/baremetalhost"},
		"main imports the lab":                       {"main.go", "internal/lab/ironic"},
		"provider imports test helpers":              {"internal/provider/x.go", "internal/acctest"},
		"provider speaks to Ironic itself":           {"internal/provider/x.go", "github.com/gophercloud/gophercloud/v2"},
		"provider speaks to a BMC itself":            {"internal/provider/x.go", "github.com/stmcginnis/gofish"},
		"a resource imports the provider":            {"internal/resources/baremetalhost/x.go", "internal/provider"},
		"a resource imports another resource":        {"internal/resources/baremetalhost/x.go", "internal/resources/cluster"},
		"a resource imports a data source":           {"internal/resources/baremetalhost/x.go", "internal/datasources/host"},
		"a resource imports an action":               {"internal/resources/baremetalhost/x.go", "internal/actions"},
		"a fabric's driver imports another client":   {"internal/client/fabric/ftifm/x.go", "internal/client/remote"},
		"remote imports a fabric":                    {"internal/client/remote/x.go", "internal/client/fabric"},
		"a device imports a host":                    {"internal/lifecycle/device/x.go", "internal/lifecycle/host"},
		"a device speaks SSH itself":                 {"internal/lifecycle/device/gpu/onssh/x.go", "golang.org/x/crypto/ssh"},
		"placement knows the time":                   {"internal/lifecycle/device/machine_place.go", "time"},
		"a Ceph pool imports the cluster":            {"internal/resources/cephpool/x.go", "internal/resources/cephcluster"},
		"an ephemeral resource speaks to Ceph":       {"internal/ephemerals/cephkeyring/x.go", "github.com/ceph/go-ceph/rados"},
		"a data source speaks to Ceph itself":        {"internal/datasources/cephstatus/x.go", "github.com/ceph/go-ceph/rados"},
		"provider speaks to Ceph itself":             {"internal/provider/x.go", "github.com/ceph/go-ceph/rados"},
		"a resource imports the lab":                 {"internal/resources/baremetalhost/x.go", "internal/lab/ironic"},
		"a resource imports test helpers":            {"internal/resources/baremetalhost/x.go", "internal/acctest"},
		"a resource speaks HTTP":                     {"internal/resources/baremetalhost/x.go", "net/http"},
		"a resource speaks to Ironic itself":         {"internal/resources/baremetalhost/x.go", "github.com/gophercloud/gophercloud/v2"},
		"a resource speaks to a BMC itself":          {"internal/resources/baremetalhost/x.go", "github.com/stmcginnis/gofish"},
		"a resource speaks SSH itself":               {"internal/resources/cephcluster/x.go", "golang.org/x/crypto/ssh"},
		"a resource speaks to Ceph itself":           {"internal/resources/cephcluster/x.go", "github.com/ceph/go-ceph"},
		"a data source imports another data source":  {"internal/datasources/hosts/x.go", "internal/datasources/host"},
		"a data source imports a resource":           {"internal/datasources/hosts/x.go", "internal/resources/baremetalhost"},
		"a data source imports the lab":              {"internal/datasources/hosts/x.go", "internal/lab/bmc"},
		"an action imports a resource":               {"internal/actions/x.go", "internal/resources/baremetalhost"},
		"an ephemeral resource imports the provider": {"internal/ephemerals/x.go", "internal/provider"},
		"a function imports a client":                {"internal/functions/x.go", "internal/client/ironic"},
		"a function imports a resource":              {"internal/functions/x.go", "internal/resources/baremetalhost"},
		"a function speaks HTTP":                     {"internal/functions/x.go", "net/http"},

		"the loop imports a machine":            {"internal/lifecycle/drive.go", "internal/lifecycle/host"},
		"the loop imports the framework":        {"internal/lifecycle/drive.go", "github.com/hashicorp/terraform-plugin-framework/diag"},
		"a lifecycle imports a resource":        {"internal/lifecycle/host/x.go", "internal/resources/baremetalhost"},
		"a lifecycle imports the provider":      {"internal/lifecycle/host/x.go", "internal/provider"},
		"a lifecycle imports custom types":      {"internal/lifecycle/host/x.go", "internal/value"},
		"a lifecycle imports the framework":     {"internal/lifecycle/host/x.go", "github.com/hashicorp/terraform-plugin-framework/types"},
		"a lifecycle imports the protocol":      {"internal/lifecycle/host/x.go", "github.com/hashicorp/terraform-plugin-go/tfprotov6"},
		"a lifecycle imports the lab":           {"internal/lifecycle/host/x.go", "internal/lab/ironic"},
		"a lifecycle speaks to Ironic itself":   {"internal/lifecycle/host/x.go", "github.com/gophercloud/gophercloud/v2"},
		"a lifecycle speaks HTTP":               {"internal/lifecycle/host/x.go", "net/http"},
		"the host imports another lifecycle":    {"internal/lifecycle/host/x.go", "internal/lifecycle/cluster"},
		"the cluster imports another than host": {"internal/lifecycle/cluster/x.go", "internal/lifecycle/ceph"},
		"Ceph imports another lifecycle":        {"internal/lifecycle/ceph/x.go", "internal/lifecycle/host"},
		"Ceph imports a device":                 {"internal/lifecycle/ceph/onhost/x.go", "internal/lifecycle/device"},
		"Ceph imports a resource":               {"internal/lifecycle/ceph/x.go", "internal/resources/cephcluster"},
		"Ceph imports the framework":            {"internal/lifecycle/ceph/x.go", "github.com/hashicorp/terraform-plugin-framework/diag"},
		"Ceph's steps speak to librados":        {"internal/lifecycle/ceph/x.go", "github.com/ceph/go-ceph/rados"},
		"Ceph's steps speak SSH themselves":     {"internal/lifecycle/ceph/onhost/x.go", "golang.org/x/crypto/ssh"},
		"another lifecycle imports Ceph":        {"internal/lifecycle/host/x.go", "internal/lifecycle/ceph"},
		"a new lifecycle imports another":       {"internal/lifecycle/new/x.go", "internal/lifecycle/device"},

		"addresses know a file":                     {"internal/lifecycle/cluster/addresses/x.go", "os"},
		"addresses know hosts":                      {"internal/lifecycle/cluster/addresses/x.go", "internal/lifecycle/host"},
		"data templates speak HTTP":                 {"internal/lifecycle/cluster/datatemplate/x.go", "net/http"},
		"data templates ask a client":               {"internal/lifecycle/cluster/datatemplate/x.go", "internal/client/ironic"},
		"choosing waits":                            {"internal/lifecycle/cluster/choose/x.go", "internal/wait"},
		"choosing asks a client":                    {"internal/lifecycle/cluster/choose/x.go", "internal/client/ironic"},
		"choosing takes steps on hosts":             {"internal/lifecycle/cluster/choose/x.go", "internal/lifecycle/host/onironic"},
		"choosing imports the cluster":              {"internal/lifecycle/cluster/choose/x.go", "internal/lifecycle/cluster"},
		"a bootstrap runs commands":                 {"internal/lifecycle/cluster/bootstrap/x.go", "os/exec"},
		"a bootstrap asks the cluster":              {"internal/lifecycle/cluster/bootstrap/x.go", "internal/client/kube"},
		"a part of a bootstrap has a context":       {"internal/lifecycle/cluster/bootstrap/bounded/x.go", "context"},
		"a bootstrap imports the cluster":           {"internal/lifecycle/cluster/bootstrap/x.go", "internal/lifecycle/cluster"},
		"Nodes speak to the cluster themselves":     {"internal/lifecycle/cluster/nodes/x.go", "k8s.io/client-go/kubernetes"},
		"a device speaks to the cluster itself":     {"internal/lifecycle/device/workload/x.go", "k8s.io/client-go/rest"},
		"a room speaks to the cluster itself":       {"internal/resources/clusternodes/x.go", "k8s.io/client-go/tools/clientcmd"},
		"provider speaks to the cluster itself":     {"internal/provider/x.go", "k8s.io/client-go/rest"},
		"test helpers speak to the cluster":         {"internal/acctest/kube/x.go", "k8s.io/client-go/rest"},
		"a custom type speaks to the cluster":       {"internal/value/x.go", "k8s.io/client-go/rest"},
		"the cluster's client imports a lifecycle":  {"internal/client/kube/x.go", "internal/lifecycle/cluster/nodes"},
		"the cluster's client imports a resource":   {"internal/client/kube/x.go", "internal/resources/cluster"},
		"the cluster's client imports the provider": {"internal/client/kube/etcd/x.go", "internal/provider"},
		"the cluster's client imports another":      {"internal/client/kube/x.go", "internal/client/ironic"},
		"the cluster's client imports framework":    {"internal/client/kube/x.go", "github.com/hashicorp/terraform-plugin-framework/types"},
		"another client imports the cluster's":      {"internal/client/remote/x.go", "internal/client/kube"},

		"a machine imports the network":          {"internal/lifecycle/host/machine.go", "net"},
		"a machine imports HTTP":                 {"internal/lifecycle/host/machine_table.go", "net/http"},
		"a machine imports files":                {"internal/lifecycle/host/machine.go", "os"},
		"a machine imports commands":             {"internal/lifecycle/ceph/machine.go", "os/exec"},
		"a machine imports the clock":            {"internal/lifecycle/host/machine.go", "time"},
		"a machine imports a context":            {"internal/lifecycle/device/machine.go", "context"},
		"a machine imports waiting":              {"internal/lifecycle/cluster/machine.go", "internal/wait"},
		"a machine imports logging":              {"internal/lifecycle/host/machine.go", "log/slog"},
		"a machine imports chance":               {"internal/lifecycle/host/machine.go", "math/rand/v2"},
		"a machine imports anything Terraform's": {"internal/lifecycle/host/machine.go", "github.com/hashicorp/terraform-plugin-log/tflog"},

		"a machine imports SSH":                 {"internal/lifecycle/ceph/machine_mons.go", "golang.org/x/crypto/ssh"},
		"a machine of Ceph's imports the clock": {"internal/lifecycle/ceph/machine_upgrade.go", "time"},
		"a machine of devices imports files":    {"internal/lifecycle/device/machine_devices.go", "os"},

		"Ceph's client imports remote":        {"internal/client/ceph/bridge/x.go", "internal/client/remote"},
		"Ceph's client speaks SSH":            {"internal/client/ceph/bridge/x.go", "golang.org/x/crypto/ssh"},
		"Ceph's client imports a lifecycle":   {"internal/client/ceph/x.go", "internal/lifecycle/ceph"},
		"Ceph's client imports the framework": {"internal/client/ceph/x.go", "github.com/hashicorp/terraform-plugin-framework/types"},
		"Ceph's client imports the lab":       {"internal/client/ceph/x.go", "internal/lab/node"},
		"remote imports Ceph's client":        {"internal/client/remote/x.go", "internal/client/ceph"},
		"a fabric imports Ceph's client":      {"internal/client/fabric/x.go", "internal/client/ceph"},
		"remote links with librados":          {"internal/client/remote/x.go", "github.com/ceph/go-ceph/rados"},
		"a client imports another client":     {"internal/client/ironic/x.go", "internal/client/bmc"},
		"a BMC client imports Ironic's":       {"internal/client/bmc/x.go", "internal/client/ironic"},
		"a new client imports another":        {"internal/client/fabric/x.go", "internal/client/ironic"},
		"the transport imports a client":      {"internal/client/transport/x.go", "internal/client/ironic"},
		"the transport imports a fabric":      {"internal/client/transport/x.go", "internal/client/fabric"},
		"a client imports a lifecycle":        {"internal/client/ironic/x.go", "internal/lifecycle/host"},
		"a client imports the loop":           {"internal/client/ironic/x.go", "internal/lifecycle"},
		"a client imports a resource":         {"internal/client/bmc/x.go", "internal/resources/baremetalhost"},
		"a client imports the framework":      {"internal/client/ironic/x.go", "github.com/hashicorp/terraform-plugin-framework/diag"},
		"a client imports the lab":            {"internal/client/ironic/x.go", "internal/lab/ironic"},
		"a client imports another's library":  {"internal/client/bmc/x.go", "github.com/gophercloud/gophercloud/v2"},
		"Ironic's client imports a BMC's":     {"internal/client/ironic/x.go", "github.com/stmcginnis/gofish"},
		"wait imports a client":               {"internal/wait/x.go", "internal/client/ironic"},
		"wait imports a library":              {"internal/wait/x.go", "github.com/hashicorp/terraform-plugin-log/tflog"},
		"wait imports HTTP":                   {"internal/wait/x.go", "net/http"},
		"a custom type imports a client":      {"internal/value/types.go", "internal/client/ironic"},
		"a custom type imports a conversion":  {"internal/value/types.go", "internal/value/hostvalue"},
		"a conversion imports a resource":     {"internal/value/hostvalue/x.go", "internal/resources/baremetalhost"},
		"a lifecycle imports a conversion":    {"internal/lifecycle/host/x.go", "internal/value/hostvalue"},
		"the lab imports the provider":        {"internal/lab/ironic/x.go", "internal/provider"},
		"the lab imports a client":            {"internal/lab/ironic/x.go", "internal/client/ironic"},
		"the lab imports a lifecycle":         {"internal/lab/cmd/metal3-lab/x.go", "internal/lifecycle/host"},
		"the lab imports the framework":       {"internal/lab/bmc/x.go", "github.com/hashicorp/terraform-plugin-framework/types"},
		"test helpers import a resource":      {"internal/acctest/x.go", "internal/resources/baremetalhost"},
		"schemajson imports a resource":       {"internal/schemajson/x.go", "internal/resources/baremetalhost"},
		"a room without a rule imports a lab": {"internal/somewhere/x.go", "internal/lab/ironic"},
		"served code imports test helpers":    {"internal/somewhere/x.go", "internal/acctest"},
		"served code imports the test frame":  {"internal/lab/node/x.go", "github.com/hashicorp/terraform-plugin-testing/helper/resource"},
	}
}

// right lists the arrows that the house is made of.
func right() map[string]arrow {
	return map[string]arrow{
		"main serves the provider":               {"main.go", "internal/provider"},
		"provider lists the resources":           {"internal/provider/x.go", "internal/resources/baremetalhost"},
		"provider lists the data sources":        {"internal/provider/x.go", "internal/datasources/host"},
		"provider lists the actions":             {"internal/provider/x.go", "internal/actions"},
		"provider builds clients":                {"internal/provider/x.go", "internal/client/ironic"},
		"provider starts the lab":                {"internal/provider/x.go", "internal/lab/ironic"},
		"a resource drives a lifecycle":          {"internal/resources/baremetalhost/x.go", "internal/lifecycle/host"},
		"a resource names a client's types":      {"internal/resources/baremetalhost/x.go", "internal/client/ironic"},
		"a resource uses custom types":           {"internal/resources/baremetalhost/x.go", "internal/value"},
		"a resource uses the framework":          {"internal/resources/baremetalhost/x.go", "github.com/hashicorp/terraform-plugin-framework/types"},
		"a data source asks a client":            {"internal/datasources/hosts/x.go", "internal/client/ironic"},
		"a data source uses a conversion":        {"internal/datasources/hosts/x.go", "internal/value/hostvalue"},
		"a conversion knows what it converts":    {"internal/value/hostvalue/x.go", "internal/lifecycle/host"},
		"a function uses pure parts":             {"internal/functions/x.go", "internal/lifecycle/host"},
		"a machine's steps use the loop":         {"internal/lifecycle/host/x.go", "internal/lifecycle"},
		"a machine's steps use a client":         {"internal/lifecycle/host/x.go", "internal/client/ironic"},
		"steps know the time":                    {"internal/lifecycle/host/x.go", "time"},
		"steps log":                              {"internal/lifecycle/host/x.go", "github.com/hashicorp/terraform-plugin-log/tflog"},
		"the loop waits":                         {"internal/lifecycle/drive.go", "internal/wait"},
		"a machine formats and compares":         {"internal/lifecycle/host/machine.go", "strings"},
		"a cluster provisions through the host":  {"internal/lifecycle/cluster/x.go", "internal/lifecycle/host"},
		"a cluster uses its pure parts":          {"internal/lifecycle/cluster/x.go", "internal/lifecycle/cluster/choose"},
		"choosing knows what was seen":           {"internal/lifecycle/cluster/choose/x.go", "internal/lifecycle/host"},
		"data templates use addresses":           {"internal/lifecycle/cluster/datatemplate/x.go", "internal/lifecycle/cluster/addresses"},
		"a bootstrap uses its parts":             {"internal/lifecycle/cluster/bootstrap/x.go", "internal/lifecycle/cluster/bootstrap/bounded"},
		"Nodes ask the cluster's client":         {"internal/lifecycle/cluster/nodes/x.go", "internal/client/kube"},
		"the cluster's client uses its library":  {"internal/client/kube/x.go", "k8s.io/client-go/rest"},
		"a part of it uses the shared transport": {"internal/client/kube/etcd/x.go", "internal/client/transport"},
		"a client waits":                         {"internal/client/ironic/x.go", "internal/wait"},
		"a client uses the shared transport":     {"internal/client/remote/x.go", "internal/client/transport"},
		"a fabric's driver uses what they share": {"internal/client/fabric/ftifm/x.go", "internal/client/fabric"},
		"a fabric uses the shared transport":     {"internal/client/fabric/x.go", "internal/client/transport"},
		"remote speaks SSH":                      {"internal/client/remote/x.go", "golang.org/x/crypto/ssh"},
		"a device's steps use a client":          {"internal/lifecycle/device/gpu/onssh/x.go", "internal/client/remote"},
		"a device uses its parts":                {"internal/lifecycle/device/x.go", "internal/lifecycle/device/gpu"},
		"Ceph's steps use two clients":           {"internal/lifecycle/ceph/onhost/x.go", "internal/client/remote"},
		"Ceph's steps ask its client":            {"internal/lifecycle/ceph/x.go", "internal/client/ceph"},
		"Ceph uses its parts":                    {"internal/lifecycle/ceph/onhost/x.go", "internal/lifecycle/ceph"},
		"a transport of Ceph's uses its shapes":  {"internal/client/ceph/bridge/x.go", "internal/client/ceph"},
		"a transport of Ceph's links librados":   {"internal/client/ceph/rados/x.go", "github.com/ceph/go-ceph/rados"},
		"a resource drives Ceph":                 {"internal/resources/cephcluster/x.go", "internal/lifecycle/ceph"},
		"Ironic's client uses its library":       {"internal/client/ironic/x.go", "github.com/gophercloud/gophercloud/v2"},
		"a BMC's client uses its library":        {"internal/client/bmc/x.go", "github.com/stmcginnis/gofish"},
		"wait uses the standard library":         {"internal/wait/x.go", "time"},
		"the lab's rooms share a memory":         {"internal/lab/ironic/x.go", "internal/lab/store"},
		"the lab's command serves the lab":       {"internal/lab/cmd/metal3-lab/x.go", "internal/lab/bmc"},
		"test helpers start the lab":             {"internal/acctest/x.go", "internal/lab/ironic"},
		"test helpers use the test framework":    {"internal/acctest/x.go", "github.com/hashicorp/terraform-plugin-testing/helper/resource"},
		"schemajson asks the provider":           {"internal/schemajson/x.go", "internal/provider"},
		"a test sees the house from outside":     {"internal/client/ironic/x_test.go", "internal/lab/ironic"},
		"a test of a resource uses test helpers": {"internal/resources/baremetalhost/x_test.go", "internal/acctest"},
	}
}

// TestArrows_wrongImportIsRefused writes every import of both lists into a
// copy of the house that holds nothing else, and lints it once.
func TestArrows_wrongImportIsRefused(t *testing.T) {
	t.Parallel()

	house := newHouse(t, linter(t))
	files := map[string]string{} // file -> case

	for name, a := range wrong() {
		files[house.add(t, name, a)] = name
	}

	for name, a := range right() {
		files[house.add(t, name, a)] = name
	}

	reports := house.lint(t)

	for file, name := range files {
		_, isWrong := wrong()[name]

		t.Run(name, func(t *testing.T) {
			t.Parallel()

			switch report := strings.Join(reports[file], "\n"); {
			case isWrong && report == "":
				t.Errorf("the linter lets %+v pass", wrong()[name])
			case !isWrong && report != "":
				t.Errorf("the linter refuses %+v: %s", right()[name], report)
			}
		})
	}
}
