// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// like refuses what a pattern does not match.
func like(summary, describe, expression string) validator.String {
	return value.Check(summary, describe, matches(describe, expression))
}

func matches(describe, expression string) func(string) error {
	compiled := regexp.MustCompile(`^(?:` + expression + `)$`)

	return func(s string) error {
		if !compiled.MatchString(s) {
			return fmt.Errorf("%q is not %s", s, describe)
		}

		return nil
	}
}

const fsidForm = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

func clusterName() validator.String {
	return like("Invalid name", "a name of letters, digits, dots, dashes and underscores, of 63 at most, that begins with a letter or digit", `[A-Za-z0-9][A-Za-z0-9._-]{0,62}`)
}

func hostName() validator.String {
	return like("Invalid host name", "the name of a host: what uname -n says there", `[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?`)
}

func crushName() validator.String {
	return like("Invalid name for the CRUSH map", "a name of letters, digits, dots, dashes and underscores", `[A-Za-z0-9._-]+`)
}

func isFSID() validator.String {
	return like("Invalid fsid", "a UUID in small letters, such as uuidgen prints", fsidForm)
}

func entity() validator.String {
	return like("Invalid user", "a user of Ceph, such as client.admin", `client\.[A-Za-z0-9._@-]+`)
}

func versionConstraint() validator.String {
	const one = `(=|!=|>|>=|<|<=)?\s*[0-9]+(\.[0-9]+){0,2}`

	return like("Invalid version", "conditions such as >= 16.2, < 21", `\s*`+one+`(\s*,\s*`+one+`)*\s*`)
}

// cephKey does not repeat what it refuses: that may be nearly a key.
func cephKey() validator.String {
	return value.Check("Invalid key", "a key of Ceph, as ceph auth get-key prints it", func(s string) error {
		if !ceph.ValidKey(ceph.Secret(strings.TrimSpace(s))) {
			return errors.New("this is no key of Ceph; it is what `ceph auth get-key` prints")
		}

		return nil
	})
}

func cidr() validator.String {
	return value.Check("Invalid network", "a network such as 10.0.0.0/24", func(s string) error {
		if _, err := netip.ParsePrefix(s); err != nil {
			return fmt.Errorf("%q is no network; write it as an address and a length, such as 10.0.0.0/24", s)
		}

		return nil
	})
}

func durationOrZero() validator.String {
	return value.Check("Invalid duration", "0, or a duration such as 10m", func(s string) error {
		if s == "0" || s == "0s" {
			return nil
		}

		_, err := value.ParseDuration(s)

		return err //nolint:wrapcheck // it says all
	})
}

func size() validator.String {
	return value.Check("Invalid size", "a size such as 4G", func(s string) error {
		_, err := parseSize(s)

		return err
	})
}

func pattern() validator.String {
	return value.Check("Invalid regular expression", "a regular expression", func(s string) error {
		if s == "" {
			return errors.New("the expression is empty, and would match no device")
		}

		if _, err := regexp.Compile(s); err != nil {
			return fmt.Errorf("%q: %w", s, err)
		}

		return nil
	})
}

func absolute() validator.String {
	return value.Check("Invalid path", "an absolute path", func(s string) error {
		if !path.IsAbs(s) || path.Clean(s) != s || strings.ContainsAny(s, "\n\r\x00") {
			return fmt.Errorf("%q must be an absolute path, without . and .. and without / at its end", s)
		}

		return nil
	})
}

// The longest path of a socket below the folder: Linux takes 107 bytes for all of it.
const (
	maxSocket     = 107
	longestSocket = "/run/osd.999999.asok"
)

// reserved are folders that packages or Rook own.
var reserved = []string{"/etc", "/etc/ceph", "/var/log/ceph", "/rook", "/var", "/var/lib", "/usr", "/dev", "/proc", "/sys", "/run", "/tmp", "/root", "/home", "/boot"}

func dataDir() validator.String {
	return value.Check("Invalid data_dir", "an absolute path to a folder of the cluster's own", func(s string) error {
		if strings.ContainsAny(s, " \t\n\r#;=%$'\"\\,") {
			return fmt.Errorf("%q has a letter that ceph.conf could not hold: no blanks, quotes and none of # ; = %% $ , \\", s)
		}

		if _, err := ceph.ParseClusterID("local" + s); err != nil || !path.IsAbs(s) {
			return fmt.Errorf("%q must be an absolute path, without . and .. and without / at its end, and not / itself", s)
		}

		for _, r := range reserved {
			if s == r {
				return fmt.Errorf("%s belongs to the system; choose a folder below it", s)
			}
		}

		if most := maxSocket - len(longestSocket); len(s) > most {
			return fmt.Errorf("%q has %d bytes, and %d are the most: the daemons' sockets lie below it, and Linux takes %d bytes for the path of a socket", s, len(s), most, maxSocket)
		}

		return nil
	})
}
