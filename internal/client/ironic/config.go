// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
)

// AuthMode is how a client proves who it is.
type AuthMode string

// The ways to prove who we are that Ironic knows.
const (
	NoAuth    AuthMode = "noauth"
	HTTPBasic AuthMode = "http_basic"
	Keystone  AuthMode = "keystone"
)

// DefaultTimeout bounds one request where the configuration names no bound.
//
// Under load a call that changes state takes seconds, and Ironic itself retries locks.
const DefaultTimeout = 60 * time.Second

// Config says where Ironic is and how to talk to it.
type Config struct {
	Endpoint string   // with or without /v1; with Keystone it may be empty: the catalogue names it
	Auth     AuthMode // empty means NoAuth
	Username string   // HTTPBasic
	Password string   // HTTPBasic
	Cloud    string   // Keystone: a name in clouds.yaml; empty means OS_CLOUD, then the OS_* variables

	CACertFile     string
	ClientCertFile string
	ClientKeyFile  string
	Insecure       bool

	Timeout   time.Duration     // of one request; 0 means DefaultTimeout
	Transport http.RoundTripper // replaces the network (lab, tests); the TLS options are then ignored
	UserAgent string

	// Trace is told of every request, without bodies and without secrets. Status is 0 where there was no answer.
	Trace transport.Trace
}

// String describes the configuration without its secrets.
func (cfg Config) String() string {
	return fmt.Sprintf("%s (%s)", cfg.Endpoint, cfg.Auth)
}

// GoString is String, so that no verb of fmt prints the password.
func (cfg Config) GoString() string { return cfg.String() }

// ConfigError says which option of a [Config] is wrong.
type ConfigError struct {
	Option string // the name that the option has in the provider block
	Err    error
}

func (e *ConfigError) Error() string { return e.Option + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *ConfigError) Unwrap() error { return e.Err }

func wrong(option, format string, args ...any) error {
	return &ConfigError{option, fmt.Errorf(format, args...)}
}

// check completes the configuration and refuses what cannot work. It calls nobody.
func (cfg Config) check() (Config, error) {
	if cfg.Auth == "" {
		cfg.Auth = NoAuth
	}

	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}

	switch cfg.Auth {
	case NoAuth, Keystone:
	case HTTPBasic:
		switch {
		case cfg.Username == "":
			return cfg, wrong("username", "http_basic needs a user name")
		case strings.Contains(cfg.Username, ":"):
			return cfg, wrong("username", "a user name with a colon cannot be sent by http_basic")
		case cfg.Password == "":
			return cfg, wrong("password", "http_basic needs a password")
		}
	default:
		return cfg, wrong("auth", "%q is none of %s, %s, %s", cfg.Auth, NoAuth, HTTPBasic, Keystone)
	}

	if cfg.Endpoint == "" && cfg.Auth == Keystone {
		return cfg, nil
	}

	endpoint, err := normalise(cfg.Endpoint)
	if err != nil {
		return cfg, &ConfigError{"endpoint", err}
	}

	cfg.Endpoint = endpoint

	return cfg, nil
}

// normalise gives every spelling of an endpoint the same form, without /v1.
//
// Its errors never repeat the endpoint: somebody may have put a password into it.
func normalise(endpoint string) (string, error) {
	if strings.TrimSpace(endpoint) == "" {
		return "", errors.New("the address of Ironic is missing")
	}

	u, err := url.Parse(strings.TrimSpace(endpoint))
	if err != nil {
		return "", errors.New("not a URL")
	}

	switch {
	case u.User != nil:
		return "", errors.New("credentials do not belong in the URL: use username and password")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("the URL must begin with http:// or https://")
	case u.Hostname() == "":
		return "", errors.New("the URL names no host")
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("the URL must have no query and no fragment")
	}

	host := strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; strings.HasSuffix(host, port) {
		host = strings.TrimSuffix(host, port)
	}

	path := strings.TrimRight(u.EscapedPath(), "/")
	path = strings.TrimRight(strings.TrimSuffix(path, "/v1"), "/")

	return u.Scheme + "://" + host + path, nil
}
