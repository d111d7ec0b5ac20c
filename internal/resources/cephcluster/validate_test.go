// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

func storage(parts ...Map) Map {
	return Map{"storage": merged(Map{"devices": devices("h1:/dev/sdb")}, parts...)}
}

// TestCeph_invalid are configurations that are refused before anybody is asked.
func TestCeph_invalid(t *testing.T) {
	t.Parallel()

	local := Map{"connection": Map{"type": "local"}}
	key := strings.Repeat("A", 37) + "==="

	for name, c := range map[string]struct {
		config Map
		want   string
	}{
		"no host":                               {three(Map{"hosts": Map{}}), "hosts"},
		"a host with a blank in its name":       {three(Map{"hosts": Map{"h 1": at("10.0.0.1")}}), "Invalid host name"},
		"a name with a slash":                   {three(Map{"name": "a/b"}), "Invalid name"},
		"a role that there is not":              {three(Map{"hosts": Map{"h1": at("10.0.0.1", Map{"roles": []any{"rgw"}})}}), "roles"},
		"a host without an address":             {three(Map{"hosts": Map{"h1": Map{"connection": Map{"user": "root"}}}}), "has no address"},
		"a monitor at a name":                   {three(Map{"hosts": Map{"h1": at("h1.lan"), "h2": at("10.0.0.2"), "h3": at("10.0.0.3")}}), "needs an IP address"},
		"a local monitor without an address":    {three(Map{"hosts": Map{"h1": local}, "mon": Map{"count": 1}}), "needs an IP address"},
		"two local hosts":                       {three(Map{"hosts": Map{"h1": at("10.0.0.1", local), "h2": at("10.0.0.2", local), "h3": at("10.0.0.3")}}), "Two hosts are this machine"},
		"a local connection with a host":        {three(Map{"hosts": Map{"h1": at("10.0.0.1", Map{"connection": Map{"type": "local", "host": "x"}})}, "mon": Map{"count": 1}}), "Contradicting connection"},
		"two keys of a connection":              {three(Map{"hosts": Map{"h1": at("10.0.0.1", Map{"connection": Map{"private_key": "a", "private_key_file": "b"}})}, "mon": Map{"count": 1}}), "exclude each other"},
		"a place that CRUSH does not have":      {three(Map{"hosts": Map{"h1": at("10.0.0.1", Map{"crush_location": Map{"shelf": "1"}})}}), "crush_location"},
		"the host as its own place":             {three(Map{"hosts": Map{"h1": at("10.0.0.1", Map{"crush_location": Map{"host": "h1"}})}}), "crush_location"},
		"no monitor":                            {three(Map{"mon": Map{"count": 0}}), "mon.count"},
		"ten monitors":                          {three(Map{"mon": Map{"count": 10}}), "mon.count"},
		"more monitors than hosts":              {three(Map{"mon": Map{"count": 5}}), "Not enough hosts for the monitors"},
		"a monitor on a host that there is not": {three(Map{"mon": Map{"count": 1, "hosts": []any{"h9"}}}), "Host h9 is not one of hosts"},
		"no host for monitors":                  {three(Map{"hosts": Map{"h1": at("10.0.0.1", Map{"roles": []any{"osd", "mgr"}})}, "mon": Map{"count": 1}}), "No host for monitors"},
		"no host for managers":                  {three(Map{"hosts": Map{"h1": at("10.0.0.1", Map{"roles": []any{"osd", "mon"}})}, "mon": Map{"count": 1}}), "No host for managers"},
		"no manager":                            {three(Map{"mgr": Map{"count": 0}}), "mgr.count"},
		"six managers":                          {three(Map{"mgr": Map{"count": 6}}), "mgr.count"},
		"a failover without a unit":             {three(Map{"mon": Map{"failover_timeout": "10"}}), "Invalid duration"},
		"the dashboard as a module":             {three(Map{"mgr": Map{"modules": Map{"dashboard": true}}}), "attribute of its own"},
		"a module that is a number":             {three(Map{"mgr": Map{"modules": Map{"prometheus": 1}}}), "must be true, false"},
		"a mode that there is not":              {three(Map{"mgr": Map{"modules": Map{"balancer": Map{"mode": "x"}}}}), "mode"},
		"modules as a list":                     {three(Map{"mgr": Map{"modules": []any{"prometheus"}}}), "must be an object"},
		"a network without a length":            {three(Map{"network": Map{"public": []any{"10.0.0.0"}}}), "Invalid network"},
		"a host outside the public network":     {three(Map{"network": Map{"public": []any{"10.0.1.0/24"}}}), "not in the public network"},
		"two protocols on one port":             {three(Map{"network": Map{"ports": Map{"msgr1": 3300, "msgr2": 3300}}}), "on one port"},
		"a port that there is not":              {three(Map{"network": Map{"ports": Map{"msgr1": 70000}}}), "ports"},
		"an unknown backend":                    {three(storage(Map{"backend": "filestore"})), "backend"},
		"files that are not allowed":            {three(storage(Map{"backend": "file"})), "OSDs on files are not allowed"},
		"selectors of files":                    {three(storage(Map{"backend": "file", "allow_file_osds": true, "selectors": []any{Map{"all": true}}})), "Files cannot be selected"},
		"several OSDs on a raw device":          {three(storage(Map{"osds_per_device": 2})), "Several OSDs need logical volumes"},
		"several OSDs on one raw device":        {three(storage(Map{"devices": []any{Map{"host": "h1", "path": "/dev/sdb", "osds_per_device": 2}}})), "needs logical volumes"},
		"an encrypted raw device":               {three(storage(Map{"devices": []any{Map{"host": "h1", "path": "/dev/sdb", "encrypted": true}}})), "needs logical volumes"},
		"a device that is listed twice":         {three(storage(Map{"devices": devices("h1:/dev/sdb", "h2:/dev/sdb", "h1:/dev/sdb")})), "h1:/dev/sdb is listed twice"},
		"a device by its short name (OCEPH10)":  {three(storage(Map{"devices": devices("h1:sdb")})), "Invalid path"},
		"a device without a host":               {three(storage(Map{"devices": []any{Map{"path": "/dev/sdb"}}})), "Device without host"},
		"a device of a host that there is not":  {three(storage(Map{"devices": devices("h9:/dev/sdb")})), "Host h9 is not one of hosts"},
		"a device of a host without OSDs":       {three(Map{"hosts": Map{"h1": at("10.0.0.1", Map{"roles": []any{"mon", "mgr"}})}, "mon": Map{"count": 1}}, storage()), "not for OSDs"},
		"a device that is its own database":     {three(storage(Map{"devices": []any{Map{"host": "h1", "path": "/dev/sdb", "db_device": "/dev/sdb"}}})), "its own database"},
		"a size without a number":               {three(storage(Map{"file_size": "big"})), "Invalid size"},
		"a size of nothing":                     {three(storage(Map{"file_size": "0G"})), "Invalid size"},
		"a pattern that does not end (OCEPH10)": {three(storage(Map{"selectors": []any{Map{"name_regex": "sd["}}})), "Invalid regular expression"},
		"an empty pattern":                      {three(storage(Map{"selectors": []any{Map{"path_regex": ""}}})), "Invalid regular expression"},
		"a selector that says nothing":          {three(storage(Map{"selectors": []any{Map{"limit": 4}}})), "Selector says nothing"},
		"a selector that takes nothing":         {three(storage(Map{"selectors": []any{Map{"min_size": "2T", "max_size": "1T"}}})), "takes nothing"},
		"a selector of another host":            {three(storage(Map{"selectors": []any{Map{"all": true, "hosts": []any{"h9"}}}})), "Host h9 is not one of hosts"},
		"ratios in the wrong order":             {three(storage(Map{"full_ratio": 0.8, "nearfull_ratio": 0.85})), "wrong order"},
		"a ratio below Ceph's own":              {three(storage(Map{"full_ratio": 0.8})), "wrong order"},
		"a ratio of more than all":              {three(storage(Map{"full_ratio": 1.5})), "full_ratio"},
		"another confirmation (OCEPH13)":        {three(Map{"cleanup": Map{"confirmation": "Yes-really-destroy-data"}}), "confirmation"},
		"yes as confirmation (OCEPH13)":         {three(Map{"cleanup": Map{"confirmation": "yes"}}), "confirmation"},
		"a folder without a slash":              {three(Map{"data_dir": "ceph"}), "Invalid data_dir"},
		"the root as folder":                    {three(Map{"data_dir": "/"}), "Invalid data_dir"},
		"a folder of the system":                {three(Map{"data_dir": "/etc/ceph"}), "belongs to the system"},
		"a folder that is too deep":             {three(Map{"data_dir": "/" + strings.Repeat("d", 90)}), "Linux takes 107 bytes"},
		"a folder with a blank":                 {three(Map{"data_dir": "/a b"}), "ceph.conf could not hold"},
		"an fsid that is none":                  {three(Map{"fsid": "prod"}), "Invalid fsid"},
		"a version without a number":            {three(Map{"ceph_version": "pacific"}), "Invalid version"},
		"an option of ours (OCEPH15)":           {three(Map{"config": Map{"global": Map{"fsid": theFSID}}}), "Option fsid is not free"},
		"ours in another spelling (OCEPH15)":    {three(Map{"config": Map{"global": Map{"mon host": "x"}}}), "Option mon_host is not free"},
		"one option twice (OCEPH15)":            {three(Map{"config": Map{"osd": Map{"osd max backfills": "1", "osd_max_backfills": "2"}}}), "is set twice"},
		"an option of two lines":                {three(Map{"config": Map{"osd": Map{"osd_max_backfills": "1\n[mon]\nx = 1"}}}), "one line"},
		"a section that there is not":           {three(Map{"config": Map{"osds": Map{"osd_max_backfills": "1"}}}), "Invalid section"},
		"pools that could not be written":       {three(Map{"pool_defaults": Map{"size": 2, "min_size": 3}}), "never be written"},
		"a duration without a unit":             {three(Map{"timeouts": Map{"create": "30"}}), "Invalid duration"},
		"an external cluster without a key":     {external(Map{}), "needs one key"},
		"an external cluster with two keys":     {external(Map{"key": adminKey, "keyring_file": "/k"}), "needs one key"},
		"a key that is none":                    {external(Map{"key": key}), "Invalid key"},
		"an external cluster on three hosts":    {merged(external(Map{"key": adminKey}), Map{"hosts": three()["hosts"]}), "through one host"},
		"two fsids":                             {merged(external(Map{"key": adminKey}), Map{"fsid": "99999999-2222-4333-8444-555555555555"}), "Two fsids"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			acctest.OneIn(t, 10)

			onFarm(t, func(w world) {
				o := w.Plan(w.ctx, c.config)
				if !strings.Contains(o.Errors, c.want) {
					t.Errorf("errors: %q, want %q", o.Errors, c.want)
				}

				if strings.Contains(o.Errors, key) || strings.Contains(o.Errors, adminKey) {
					t.Errorf("a key is told: %s", o.Errors)
				}

				if len(w.farm.calls) != 0 {
					t.Errorf("the cluster was asked: %v", w.farm.calls)
				}
			})
		})
	}
}

// external is a cluster that somebody else runs.
func external(parts ...Map) Map {
	return Map{
		"name": "theirs", "hosts": Map{"h1": at("10.0.0.1")},
		"external": merged(Map{"fsid": theFSID, "mon_endpoints": "[v2:10.0.9.1:3300]"}, parts...),
	}
}

// TestCeph_valid are configurations that look odd and are right.
func TestCeph_valid(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		config Map
		warns  string
	}{
		"addresses from connections":   {three(Map{"hosts": Map{"h1": Map{"connection": Map{"host": "10.0.0.1"}}}, "mon": Map{"count": 1}}, storage()), ""},
		"IPv6":                         {three(Map{"hosts": Map{"h1": at("2001:db8::1")}, "mon": Map{"count": 1}, "network": Map{"public": []any{"2001:db8::/64"}}}, storage()), ""},
		"several monitors on a host":   {three(Map{"hosts": Map{"h1": at("10.0.0.1")}, "mon": Map{"allow_multiple_per_host": true}}, storage()), ""},
		"an even number of monitors":   {three(Map{"mon": Map{"count": 2}}), "even number of monitors"},
		"a host with dots":             {three(Map{"hosts": Map{"h1.lan": at("10.0.0.1")}, "mon": Map{"count": 1}, "storage": Map{}}), "has dots"},
		"an OSD host without address":  {three(Map{"hosts": Map{"h1": at("10.0.0.1"), "h2": Map{"connection": Map{"type": "local"}, "roles": []any{"osd"}}}, "mon": Map{"count": 1}}, storage()), ""},
		"no storage":                   {three(Map{"storage": nil}), ""},
		"a single host without domain": {three(Map{"hosts": Map{"h1": at("10.0.0.1")}, "mon": Map{"count": 1}}, storage()), "too few hosts with OSDs"},
		"modules of all kinds":         {three(Map{"mgr": Map{"modules": Map{"prometheus": true, "restful": false, "balancer": Map{"mode": "upmap"}, "iostat": Map{"enabled": false}}}}), ""},
		"options of all spellings":     {three(Map{"config": Map{"osd/class:ssd": Map{"osd memory-target": "4G"}, "client.rgw": Map{"rgw frontends": "beast", "rgw_x": ""}}}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				o := w.Plan(w.ctx, c.config)
				if o.Errors != "" || !strings.Contains(o.Warnings, c.warns) {
					t.Errorf("errors %q, warnings %q", o.Errors, o.Warnings)
				}
			})
		})
	}
}

// TestOTF05_checkedAtApply has values that turn out to be wrong once they are known.
func TestOTF05_checkedAtApply(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		before, after Map
		want          string
	}{
		"an address": {
			three(Map{"hosts": Map{"h1": at("10.0.0.1"), "h2": Map{"address": providertest.Unknown{}}, "h3": at("10.0.0.3")}}),
			three(Map{"hosts": Map{"h1": at("10.0.0.1"), "h2": at("h2.lan"), "h3": at("10.0.0.3")}}), "needs an IP address",
		},
		"a device": {
			three(Map{"storage": Map{"devices": []any{providertest.Unknown{}, Map{"host": "h1", "path": "/dev/sdb"}}}}),
			three(Map{"storage": Map{"devices": devices("h1:/dev/sdb", "h1:/dev/sdb")}}), "listed twice",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				o := w.ApplyUnknown(w.ctx, c.before, c.after)
				if !strings.Contains(o.Errors, c.want) || w.called("create") != 0 || w.Exists() {
					t.Errorf("%v: %s", w.farm.calls, o.Errors)
				}
			})
		})
	}
}
