// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

var (
	// ErrManaged says that an option is one that we set ourselves.
	ErrManaged = errors.New("the option is managed by the provider")
	// ErrOption says that an option cannot be written into a file.
	ErrOption = errors.New("the option cannot be written")
)

// Key is the one spelling of an option's name. Ceph takes blanks for underscores, and its tools
// take dashes, too.
func Key(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' {
			return '_'
		}

		return r
	}, strings.Join(strings.Fields(name), "_"))
}

// managed are the options that tie a cluster to its hosts and folders. Those of client sections
// that are managed elsewhere are left to users: keyring of client.x is where they put it.
var managed = map[string]string{
	"fsid": "fsid", "mon_host": "mon and hosts", "mon_initial_members": "mon and hosts", "mon_addr": "mon and hosts",
	"public_network": "network.public", "cluster_network": "network.cluster",
	"public_addr": "hosts", "cluster_addr": "hosts",
	"keyring": "data_dir", "run_dir": "data_dir", "pid_file": "data_dir", "admin_socket": "data_dir", "log_file": "data_dir",
	"mon_cluster_log_file": "data_dir", "crash_dir": "data_dir",
	"mon_data": "data_dir", "mgr_data": "data_dir", "osd_data": "data_dir", "mds_data": "data_dir",
	"auth_cluster_required": "", "auth_service_required": "", "auth_client_required": "",
	"setuser": "", "setgroup": "",
}

// Managed tells whether an option is one that we set ourselves, whatever its spelling.
func Managed(name string) bool {
	_, yes := managed[Key(name)]

	return yes
}

// Check says what is wrong with options of users: section, option, value.
func Check(options map[string]map[string]string) error {
	var wrong []error

	for _, section := range slices.Sorted(maps.Keys(options)) {
		if !validSection(section) {
			wrong = append(wrong, fmt.Errorf("%w: %q is no section", ErrOption, section))
		}

		seen := map[string]string{}

		for _, name := range slices.Sorted(maps.Keys(options[section])) {
			key := Key(name)

			switch other, twice := seen[key]; {
			case twice:
				wrong = append(wrong, fmt.Errorf("%w: [%s] %q and %q are one option", ErrOption, section, other, name))
			case Managed(key):
				wrong = append(wrong, fmt.Errorf("%w: [%s] %s%s", ErrManaged, section, key, insteadOf(key)))
			case !validKey(key):
				wrong = append(wrong, fmt.Errorf("%w: [%s] %q is no name of an option", ErrOption, section, name))
			case strings.ContainsAny(Value(options[section][name]), "\x00\r\n"):
				wrong = append(wrong, fmt.Errorf("%w: [%s] %s has more than one line", ErrOption, section, key))
			case strings.ContainsFunc(options[section][name], notASCII):
				wrong = append(wrong, fmt.Errorf("%w: [%s] %s has letters other than ASCII, on which Ceph ends", ErrOption, section, key))
			}

			seen[key] = name
		}
	}

	return errors.Join(wrong...)
}

func insteadOf(key string) string {
	if say := managed[key]; say != "" {
		return ": it follows from " + say
	}

	return ""
}

// notASCII: the parser of Ceph 16 (boost, "strict_ischar") ends the process on any other letter.
func notASCII(r rune) bool { return r >= 0x7f || r < ' ' && r != '\t' && r != '\r' && r != '\n' }

func validSection(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || notASCII(r) || strings.ContainsRune(`[]"'#;=\`, r) })
}

func validKey(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && r != '/' && r != '.' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}

// Value is a value without what Ceph drops at its ends: blanks and the end of a line.
func Value(s string) string { return strings.TrimSpace(s) }
