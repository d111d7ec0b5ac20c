// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	frameworkpath "github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// The most letters of names: a machine's name is a DNS label of 63.
const (
	maxClusterName = 40
	maxPoolName    = 20
	maxLabel       = 63
)

var (
	labelForm     = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	poolForm      = regexp.MustCompile(`^[a-z0-9][-a-z0-9]*$`)
	subdomainForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	hostForm      = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
	nameForm      = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	ipPoolForm    = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9_])?$`)
)

func sibling(name string) frameworkpath.Expression {
	return frameworkpath.MatchRelative().AtParent().AtName(name)
}

// mapOf checks the values of a map.
func mapOf(of validator.String) validator.Map { return mapvalidator.ValueStringsAre(of) }

func isLabel(s string, most int) error {
	if len(s) > most || !labelForm.MatchString(s) {
		return fmt.Errorf("%q is no DNS label of at most %d characters (small letters, digits and dashes, with a letter or digit at both ends)", s, most)
	}

	return nil
}

func clusterName() validator.String {
	return value.Check("Invalid name of a cluster", "a DNS label of at most 40 characters", func(s string) error { return isLabel(s, maxClusterName) })
}

func dnsLabel() validator.String {
	return value.Check("Invalid namespace", "a DNS label", func(s string) error { return isLabel(s, maxLabel) })
}

func workerPoolName() validator.String {
	return value.Check("Invalid name of a worker pool", "at most 20 small letters, digits and dashes", func(s string) error {
		if len(s) > maxPoolName || !poolForm.MatchString(s) {
			return fmt.Errorf("%q is no name of a pool: at most %d small letters, digits and dashes, of which the first is no dash", s, maxPoolName)
		}

		if s == controlPlanePool {
			return fmt.Errorf("%q is the pool of the control plane; choose another name", s)
		}

		return nil
	})
}

func poolName() validator.String {
	return value.Check("Invalid name of a pool of addresses", "letters, digits, dots, dashes and underscores", func(s string) error {
		if !ipPoolForm.MatchString(s) {
			return fmt.Errorf("%q is no name of a pool: letters, digits, dots, dashes and underscores, at most %d", s, maxLabel)
		}

		return nil
	})
}

// endpointHost takes names and addresses, and says what is wrong with all else that people
// write there.
func endpointHost() validator.String {
	return value.Check("Invalid endpoint of the control plane", "a name or an address", func(s string) error {
		switch {
		case strings.TrimSpace(s) == "":
			return errors.New("the host is empty; it is the name or the address at which the API of the cluster is reached")
		case strings.Contains(s, "://"):
			return fmt.Errorf("%q has a scheme; write the name or the address alone, and the port in control_plane_endpoint.port", s)
		case strings.HasPrefix(s, "["):
			return fmt.Errorf("%q has brackets; write the IPv6 address without them", s)
		}

		if a, err := netip.ParseAddr(s); err == nil {
			if a.Zone() != "" {
				return fmt.Errorf("%q names a network interface, which means something on one machine only", s)
			}

			return nil
		}

		if strings.Contains(s, ":") {
			return fmt.Errorf("%q is no address; a port belongs into control_plane_endpoint.port", s)
		}

		if len(s) > 253 || !hostForm.MatchString(s) {
			return fmt.Errorf("%q is neither a host name nor an address", s)
		}

		return nil
	})
}

// nameFormat checks how machines are to be called.
func nameFormat() validator.String {
	return value.Check("Invalid format of names", "a text with {cluster}, {pool} and {index} in it", func(s string) error {
		for _, part := range []string{"{pool}", "{index}"} {
			if !strings.Contains(s, part) {
				return fmt.Errorf("%q has no %s in it, so that several machines would have one name", s, part)
			}
		}

		example := strings.NewReplacer("{cluster}", "c", "{pool}", "p", "{index}", "0").Replace(s)

		return isLabel(example, maxLabel)
	})
}

// amount is a number or a percentage.
func amount() validator.String {
	return value.Check("Invalid amount", "a number or a percentage", func(s string) error {
		_, err := cluster.ParseShare(s)

		return err //nolint:wrapcheck // for the user, as it is
	})
}

// labelPrefix takes domains whose labels nodes may get. Empty entries are passed over.
func labelPrefix() validator.String {
	return value.Check("Invalid prefix of labels", "a domain that is not Kubernetes' own", func(s string) error {
		if s = strings.TrimSpace(s); s == "" {
			return nil
		}

		if len(s) > 253 || !subdomainForm.MatchString(s) {
			return fmt.Errorf("%q is no prefix of labels; write the domain alone, such as topology.example.com", s)
		}

		for _, reserved := range []string{"kubernetes.io", "k8s.io"} {
			if s == reserved || strings.HasSuffix(s, "."+reserved) {
				return fmt.Errorf("labels of %s belong to Kubernetes; choose a prefix that is not below %s", s, reserved)
			}
		}

		return nil
	})
}

// isLabelKey checks a key of a label, an annotation or a taint.
func isLabelKey(s string) error {
	prefix, name, prefixed := strings.Cut(s, "/")
	if !prefixed {
		name = prefix
	} else if len(prefix) > 253 || !subdomainForm.MatchString(prefix) {
		return fmt.Errorf("%q is no key: before the slash stands a domain", s)
	}

	if len(name) > maxLabel || !nameForm.MatchString(name) {
		return fmt.Errorf("%q is no key: at most %d letters, digits, dots, dashes and underscores, after a domain and a slash where there is one", s, maxLabel)
	}

	return nil
}

func labelKey() validator.String {
	return value.Check("Invalid key", "a key of Kubernetes", isLabelKey)
}

func labelKeys() validator.Map { return mapvalidator.KeysAre(labelKey()) }

func labelValue() validator.String {
	return value.Check("Invalid value", "empty, or a value of a label", func(s string) error {
		if s != "" && (len(s) > maxLabel || !nameForm.MatchString(s)) {
			return fmt.Errorf("%q is no value of a label: at most %d letters, digits, dots, dashes and underscores", s, maxLabel)
		}

		return nil
	})
}

// userDataTemplate does not repeat what it refuses: user data may hold keys.
func userDataTemplate() validator.String {
	return value.Check("Invalid template of user data", "a template", func(s string) error {
		t, err := bootstrap.ParseTemplate(s)
		if err == nil {
			err = t.Check()
		}

		return err //nolint:wrapcheck // it says all
	})
}

// dataTemplate takes what the data source metal3_data_template gives.
func dataTemplate() validator.String {
	return value.Check("Invalid data template", "json of the data source metal3_data_template", func(s string) error {
		t, err := datatemplate.Parse([]byte(s))
		if err != nil {
			return err //nolint:wrapcheck // it says all
		}

		return errors.Join(t.Validate()...)
	})
}

func jsonObject() validator.String {
	return value.Check("Invalid document", "a JSON object", func(s string) error {
		var o map[string]any
		if err := json.Unmarshal([]byte(s), &o); err != nil || o == nil {
			return errors.New("this is no JSON object")
		}

		return nil
	})
}

// pemOf wants a block of a type. It never repeats what it refuses.
func pemOf(kind string) validator.String {
	return value.Check("Invalid PEM", "PEM", func(s string) error {
		block, _ := pem.Decode([]byte(s))
		if block == nil || !strings.HasSuffix(block.Type, kind) {
			return fmt.Errorf("this is no PEM with a block %s", kind)
		}

		return nil
	})
}

func absolutePath() validator.String {
	return value.Check("Invalid path", "an absolute path", func(s string) error {
		if !path.IsAbs(s) || strings.ContainsAny(s, "\n\r\x00") {
			return fmt.Errorf("%q must be an absolute path", s)
		}

		return nil
	})
}
