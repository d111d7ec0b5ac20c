// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Address returns the address that [Parse] turns into the given node fields.
//
// Where several schemes say the same (libvirt and ipmi, ilo5-redfish and redfish) the
// plainer one is chosen. A boot interface that no scheme has counts as network boot: the
// caller sees the difference in Access.Interfaces.
func Address(driver, bootInterface string, driverInfo map[string]any) (string, error) {
	switch driver {
	case fakeHardware:
		return fakeHardware + "://", nil
	case "ipmi":
		return ipmiAddress(driverInfo)
	case "redfish", "idrac":
		return redfishAddress(schemeFor(driver, bootInterface), driverInfo)
	default:
		return "", fmt.Errorf("no BMC address stands for Ironic's driver %q", driver)
	}
}

func schemeFor(driver, bootInterface string) string {
	switch {
	case driver == "idrac" && strings.HasSuffix(bootInterface, "virtual-media"):
		return "idrac-virtualmedia"
	case driver == "idrac":
		return "idrac-redfish"
	case strings.HasSuffix(bootInterface, "virtual-media"):
		return "redfish-virtualmedia"
	case bootInterface == "redfish-https":
		return "redfish-uefihttp"
	default:
		return "redfish"
	}
}

// text reads a value that Ironic may hold as a string or as a number.
func text(driverInfo map[string]any, key string) string {
	switch v := driverInfo[key].(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return fmt.Sprintf("%.0f", v)
	default:
		return fmt.Sprint(v)
	}
}

func ipmiAddress(driverInfo map[string]any) (string, error) {
	host := strings.Trim(text(driverInfo, "ipmi_address"), "[]")
	if host == "" {
		return "", errors.New("driver_info of the node has no ipmi_address")
	}

	port := text(driverInfo, "ipmi_port")
	if port == ipmiPort {
		port = ""
	}

	address := "ipmi://" + join(host, port)

	if level := strings.ToUpper(text(driverInfo, "ipmi_priv_level")); level != "" && level != privilegeLevels[0] {
		address += "?privilegelevel=" + url.QueryEscape(level)
	}

	return checked(address)
}

func redfishAddress(scheme string, driverInfo map[string]any) (string, error) {
	base := text(driverInfo, "redfish_address")

	switch {
	case base == "":
		return "", errors.New("driver_info of the node has no redfish_address")
	case strings.Contains(base, "@"):
		return "", ErrUserinfo
	case !strings.Contains(base, "://"):
		base = "https://" + base // as Ironic does
	}

	u, err := url.Parse(base)
	if err != nil {
		return "", notURL(err)
	}

	switch u.Scheme {
	case "https":
	case "http":
		scheme += "+http"
	default:
		return "", fmt.Errorf("redfish_address of the node has the scheme %q, not http or https", u.Scheme)
	}

	if systemPath(u.Path) != "" {
		return "", fmt.Errorf("redfish_address of the node has the path %q, which a BMC address cannot express", u.Path)
	}

	path := (&url.URL{Path: systemPath(text(driverInfo, "redfish_system_id"))}).EscapedPath()

	return checked(scheme + "://" + u.Host + strings.ReplaceAll(path, "@", "%40"))
}

// join joins a host and an optional port; an IPv6 address gets its brackets.
func join(host, port string) string {
	if port != "" {
		return net.JoinHostPort(host, port)
	}

	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}

	return host
}

// checked returns an address only when Parse takes it.
func checked(address string) (string, error) {
	if _, err := Parse(address); err != nil {
		return "", fmt.Errorf("driver_info of the node gives no valid BMC address: %w", err)
	}

	return address, nil
}
