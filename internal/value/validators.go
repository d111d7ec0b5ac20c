// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// check is a validator made of one function over a known string.
type check struct {
	summary, describe string
	of                func(string) error
}

func (c check) Description(context.Context) string             { return c.describe }
func (c check) MarkdownDescription(ctx context.Context) string { return c.Description(ctx) }

func (c check) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !Known(req.ConfigValue) {
		return
	}

	if err := c.of(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, c.summary, Sentence(err))
	}
}

// Check refuses a known string that a function returns an error for.
func Check(summary, describe string, of func(string) error) validator.String {
	return check{summary, describe, of}
}

// Duration refuses what is no duration above zero, such as "90s", "10m" or "1h30m".
func Duration() validator.String {
	return check{"Invalid duration", "a duration such as 90s, 10m or 1h30m", func(s string) error {
		_, err := ParseDuration(s)

		return err
	}}
}

// OptionalDuration is [Duration] where an empty string counts as absent.
func OptionalDuration() validator.String {
	return check{"Invalid duration", "empty, or a duration such as 90s, 10m or 1h30m", func(s string) error {
		if s == "" {
			return nil
		}

		_, err := ParseDuration(s)

		return err
	}}
}

// ParseDuration reads a duration above zero.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration; write a number with a unit, such as 90s, 10m or 1h30m", s)
	}

	if d <= 0 {
		return 0, fmt.Errorf("%q must be more than zero", s)
	}

	return d, nil
}

// URL refuses what is no absolute URL of one of the schemes; see [CheckURL].
func URL(schemes ...string) validator.String {
	return check{"Invalid URL", "a URL that begins with " + oneOf(schemes), func(s string) error {
		return CheckURL(s, schemes...)
	}}
}

// OptionalURL is [URL] where an empty string counts as absent.
func OptionalURL(schemes ...string) validator.String {
	return check{"Invalid URL", "empty, or a URL that begins with " + oneOf(schemes), func(s string) error {
		if s == "" {
			return nil
		}

		return CheckURL(s, schemes...)
	}}
}

func oneOf(schemes []string) string { return strings.Join(schemes, ":// or ") + "://" }

// CheckURL refuses what is no absolute URL of one of the schemes. A URL with a user or
// password in it is refused, too: those have attributes of their own, and URLs are shown and
// logged. Its errors do not repeat the URL.
func CheckURL(s string, schemes ...string) error {
	u, err := url.Parse(s)
	if err != nil || !slices.Contains(schemes, strings.ToLower(u.Scheme)) {
		return fmt.Errorf("this is no URL that begins with %s", oneOf(schemes))
	}

	if u.Scheme == "file" && strings.HasPrefix(u.Path, "/") {
		return nil
	}

	if u.Host == "" {
		return fmt.Errorf("this URL names no host after %s://", u.Scheme)
	}

	if u.User != nil {
		return fmt.Errorf("the URL of %s holds a user name or a password; URLs are shown and logged, so give those in their own attributes", u.Host)
	}

	return nil
}

// hostPattern is a host name or an address, without scheme, port and path.
var hostPattern = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9._-]+)?)$`)

// OptionalHost refuses what is no host name and no address, where an empty string counts as absent.
func OptionalHost() validator.String {
	return check{"Invalid host", "empty, or a host name or an address, without scheme, port and path", func(s string) error {
		if s != "" && !hostPattern.MatchString(s) {
			return errors.New("this is no host name and no address; write it without scheme, user, port and path")
		}

		return nil
	}}
}
