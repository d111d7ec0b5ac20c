// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// ErrUserinfo says that an address carries a user name or a password.
//
// It never repeats the address: what stands before the @ is a secret.
var ErrUserinfo = errors.New(`the BMC address must not hold a user name or a password: remove everything up to the "@" ` +
	`and use the attributes for credentials (an "@" in a path is written %40)`)

// ipmiPort is the port of IPMI over LAN.
const ipmiPort = "623"

// privilegeLevels are those that Ironic's ipmi driver knows.
var privilegeLevels = []string{"ADMINISTRATOR", "CALLBACK", "OPERATOR", "USER"}

// Parse reads the address of a BMC.
func Parse(address string) (Access, error) {
	if err := plausible(address); err != nil {
		return Access{}, err
	}

	u, err := parseURL(address)
	if err != nil {
		return Access{}, err
	}

	scheme := strings.ToLower(u.Scheme)
	name, transport := splitScheme(scheme)

	f, known := families[name]
	if !known || (transport != "" && f.keys != keysRedfish) {
		return Access{}, unknown(u.Scheme)
	}

	a := f.build(scheme, address)
	if f.keys == keysNone {
		a.Host = u.Host

		return a, nil
	}

	if err := a.setHost(u); err != nil {
		return Access{}, err
	}

	if f.keys == keysIPMI {
		err = a.fillIPMI(u)
	} else {
		a.fillRedfish(u, transport)
	}

	if u.Fragment != "" {
		a.warn("the part after # has no effect")
	}

	return a, err
}

// plausible refuses what no later step could explain as well.
func plausible(address string) error {
	switch {
	case strings.TrimSpace(address) == "":
		return errors.New("missing BMC address")
	case strings.Contains(address, "@"):
		return ErrUserinfo
	case strings.ContainsFunc(address, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return errors.New("the BMC address must not hold white space or control characters")
	}

	return nil
}

// parseURL reads an address in each of its spellings: a URL, scheme:host, host, host:port.
func parseURL(address string) (*url.URL, error) {
	if strings.EqualFold(address, fakeHardware) {
		return &url.URL{Scheme: fakeHardware}, nil
	}

	u, err := url.Parse(address)

	switch {
	case err != nil:
		// An IP address with a port is no URL, because a scheme begins with a letter.
		if _, _, splitErr := net.SplitHostPort(address); splitErr != nil {
			return nil, notURL(err)
		}

		u, err = url.Parse("ipmi://" + address)
	case u.Opaque != "" && !isKnown(u.Scheme) && isDigits(strings.TrimRight(u.Opaque, "/")):
		// "host.example:623" reads as a scheme with something opaque behind it.
		u, err = url.Parse("ipmi://" + address)
	case u.Opaque != "":
		u, err = url.Parse(strings.Replace(address, ":", "://", 1))
	case u.Scheme == "" && u.Host == "":
		u, err = url.Parse("ipmi://" + address)
	}

	if err != nil {
		return nil, notURL(err)
	}

	return u, nil
}

// notURL words the reason of an error of [url.Parse], without the address.
func notURL(err error) error {
	var parse *url.Error
	if errors.As(err, &parse) {
		err = parse.Err
	}

	return fmt.Errorf("the BMC address is not a URL: %w (an IPv6 address is written as scheme://[address])", err)
}

func unknown(scheme string) error {
	return fmt.Errorf("unknown BMC type '%s': the address must begin with one of %s (with +http or +https behind those that speak Redfish), "+
		"or be a host with an optional port for IPMI", scheme, strings.Join(schemes(), ", "))
}

// schemes returns the schemes to show in an error.
func schemes() []string {
	var list []string

	for name := range families {
		if name != fakeHardware {
			list = append(list, name)
		}
	}

	slices.Sort(list)

	return list
}

func isKnown(scheme string) bool {
	name, _ := splitScheme(strings.ToLower(scheme))
	_, known := families[name]

	return known
}

// splitScheme splits redfish+http into the name of the family and the transport.
func splitScheme(scheme string) (name, transport string) {
	name, transport, found := strings.Cut(scheme, "+")
	if found && transport != "http" && transport != "https" {
		return scheme, ""
	}

	return name, transport
}

func isDigits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

var (
	label   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
	numeric = regexp.MustCompile(`^[0-9.]+$`)
)

// setHost checks host and port and keeps them.
func (a *Access) setHost(u *url.URL) error {
	a.Host, a.Port = u.Hostname(), u.Port()

	if a.Host == "" {
		return errors.New("the BMC address names no host")
	}

	if !validHost(a.Host) {
		return fmt.Errorf("BMC address hostname/IP : [%s] is invalid: it must be an IP address, or a name of letters, digits, hyphens and dots", a.Host)
	}

	if a.Port != "" {
		if n, err := strconv.Atoi(a.Port); err != nil || n < 1 || n > 65535 {
			return fmt.Errorf("the port %s of the BMC address is not between 1 and 65535", a.Port)
		}
	}

	return nil
}

func validHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Zone() == "" // a zone means something only on one machine, and that is not the conductor
	}

	if len(host) > 253 || numeric.MatchString(host) {
		return false
	}

	for part := range strings.SplitSeq(host, ".") {
		if !label.MatchString(part) {
			return false
		}
	}

	return true
}

func (a *Access) fillIPMI(u *url.URL) error {
	if a.Port == "" {
		a.Port = ipmiPort
	}

	level := privilegeLevels[0]

	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return errors.New("the part after ? of the BMC address cannot be read")
	}

	if query.Has("privilegelevel") {
		level = strings.ToUpper(query.Get("privilegelevel"))
		if !slices.Contains(privilegeLevels, level) {
			return fmt.Errorf("the privilege level %q of the BMC address is not one of %s", level, strings.Join(privilegeLevels, ", "))
		}

		query.Del("privilegelevel")
	}

	if len(query) > 0 {
		a.warn("the part after ? has no effect but for privilegelevel")
	}

	if strings.Trim(u.Path, "/") != "" {
		a.warn("the path has no effect with IPMI")
	}

	a.DriverInfo["ipmi_address"] = a.Host
	a.DriverInfo["ipmi_port"] = a.Port
	a.DriverInfo["ipmi_priv_level"] = level

	return nil
}

func (a *Access) fillRedfish(u *url.URL, transport string) {
	if transport == "" {
		transport = "https"
	}

	host := strings.TrimSuffix(u.Host, ":")
	a.DriverInfo["redfish_address"] = transport + "://" + host

	if a.Port == "" {
		a.Port = map[string]string{"http": "80", "https": "443"}[transport]
	}

	if u.RawQuery != "" {
		a.warn("the part after ? has no effect with Redfish")
	}

	// Ironic quotes the path itself, so it gets it unquoted.
	if path := systemPath(u.Path); path != "" {
		a.DriverInfo["redfish_system_id"] = path
	}
}

// systemPath returns the path of a system, without slashes at its end, or "" for the
// paths that name none: the service itself and the collection (baremetal-operator 2418).
// Ironic then takes the only system there is.
func systemPath(path string) string {
	path = strings.Trim(path, "/")

	switch path {
	case "", "redfish", "redfish/v1", "redfish/v1/Systems":
		return ""
	}

	return "/" + path
}

func (a *Access) warn(text string) { a.Warnings = append(a.Warnings, "BMC address: "+text) }
