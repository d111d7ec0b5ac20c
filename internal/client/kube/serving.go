// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Version is the release of an API server.
type Version struct {
	Major, Minor int
	Git          string // "v1.37.2"
}

// AtLeast reports whether it is the release major.minor or a later one.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || (v.Major == major && v.Minor >= minor)
}

// Version asks for the API server's release.
func (c *Client) Version(ctx context.Context) (Version, error) {
	k := call{op: "ask for the version", method: http.MethodGet, path: "/version"}

	o, err := c.object(ctx, k)
	if err != nil {
		return Version{}, err
	}

	v := Version{Git: o.str("gitVersion")}

	var ok, minor bool

	v.Major, ok = leading(o.str("major"))
	v.Minor, minor = leading(o.str("minor"))

	if !ok || !minor {
		return Version{}, malformed(k)
	}

	return v, nil
}

// leading reads the number at the beginning of a text: some distributions write "27+".
func leading(text string) (int, bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}

	n, err := strconv.Atoi(text[:end])

	return n, err == nil
}

// Ready asks once whether the API server is ready, for which no credentials are needed. Nobody
// there, or not ready yet, is transient; a [ForeignCAError] is not.
func (c *Client) Ready(ctx context.Context) error {
	k := call{op: "ask whether the API server is ready", method: http.MethodGet, path: "/readyz"}

	a, err := c.send(ctx, k)
	if err != nil {
		return err
	}

	switch text := strings.TrimSpace(string(a.body)); {
	case a.status == http.StatusOK && text == "ok":
		return nil
	case a.status == http.StatusOK:
		return &RequestError{Op: k.op, kind: ErrForeign, Text: "the answer is not that of an API server"}
	case a.status == http.StatusInternalServerError:
		return wait.Transient(&RequestError{Op: k.op, Status: a.status, Text: "not ready yet: " + failing(text)})
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		// It answers, and its certificate is right: whoever may ask nothing anonymously has been started.
		return nil
	default:
		return c.refusal(k, a)
	}
}

// failing names the checks that fail: lines that begin with [-].
func failing(text string) string {
	var names []string

	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "[-]"); ok {
			name, _, _ = strings.Cut(name, " ")
			names = append(names, strings.TrimSpace(name))
		}
	}

	if len(names) == 0 {
		return "it does not say what is missing"
	}

	return strings.Join(names, ", ")
}

// ServingCertificate says until when the API server's certificate is valid. No credentials are needed.
func (c *Client) ServingCertificate(ctx context.Context) (notAfter time.Time, err error) {
	k := call{op: "look at the API server's certificate", method: http.MethodGet, path: "/version"}

	a, err := c.send(ctx, k)
	if err != nil {
		return expiredIn(err)
	}

	if a.from.TLS == nil || len(a.from.TLS.PeerCertificates) == 0 {
		return time.Time{}, fmt.Errorf("%s: it shows none", k.op)
	}

	return a.from.TLS.PeerCertificates[0].NotAfter, nil
}

// expiredIn finds the end of a certificate that was refused because it is over.
func expiredIn(err error) (time.Time, error) {
	var invalid x509.CertificateInvalidError
	if errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil {
		return invalid.Cert.NotAfter, nil
	}

	return time.Time{}, err
}
