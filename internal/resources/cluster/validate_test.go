// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// Map is an object of a configuration.
type Map = map[string]any

const theCluster = "metal3_cluster"

// Values of configurations.
const (
	theImage  = "http://images.lab/debian-12.qcow2"
	otherSums = "http://images.lab/SHA256SUMS"
)

func merged(m Map, parts ...Map) Map {
	for _, p := range parts {
		for k, v := range p {
			m[k] = v
		}
	}

	return m
}

func image(parts ...Map) Map {
	return merged(Map{"url": theImage, "checksum": otherSums, "checksum_type": "auto"}, parts...)
}

// pool is a role of some machines.
func pool(replicas any, parts ...Map) Map {
	return merged(Map{"replicas": replicas, "image": image()}, parts...)
}

func prov(parts ...Map) Map {
	return merged(Map{"ranges": []any{Map{"start": "192.0.2.100", "end": "192.0.2.150"}}, "prefix": 24, "gateway": "192.0.2.1"}, parts...)
}

// edge is a configuration of one machine of the control plane and two workers, changed by parts.
func edge(parts ...Map) Map {
	return merged(Map{
		"name": "edge", "control_plane_endpoint": Map{"host": "192.0.2.249"},
		"ip_pools":      Map{"prov": prov()},
		"control_plane": pool(1),
		"workers":       Map{"w": pool(2, Map{"ip_index_offset": 10})},
	}, parts...)
}

func control(parts ...Map) Map { return Map{"control_plane": pool(1, parts...)} }
func workers(parts ...Map) Map { return Map{"workers": Map{"w": pool(2, parts...)}} }
func endpoint(e Map) Map       { return Map{"control_plane_endpoint": e} }
func pools(all Map) Map        { return Map{"ip_pools": all} }

type refusal struct {
	config Map
	want   string
}

func refuses(t *testing.T, all map[string]refusal) {
	t.Helper()

	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			acctest.OneIn(t, 4)

			core := acctest.NewCore(t, theCluster, Map{})
			o := core.Plan(t.Context(), c.config)

			switch {
			case c.want == "" && o.Errors != "":
				t.Errorf("it is refused: %s", o.Errors)
			case c.want != "" && (o.Errors == "" || !strings.Contains(o.Errors, c.want)):
				t.Errorf("errors %q, want %q", o.Errors, c.want)
			}
		})
	}
}

// TestOCL12_endpointWithNothingInIt are endpoints that nobody could connect to.
func TestOCL12_endpointWithNothingInIt(t *testing.T) {
	t.Parallel()

	refuses(t, map[string]refusal{
		"no host":                    {edge(endpoint(Map{"host": ""})), "host is empty"},
		"a host of blanks":           {edge(endpoint(Map{"host": "  "})), "host is empty"},
		"port 0":                     {edge(endpoint(Map{"host": "h", "port": 0})), "port"},
		"port 65536":                 {edge(endpoint(Map{"host": "h", "port": 65536})), "port"},
		"port 65535":                 {edge(endpoint(Map{"host": "h", "port": 65535})), ""},
		"IPv6":                       {edge(endpoint(Map{"host": "2001:db8::10"})), ""},
		"IPv6 in brackets":           {edge(endpoint(Map{"host": "[2001:db8::10]"})), "without them"},
		"IPv6 with an interface":     {edge(endpoint(Map{"host": "fe80::1%eth0"})), "network interface"},
		"a scheme":                   {edge(endpoint(Map{"host": "https://api.example.com"})), "has a scheme"},
		"a port in the host":         {edge(endpoint(Map{"host": "api.example.com:6443"})), "control_plane_endpoint.port"},
		"a path":                     {edge(endpoint(Map{"host": "api.example.com/x"})), "neither a host name"},
		"a name":                     {edge(endpoint(Map{"host": "api.example.com"})), ""},
		"unknown at plan":            {edge(endpoint(Map{"host": providertest.Unknown{}, "port": providertest.Unknown{}})), ""},
		"unknown at plan as a whole": {edge(Map{"control_plane_endpoint": providertest.Unknown{}}), ""},
	})
}

// TestOCL05_impossibleRanges are pools of addresses that could not work.
func TestOCL05_impossibleRanges(t *testing.T) {
	t.Parallel()

	ranges := func(r ...any) Map { return Map{"ranges": r} }
	one := func(parts ...Map) Map { return edge(pools(Map{"prov": prov(parts...)})) }

	refuses(t, map[string]refusal{
		"start after end":          {one(ranges(Map{"start": "192.0.2.50", "end": "192.0.2.40"})), "192.0.2.50"},
		"start outside the subnet": {one(ranges(Map{"start": "198.51.100.1", "subnet": "192.0.2.0/24"})), "198.51.100.1"},
		"two families":             {one(ranges(Map{"start": "192.0.2.5", "end": "2001:db8::5"})), "2001:db8::5"},
		"an end alone":             {one(ranges(Map{"end": "192.0.2.5"})), "start"},
		"prefix 33":                {one(Map{"prefix": 33}), "33"},
		"a gateway elsewhere":      {one(Map{"gateway": "198.51.100.1"}), "198.51.100.1"},
		"ranges that overlap":      {one(ranges(Map{"start": "192.0.2.10", "end": "192.0.2.20"}, Map{"start": "192.0.2.18", "end": "192.0.2.30"})), "192.0.2.18"},
		"pools that overlap": {edge(pools(Map{
			"a": prov(), "b": prov(ranges(Map{"start": "192.0.2.148", "end": "192.0.2.160"})),
		})), "share addresses"},
		"one pool twice":        {edge(pools(Map{"a": prov(), "b": prov()})), "share addresses"},
		"no ranges":             {one(ranges()), "ranges"},
		"an unknown start":      {one(ranges(Map{"start": providertest.Unknown{}, "end": "192.0.2.40"})), ""},
		"no address":            {one(Map{"gateway": "router"}), "router"},
		"another way to choose": {one(Map{"allocation": "dhcp"}), "allocation"},
	})
}

// TestOCL11_reservedPrefixes refuses labels of Kubernetes, and passes over nothing at all.
func TestOCL11_reservedPrefixes(t *testing.T) {
	t.Parallel()

	prefixes := func(all ...any) Map {
		return edge(Map{"label_sync_prefixes": all, "workload_api": Map{"kubeconfig_path": "/k"}})
	}

	refuses(t, map[string]refusal{
		"a domain":         {prefixes("example.com", "", " "), ""},
		"kubernetes.io":    {prefixes("kubernetes.io"), "belong to Kubernetes"},
		"below it":         {prefixes("example.com", "node.kubernetes.io"), "belong to Kubernetes"},
		"k8s.io":           {prefixes("k8s.io"), "belong to Kubernetes"},
		"a dot at the end": {prefixes("k8s.io."), "no prefix of labels"},
		"a look-alike":     {prefixes("mykubernetes.io"), ""},
		"a comma list":     {prefixes("a.example.com,b.example.com"), "no prefix of labels"},
		"nobody to tell":   {edge(Map{"label_sync_prefixes": []any{"example.com"}}), "workload_api or bootstrap"},
		"nothing to tell":  {edge(Map{"label_sync_prefixes": []any{""}}), ""},
	})
}

// TestOCL02_badSelectors refuses selectors that could never work.
func TestOCL02_badSelectors(t *testing.T) {
	t.Parallel()

	selector := func(key, operator string, values ...any) Map {
		e := Map{"key": key, "operator": operator}
		if values != nil {
			e["values"] = values
		}

		return workers(Map{"host_selector": Map{"match_expressions": []any{e}}})
	}

	refuses(t, map[string]refusal{
		"one of one":           {edge(selector("a", "In", "1")), ""},
		"in small letters":     {edge(selector("a", "in", "1")), ""},
		"one of none":          {edge(selector("a", "In")), "at least one value"},
		"not one of none":      {edge(selector("a", "NotIn")), "at least one value"},
		"a key that is null":   {edge(workers(Map{"host_selector": Map{"match_expressions": []any{Map{"operator": "!"}}}})), "xpressions[0].key is null"},
		"no key":               {edge(selector("", "Exists")), "key is empty"},
		"another operator":     {edge(selector("a", "Near", "1")), "not known"},
		"that there is no key": {edge(selector("a", "DoesNotExist")), ""},
		"nothing":              {edge(workers(Map{"host_selector": Map{}})), ""},
		"of the pool of hosts": {edge(Map{"host_pool": Map{"selector": Map{"match_labels": Map{"": "x"}}}}), "key is empty"},
		"of one machine":       {edge(workers(Map{"machine_overrides": Map{"edge-w-1": Map{"host_selector": Map{"match_labels": Map{"": "x"}}}}})), "key is empty"},
	})
}

// TestCluster_invalid are configurations that are refused before anybody is asked.
func TestCluster_invalid(t *testing.T) {
	t.Parallel()

	kubeadm := func(parts ...Map) Map {
		return Map{"bootstrap": Map{"kubeadm": merged(Map{"version": "v1.37.2"}, parts...)}}
	}
	long := strings.Repeat("x", 40)

	refuses(t, map[string]refusal{
		"as it should be":               {edge(), ""},
		"no machines":                   {Map{"name": "edge", "control_plane_endpoint": Map{"host": "h"}}, "has no machines"},
		"workers only":                  {Map{"name": "edge", "control_plane_endpoint": Map{"host": "h"}, "workers": Map{"w": pool(1)}}, ""},
		"a name in capitals":            {edge(Map{"name": "Edge"}), "no DNS label"},
		"a name of 41":                  {edge(Map{"name": long + "x"}), "at most 40"},
		"a name of 40":                  {edge(Map{"name": long}), ""},
		"a name that ends with a dash":  {edge(Map{"name": "edge-"}), "no DNS label"},
		"a pool in capitals":            {edge(Map{"workers": Map{"W": pool(1)}}), "no name of a pool"},
		"a pool of 21":                  {edge(Map{"workers": Map{strings.Repeat("w", 21): pool(1)}}), "no name of a pool"},
		"a pool called cp":              {edge(Map{"workers": Map{"cp": pool(1)}}), "pool of the control plane"},
		"11.1 a machine's name of 64":   {edge(Map{"name": long, "workers": Map{strings.Repeat("w", 20): pool(11)}}), "Of the last one"},
		"11.1 a machine's name of 63":   {edge(Map{"name": long, "workers": Map{strings.Repeat("w", 20): pool(10)}}), ""},
		"no machine in control":         {edge(Map{"control_plane": pool(0)}), "replicas must be at least 1"},
		"two machines in control":       {edge(Map{"control_plane": pool(2)}), "even number"},
		"two with etcd elsewhere":       {edge(Map{"control_plane": pool(2, Map{"external_etcd": true})}), ""},
		"no worker":                     {edge(Map{"workers": Map{"w": pool(0)}}), ""},
		"fewer than no worker":          {edge(Map{"workers": Map{"w": pool(-1)}}), "replicas"},
		"nothing to deploy":             {edge(Map{"workers": Map{"w": Map{"replicas": 1}}}), "Either image or custom_deploy"},
		"a deploy step":                 {edge(Map{"workers": Map{"w": Map{"replicas": 1, "custom_deploy": Map{"method": "install_coreos"}}}}), ""},
		"no checksum":                   {edge(workers(Map{"image": Map{"url": theImage}})), "needs a checksum"},
		"an image by FTP":               {edge(workers(Map{"image": image(Map{"url": "ftp://h/x"})})), "Ironic cannot fetch"},
		"an unknown format":             {edge(workers(Map{"image": image(Map{"disk_format": "iso"})})), "disk_format"},
		"a bad hint":                    {edge(workers(Map{"root_device_hints": Map{"device_name": "sda"}})), "Invalid root device hint"},
		"two kinds of user data":        {edge(workers(Map{"user_data": "a", "user_data_template": "b"})), "Two kinds of user data"},
		"write-only without a version":  {edge(workers(Map{"user_data_wo": "a"})), "user_data_wo_version"},
		"write-only user data":          {edge(workers(Map{"user_data_wo": "a", "user_data_wo_version": 1})), ""},
		"a template that does not end":  {edge(workers(Map{"user_data_template": "<< if .x >>"})), "Invalid template"},
		"a function that there is not":  {edge(workers(Map{"user_data_template": "<< exec .x >>"})), "Invalid template"},
		"two surges in control":         {edge(control(Map{"rollout": Map{"max_surge": "2"}})), "one by one"},
		"a surge of half":               {edge(workers(Map{"rollout": Map{"max_surge": "50%"}})), ""},
		"a surge of a few":              {edge(workers(Map{"rollout": Map{"max_surge": "few"}})), "neither a number nor a percentage"},
		"more than everything":          {edge(workers(Map{"rollout": Map{"max_unavailable": "101%"}})), "more than everything"},
		"another strategy":              {edge(workers(Map{"rollout": Map{"strategy": "inplace"}})), "strategy"},
		"drain as a truth":              {edge(workers(Map{"rollout": Map{"drain": "true"}})), ""},
		"an override of nobody":         {edge(workers(Map{"machine_overrides": Map{"edge-x-1": Map{}}})), "No machine edge-x-1"},
		"an override with zeros":        {edge(workers(Map{"machine_overrides": Map{"edge-w-01": Map{}}})), "No machine edge-w-01"},
		"an address of no pool":         {edge(workers(Map{"machine_overrides": Map{"edge-w-1": Map{"addresses": Map{"x": "192.0.2.9"}}}})), "No pool x"},
		"a pool of no order":            {edge(Map{"rollout_order": []any{"control_plane", "x"}}), "No pool x"},
		"an order":                      {edge(Map{"rollout_order": []any{"w", "control_plane"}}), ""},
		"an unknown failure domain":     {edge(Map{"failure_domains": Map{"a": Map{}}}, workers(Map{"failure_domain": "b"})), "No failure domain b"},
		"nodes that nobody asks":        {edge(Map{"wait": Map{"level": "nodes"}}), "workload_api or bootstrap"},
		"a level that there is not":     {edge(Map{"wait": Map{"level": "ready"}}), "level"},
		"labels of nodes nobody asks":   {edge(workers(Map{"node_labels": Map{"a": "b"}})), "workload_api or bootstrap"},
		"two ways to the API":           {edge(Map{"workload_api": Map{"kubeconfig": "x", "kubeconfig_path": "/k"}}), "Several ways"},
		"no way to the API":             {edge(Map{"workload_api": Map{"context": "x"}}), "No way to the API"},
		"a kubeconfig of nothing":       {edge(Map{"workload_api": Map{"from_bootstrap": true}}), "needs the attribute bootstrap"},
		"kubeadm":                       {edge(kubeadm()), ""},
		"an old kubeadm":                {edge(kubeadm(Map{"version": "v1.21.3"})), "1.22 and newer"},
		"a version in part":             {edge(kubeadm(Map{"version": "1.37"})), "in full"},
		"half of a CA":                  {edge(kubeadm(Map{"pki": Map{"ca_certificate": "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"}})), "go together"},
		"no PEM":                        {edge(kubeadm(Map{"pki": Map{"ca_private_key": "S3cret"}})), "no PEM"},
		"an advertised pool of nowhere": {edge(kubeadm(Map{"address_pool": "x"})), "No pool x"},
		"names that clash":              {edge(Map{"machine_name_format": "{pool}-{index}", "workers": Map{"a": pool(2), "a-0": pool(1)}}), ""},
		"a format without an index":     {edge(Map{"machine_name_format": "{pool}"}), "no {index}"},
		"a taint of no effect":          {edge(Map{"workload_api": Map{"kubeconfig_path": "/k"}}, workers(Map{"node_taints": []any{Map{"key": "a", "effect": "Never"}}})), "effect"},
		"a plan that is no duration":    {edge(Map{"timeouts": Map{"create": "2"}}), "Invalid duration"},
	})
}

// TestCluster_refusalsKeepSecrets looks for what users wrote in what is said about it.
func TestCluster_refusalsKeepSecrets(t *testing.T) {
	t.Parallel()

	for name, config := range map[string]Map{
		"a template": edge(workers(Map{"user_data_template": "S3cret << nothing"})),
		"a key":      edge(Map{"bootstrap": Map{"kubeadm": Map{"version": "v1.37.2", "pki": Map{"ca_private_key": "S3cret"}}}}),
	} {
		core := acctest.NewCore(t, theCluster, Map{})
		if o := core.Plan(t.Context(), config); o.Errors == "" || strings.Contains(o.Errors, "S3cret") {
			t.Errorf("%s: %q", name, o.Errors)
		}
	}
}

// TestCluster_allThatIsWrong wants every fault named at once.
func TestCluster_allThatIsWrong(t *testing.T) {
	t.Parallel()

	core := acctest.NewCore(t, theCluster, Map{})
	o := core.Plan(t.Context(), edge(
		pools(Map{"prov": prov(Map{"gateway": "198.51.100.1"})}), Map{"control_plane": pool(2)}, workers(Map{"image": Map{"url": theImage}})))

	for _, want := range []string{"198.51.100.1", "even number", "needs a checksum"} {
		if !strings.Contains(o.Errors, want) {
			t.Errorf("nothing about %s: %s", want, o.Errors)
		}
	}
}

// everything is a configuration with a value of every kind.
func everything() Map {
	return edge(Map{
		"namespace": "prod", "failure_domains": Map{"r1": Map{"control_plane": true, "attributes": Map{"a": "b"}}}, "cloud_provider_enabled": false,
		"host_pool":    Map{"host_ids": []any{"a"}, "host_names": []any{"b"}, "selector": Map{"match_labels": Map{"x": "y"}}},
		"ip_pools":     Map{"prov": prov(Map{"dns_servers": []any{"192.0.2.53"}, "exclude": []any{"192.0.2.110"}, "pre_allocations": Map{"edge-w-1": "192.0.2.120"}})},
		"bootstrap":    Map{"kubeadm": Map{"version": "v1.37.2", "cert_sans": []any{"api"}, "files": []any{Map{"path": "/x", "content": "y"}}, "users": []any{Map{"name": "core", "groups": []any{"sudo"}}}}},
		"workload_api": Map{"from_bootstrap": true}, "wait": Map{"level": "nodes", "settle": "10s"}, "parallelism": Map{"provision": 3},
		"remediation": Map{"enabled": true, "max_unhealthy": "2"}, "timeouts": Map{"create": "1h"}, "delete_machines": []any{"edge-w-0"},
		"max_deprovision_per_apply": 3, "label_sync_prefixes": []any{"example.com"}, "rollout_order": []any{"control_plane", "w"},
		"control_plane": pool(3, Map{
			"init_user_data": "a", "join_user_data_template": "<< .Machine.Name >>", "rollout": Map{"strategy": "rebuild", "max_surge": "1"}, "failure_domain": "r1",
		}),
	}, workers(Map{
		"host_selector": Map{"match_expressions": []any{Map{"key": "a", "operator": "In", "values": []any{"1"}}}}, "min_hardware": Map{"cpus": 4},
		"root_device_hints": Map{"serial_number": "x"}, "traits": []any{"CUSTOM_A"}, "meta_data": Map{"a": "b"}, "user_data_template": "x",
		"node_labels": Map{"example.com/a": "b"}, "node_taints": []any{Map{"key": "a", "effect": "NoSchedule"}},
		"hooks":             Map{"post_provision": []any{"true"}, "connection": Map{"user": "root"}},
		"machine_overrides": Map{"edge-w-1": Map{"host_id": "x", "addresses": Map{"prov": "192.0.2.130"}, "labels": Map{"a": "b"}}},
		"network_data_json": "{}", "ip_index_offset": 10,
	}))
}

// TestOTF05_unknownValues has each value in turn be unknown: a plan never fails for that.
func TestOTF05_unknownValues(t *testing.T) {
	t.Parallel()

	full := everything()

	for _, path := range paths(full) {
		t.Run(strings.Join(path, "."), func(t *testing.T) {
			t.Parallel()
			acctest.OneIn(t, 10)

			config, _ := replaced(full, path).(Map)

			core := acctest.NewCore(t, theCluster, Map{})
			if o := core.Plan(t.Context(), config); o.Errors != "" {
				t.Errorf("%s", o.Errors)
			}
		})
	}
}

// paths are all ways to something inside a configuration.
func paths(v any) [][]string {
	var out [][]string

	step := func(key string, inner any) {
		out = append(out, []string{key})
		for _, p := range paths(inner) {
			out = append(out, append([]string{key}, p...))
		}
	}

	switch v := v.(type) {
	case Map:
		for key, inner := range v {
			step(key, inner)
		}
	case []any:
		for i, inner := range v {
			step(string(rune('0'+i)), inner)
		}
	}

	return out
}

// replaced is a copy with an unknown value at a path.
func replaced(v any, path []string) any {
	if len(path) == 0 {
		return providertest.Unknown{}
	}

	switch v := v.(type) {
	case Map:
		out := merged(Map{}, v)
		out[path[0]] = replaced(v[path[0]], path[1:])

		return out
	case []any:
		out := slices.Clone(v)
		i := int(path[0][0] - '0')
		out[i] = replaced(v[i], path[1:])

		return out
	default:
		return v
	}
}
