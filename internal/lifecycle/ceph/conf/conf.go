// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package conf writes and reads ceph.conf.
//
// The file that we write puts every path of a cluster below one folder, so that several live on
// one host. What users set belongs into the cluster's own store; the file has only what daemons
// must know before they reach a monitor, and what counts at their first start.
package conf

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Input is what a cluster's file is made of. It is the same on all hosts, but for the addresses.
type Input struct {
	Name string
	FSID string
	Dir  string // below which everything is
	// MonHost names the monitors: "[v2:10.0.0.1:3300,v1:10.0.0.1:6789],…".
	MonHost string

	Public, Cluster []string // CIDRs
	// PublicAddr and ClusterAddr are the host's own, for one that has none in the networks:
	// Ceph does not look at the loopback device.
	PublicAddr, ClusterAddr string
	RequireMsgr2            bool

	FailureDomain        string // osd: replicas may share a host
	Size, MinSize, PGNum int    // 0: Ceph's own

	// Options are those of users, by section. Check them first: managed ones are left out.
	Options map[string]map[string]string
}

// section is one section as it is written; options in their order.
type section struct {
	name    string
	options [][2]string
}

func (s *section) set(key, value string) {
	for i := range s.options {
		if s.options[i][0] == key {
			s.options[i][1] = value

			return
		}
	}

	s.options = append(s.options, [2]string{key, value})
}

// Render is the text of ceph.conf.
func Render(in Input) []byte {
	all := []*section{global(in)}
	for _, daemon := range []string{"mon", "mgr", "osd", "mds"} {
		all = append(all, daemonSection(in.Dir, daemon))
	}

	// Tools write no log and open no socket: they may run as anybody.
	all = append(all, &section{name: "client", options: [][2]string{{"log_file", ""}, {"admin_socket", ""}}})

	for _, name := range slices.Sorted(maps.Keys(in.Options)) {
		if !validSection(name) {
			continue
		}

		i := slices.IndexFunc(all, func(s *section) bool { return s.name == name })
		if i < 0 {
			i, all = len(all), append(all, &section{name: name})
		}

		for _, option := range slices.Sorted(maps.Keys(in.Options[name])) {
			if key := Key(option); validKey(key) && !Managed(key) {
				all[i].set(key, in.Options[name][option])
			}
		}
	}

	var b bytes.Buffer

	b.WriteString("# Managed by terraform-provider-metal3: cluster " + oneLine(in.Name) + ", fsid " + oneLine(in.FSID) + ". Changes are overwritten.\n")

	for _, s := range all {
		b.WriteString("\n[" + s.name + "]\n")

		for _, o := range s.options {
			b.WriteString(strings.TrimRight(o[0]+" = "+escape(o[1]), " ") + "\n")
		}
	}

	return b.Bytes()
}

func global(in Input) *section {
	s := &section{name: "global"}
	below := func(parts ...string) string { return path.Join(append([]string{in.Dir}, parts...)...) }

	s.set("fsid", in.FSID)
	s.set("mon_host", in.MonHost)
	s.set("auth_cluster_required", "cephx")
	s.set("auth_service_required", "cephx")
	s.set("auth_client_required", "cephx")
	s.set("auth_allow_insecure_global_id_reclaim", "false")
	network(s, in)

	s.set("keyring", below("ceph.$name.keyring"))
	s.set("run_dir", below("run"))
	s.set("pid_file", below("run", "$name.pid"))
	s.set("admin_socket", below("run", "$name.asok"))
	s.set("log_file", below("log", "$name.log"))
	s.set("mon_cluster_log_file", below("log", "cluster.log"))
	s.set("crash_dir", below("crash"))

	// These count while a monitor makes its first maps, and never again.
	if in.FailureDomain == "osd" {
		s.set("osd_crush_chooseleaf_type", "0")
	}

	for _, o := range []struct {
		key   string
		value int
	}{
		{"osd_pool_default_size", in.Size}, {"osd_pool_default_min_size", in.MinSize}, {"osd_pool_default_pg_num", in.PGNum},
	} {
		if o.value > 0 {
			s.set(o.key, strconv.Itoa(o.value))
		}
	}

	// Not restful, which cannot load with Python 3.11 (PyO3) and is gone from later releases.
	s.set("mgr_initial_modules", "iostat nfs")

	return s
}

func network(s *section, in Input) {
	if len(in.Public) > 0 {
		s.set("public_network", strings.Join(in.Public, ","))
	}

	if len(in.Cluster) > 0 {
		s.set("cluster_network", strings.Join(in.Cluster, ","))
	}

	if in.PublicAddr != "" {
		s.set("public_addr", in.PublicAddr)
	}

	if in.ClusterAddr != "" {
		s.set("cluster_addr", in.ClusterAddr)
	}

	// Ceph binds IPv4 alone unless told.
	four, six := families(in)
	if six {
		s.set("ms_bind_ipv6", "true")

		if !four {
			s.set("ms_bind_ipv4", "false")
		}
	}

	if in.RequireMsgr2 {
		s.set("ms_bind_msgr1", "false")
	}
}

// families tells which kinds of addresses the daemons are to bind.
func families(in Input) (four, six bool) {
	if len(in.Public) == 0 {
		six = strings.Contains(in.PublicAddr, ":") || in.PublicAddr == "" && strings.Contains(in.MonHost, ":[")

		return !six, six
	}

	for _, n := range in.Public {
		six = six || strings.Contains(n, ":")
		four = four || !strings.Contains(n, ":")
	}

	return four, six
}

func daemonSection(dir, daemon string) *section {
	data := path.Join(dir, daemon, "$id")

	return &section{name: daemon, options: [][2]string{{daemon + "_data", data}, {"keyring", path.Join(data, "keyring")}}}
}

func oneLine(s string) string { return strings.Join(strings.Fields(ascii(s)), " ") }

// ascii is a text without what Ceph's parser ends on, even in comments.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if notASCII(r) {
			return '?'
		}

		return r
	}, s)
}

// escaper marks what Ceph would take for a comment, a mark or the end of a value.
var escaper = strings.NewReplacer(`\`, `\\`, "#", `\#`, ";", `\;`)

// escape writes a value so that Ceph reads it as it is. A quote counts at the start only.
func escape(value string) string {
	value = escaper.Replace(oneValue(value))
	if strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "'") {
		value = `\` + value
	}

	return value
}

// oneValue is a value on one line: a break would begin another option.
func oneValue(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == 0 {
			return ' '
		}

		return r
	}, ascii(Value(s)))
}
