// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// machineScheme is in front of a machine's id where it was copied from spec.providerID of a node.
const machineScheme = "fsas-cdi://"

// MachineID is the id of a machine without what people copy along with it: blanks, and the
// scheme of a node's provider id.
func MachineID(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= len(machineScheme) && strings.EqualFold(s[:len(machineScheme)], machineScheme) {
		s = s[len(machineScheme):]
	}

	return strings.TrimSpace(s)
}

// Scoped names the part of a manager that one tenant sees, or one tenant's cluster: the ids
// are its fragment. Without ids it is the address itself.
func Scoped(address, tenant, cluster string) string {
	var parts []string

	for _, p := range []struct{ name, id string }{{"tenant", tenant}, {"cluster", cluster}} {
		if id := strings.ToLower(strings.TrimSpace(p.id)); id != "" {
			parts = append(parts, p.name+"="+url.QueryEscape(id))
		}
	}

	if len(parts) == 0 {
		return address
	}

	return address + "#" + strings.Join(parts, "&")
}

// Address is where requests go of what [Fabric.Endpoint] names.
func Address(endpoint string) string {
	address, _, _ := strings.Cut(endpoint, "#")

	return address
}

// NormalEndpoint turns the spellings of an address (host, host:port, [v6]:port, URL with an
// optional base path) into https://host[:port][/base], without a slash at the end. Plain HTTP
// is taken only where plain says so. The error names no option: the same rules hold for
// several. It never quotes user info.
func NormalEndpoint(s string, plain bool) (string, error) {
	s = strings.TrimSpace(s)

	switch {
	case s == "":
		return "", errors.New("is empty")
	case strings.ContainsAny(s, " \t\r\n"):
		return "", errors.New("has a blank inside")
	case !strings.Contains(s, "://"):
		s = "https://" + bracketed(s)
	}

	u, err := url.Parse(s)
	if err != nil {
		return "", errors.New("is not an address: want host, host:port or a URL") // the parser's words quote passwords
	}

	scheme := strings.ToLower(u.Scheme)

	switch {
	case u.User != nil || strings.Contains(u.Host, "@"):
		return "", errors.New("must not hold a user name or a password: use auth")
	case scheme == "http" && !plain:
		return "", errors.New("is plain http, over which passwords can be read: use https, or set allow_plain_http")
	case scheme != "https" && scheme != "http":
		return "", fmt.Errorf("has the scheme %q: want https", u.Scheme)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("must not have a query or a fragment")
	case u.Hostname() == "":
		return "", errors.New("names no host")
	case strings.Contains(u.Host, "%"):
		return "", errors.New("has a zone or an escape in the name of the host")
	}

	if err := portOf(u); err != nil {
		return "", err
	}

	if strings.Contains(u.EscapedPath(), "//") {
		return "", errors.New("has an empty part in its path")
	}

	return scheme + "://" + strings.ToLower(u.Host) + strings.TrimRight(u.EscapedPath(), "/"), nil
}

// bracketed puts the brackets that a URL needs around a bare IPv6 address.
func bracketed(s string) string {
	if ip := net.ParseIP(s); ip != nil && strings.Contains(s, ":") {
		return "[" + s + "]"
	}

	return s
}

func portOf(u *url.URL) error {
	port := u.Port()
	if port == "" {
		if strings.HasSuffix(u.Host, ":") {
			return errors.New("ends with a colon: the port is missing")
		}

		return nil
	}

	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("has the port %s: want 1 to 65535", port)
	}

	return nil
}
