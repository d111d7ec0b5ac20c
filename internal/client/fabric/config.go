// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"net/http"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
)

// What counts where the configuration says nothing.
const (
	DefaultRequestTimeout = 60 * time.Second  // of a request that reads
	DefaultMutateTimeout  = 180 * time.Second // of a request that changes something
	DefaultModelColumn    = "model"
	DefaultClientID       = "cdi"
)

// Auth is how to log in.
type Auth struct {
	Realm        string // fti: usually the tenant's UUID, which is the default
	ClientID     string
	ClientSecret string
	Username     string
	Password     string
}

// Config says where a fabric manager is and how to talk to it. Every driver takes what it needs.
type Config struct {
	Type      string // name of the driver
	Endpoint  string // host, host:port, or URL with an optional base path
	TenantID  string // fti
	ClusterID string // fti_cm
	Auth      Auth

	// LayoutEndpoint is where nec_cdim takes its orders, where that is another address than Endpoint.
	LayoutEndpoint string

	CACertPEM      string
	CACertFile     string
	TLSServerName  string
	Insecure       bool // do not verify the certificate
	AllowPlainHTTP bool // take an endpoint http://…

	RequestTimeout time.Duration
	MutateTimeout  time.Duration
	ModelColumn    string   // fti: column that holds the model
	BusyCodes      []string // codes of errors that mean "try again later"
	CapacityCodes  []string // codes of errors that mean "none left"

	Transport http.RoundTripper // replaces the network (lab, tests); the TLS options are then ignored
	UserAgent string

	// Trace is told of every request, without bodies and without secrets. Status is 0 where there was no answer.
	Trace transport.Trace
}

// String describes the configuration without its secrets.
func (c Config) String() string { return fmt.Sprintf("%s at %s", c.Type, c.Endpoint) }

// GoString is String, so that no verb of fmt prints a password.
func (c Config) GoString() string { return c.String() }

// ConfigError says which option of a [Config] is wrong.
type ConfigError struct {
	Option string // the name that the option has in the provider block, below fabric
	Err    error
}

func (e *ConfigError) Error() string { return e.Option + ": " + e.Err.Error() }

// Is makes errors.Is(err, ErrConfig) true.
func (e *ConfigError) Is(target error) bool { return target == ErrConfig }

// Unwrap returns the reason.
func (e *ConfigError) Unwrap() error { return e.Err }
