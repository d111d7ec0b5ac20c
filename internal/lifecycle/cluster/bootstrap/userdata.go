// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap/bounded"
)

// Template is a template of user data, in the language of Go's text/template with << and >>
// around actions: cloud-init's Jinja has the usual ones.
type Template struct{ of bounded.Template }

// ParseTemplate reads a template. Its errors name the line and never repeat the text.
func ParseTemplate(text string) (Template, error) {
	t, err := bounded.Parse(text)

	return Template{t}, err //nolint:wrapcheck // its own words are a sentence
}

// Check tells what is wrong with the template for every machine: names that there are not. What
// depends on the machine, such as the labels of its host, is told when it is rendered.
func (t Template) Check() error {
	_, err := t.of.Render(Vars{Host: Host{NICs: []NIC{{}}}, Peers: []Peer{{}}})
	if errors.Is(err, bounded.ErrField) {
		return err //nolint:wrapcheck // its own words are a sentence
	}

	return nil
}

// Render renders the template for a machine. A key that is not there is an error.
func (t Template) Render(v Vars) ([]byte, error) {
	return t.of.Render(v) //nolint:wrapcheck // its own words are a sentence
}

// UserData is the user data of the machines of a role, as the configuration writes it. Of each
// pair at most one counts.
type UserData struct {
	Constant     string // taken as it is: cloud-config, Ignition, a Talos configuration
	Template     string
	InitConstant string // for the machine that begins the cluster
	InitTemplate string
	JoinConstant string // for all other machines of the control plane
	JoinTemplate string
}

// Source is the user data of one machine before it is rendered.
type Source struct {
	Constant string
	Template string
}

// For chooses for a machine: what is for the first or for the others, else what is for all.
func (u UserData) For(first bool) Source {
	own := Source{u.JoinConstant, u.JoinTemplate}
	if first {
		own = Source{u.InitConstant, u.InitTemplate}
	}

	if own != (Source{}) {
		return own
	}

	return Source{u.Constant, u.Template}
}

// Check lists everything that is wrong with the user data of a role, by attribute.
func (u UserData) Check() []error {
	var errs []error

	for _, pair := range []struct {
		prefix string
		of     Source
	}{{"", Source{u.Constant, u.Template}}, {"init_", Source{u.InitConstant, u.InitTemplate}}, {"join_", Source{u.JoinConstant, u.JoinTemplate}}} {
		if pair.of.Constant != "" && pair.of.Template != "" {
			errs = append(errs, fmt.Errorf("%suser_data and %suser_data_template: write one of them", pair.prefix, pair.prefix))
		}

		if _, err := ParseTemplate(pair.of.Template); err != nil {
			errs = append(errs, fmt.Errorf("%suser_data_template: %w", pair.prefix, err))
		}
	}

	return errs
}

// Empty reports that there is no user data.
func (s Source) Empty() bool { return s == Source{} }

// Render is the user data of a machine. Constant user data comes out as it went in.
func (s Source) Render(v Vars) ([]byte, error) {
	switch {
	case s.Constant != "" && s.Template != "":
		return nil, errors.New("user data is either constant or a template")
	case s.Template == "":
		return []byte(s.Constant), nil
	}

	t, err := ParseTemplate(s.Template)
	if err != nil {
		return nil, err
	}

	return t.Render(v)
}

// Hash tells two sources apart; what a template renders, with its tokens, has no part in it.
func (s Source) Hash() string { return hashOf(s) }

// hashOf is the SHA-256 of a value's JSON.
func hashOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil { // texts, numbers and lists of them
		return ""
	}

	sum := sha256.Sum256(b)

	return hex.EncodeToString(sum[:])
}
