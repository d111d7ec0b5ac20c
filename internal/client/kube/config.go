// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
)

// DefaultTimeout bounds one request where the configuration names no bound.
const DefaultTimeout = 30 * time.Second

// Config says where an API server is and how to talk to it: by a kubeconfig (its bytes, or the
// path of its file), or by an address and credentials.
type Config struct {
	Kubeconfig []byte
	Path       string // of a kubeconfig
	Context    string // in the kubeconfig; empty means its current one

	Server             string // https://host:port
	CAData             []byte // PEM; empty means the system's authorities
	CertData, KeyData  []byte // PEM
	Token              string
	InsecureSkipVerify bool // also with a kubeconfig

	Timeout   time.Duration // of one request; 0 means DefaultTimeout
	UserAgent string
	Dial      func(ctx context.Context, network, address string) (net.Conn, error) // replaces the network (lab, tests)

	// Trace is told of every request, without bodies and without secrets. Status is 0 where there was no answer.
	Trace transport.Trace
}

// String describes the configuration without its secrets.
func (cfg Config) String() string {
	switch {
	case checkServer(cfg.Server) == nil:
		return cfg.Server
	case cfg.Server != "":
		return "an address that is none"
	case cfg.Path != "":
		return "kubeconfig " + cfg.Path
	default:
		return "kubeconfig"
	}
}

// GoString is String, so that no verb of fmt prints a key or a token.
func (cfg Config) GoString() string { return cfg.String() }

// ConfigError says what of a [Config] is wrong. It never repeats a value that may be a secret.
type ConfigError struct {
	Option string // "kubeconfig", "context", "server", "ca", "client certificate"
	Err    error
}

func (e *ConfigError) Error() string { return e.Option + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *ConfigError) Unwrap() error { return e.Err }

func wrong(option, format string, args ...any) error {
	return &ConfigError{option, fmt.Errorf(format, args...)}
}

// settings turns the configuration into client-go's.
func (cfg Config) settings() (*rest.Config, error) {
	raw := cfg.Kubeconfig

	switch {
	case cfg.Path != "" && len(raw) > 0:
		return nil, wrong("kubeconfig", "give its content or its path, not both")
	case cfg.Path != "":
		content, err := os.ReadFile(cfg.Path)
		if err != nil {
			return nil, &ConfigError{"kubeconfig", err} // it names the file
		}

		if raw = content; len(raw) == 0 {
			return nil, wrong("kubeconfig", "%s is empty", cfg.Path)
		}
	}

	switch {
	case len(raw) > 0 && cfg.Server != "":
		return nil, wrong("kubeconfig", "give a kubeconfig or a server, not both")
	case len(raw) > 0:
		return cfg.fromKubeconfig(raw)
	case cfg.Server == "":
		return nil, wrong("kubeconfig", "neither a kubeconfig nor a server is given")
	}

	if err := checkServer(cfg.Server); err != nil {
		return nil, &ConfigError{"server", err}
	}

	return &rest.Config{
		Host:        cfg.Server,
		BearerToken: cfg.Token,
		TLSClientConfig: rest.TLSClientConfig{
			Insecure: cfg.InsecureSkipVerify, CAData: cfg.CAData, CertData: cfg.CertData, KeyData: cfg.KeyData,
		},
	}, nil
}

// fromKubeconfig reads a kubeconfig and follows its context.
func (cfg Config) fromKubeconfig(raw []byte) (*rest.Config, error) {
	file, err := clientcmd.Load(raw)
	if err != nil {
		return nil, &ConfigError{"kubeconfig", withoutContent(err)}
	}

	if err := cfg.checkContext(file); err != nil {
		return nil, err
	}

	if cfg.Path != "" {
		for _, cluster := range file.Clusters {
			cluster.LocationOfOrigin = cfg.Path
		}

		for _, user := range file.AuthInfos {
			user.LocationOfOrigin = cfg.Path
		}

		// file names in a kubeconfig are relative to it
		if err := clientcmd.ResolveLocalPaths(file); err != nil {
			return nil, &ConfigError{"kubeconfig", err}
		}
	}

	overrides := &clientcmd.ConfigOverrides{CurrentContext: cfg.Context}

	settings, err := clientcmd.NewNonInteractiveClientConfig(*file, cfg.Context, overrides, nil).ClientConfig()
	if err != nil {
		return nil, &ConfigError{"kubeconfig", err} // it names contexts, users and files
	}

	if cfg.InsecureSkipVerify {
		settings.Insecure, settings.CAData, settings.CAFile = true, nil, ""
	}

	return settings, nil
}

// checkContext says in our own words what is missing in a kubeconfig.
func (cfg Config) checkContext(file *clientcmdapi.Config) error {
	name := cfg.Context
	if name == "" {
		name = file.CurrentContext
	}

	if name == "" {
		return wrong("kubeconfig", "it has no current-context, and none is chosen")
	}

	found, ok := file.Contexts[name]
	if !ok || found == nil {
		return wrong("context", "the kubeconfig has no context %q", name)
	}

	cluster, ok := file.Clusters[found.Cluster]
	if !ok || cluster == nil {
		return wrong("kubeconfig", "its context %q names the cluster %q, which is not there", name, found.Cluster)
	}

	if _, ok := file.AuthInfos[found.AuthInfo]; !ok && found.AuthInfo != "" {
		return wrong("kubeconfig", "its context %q names the user %q, who is not there", name, found.AuthInfo)
	}

	if err := checkServer(cluster.Server); err != nil {
		return wrong("kubeconfig", "the server of its cluster %q: %w", found.Cluster, err)
	}

	return nil
}

// checkServer refuses addresses that cannot work. It never repeats one: somebody may have put a password into it.
func checkServer(server string) error {
	if strings.TrimSpace(server) == "" {
		return errors.New("the address is missing")
	}

	u, err := url.Parse(server)

	switch {
	case err != nil || u.Hostname() == "":
		return errors.New("not a URL like https://host:6443")
	case u.User != nil:
		return errors.New("credentials do not belong in the URL")
	case u.Scheme != "https":
		return errors.New("the URL must begin with https://")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("the URL must have no query and no fragment")
	}

	return nil
}

// checkTLS reads the certificates of the settings.
func checkTLS(settings *rest.Config) error {
	if len(settings.CAData) > 0 && !x509.NewCertPool().AppendCertsFromPEM(settings.CAData) {
		return &ConfigError{"certificate authority", transport.ErrNoPEM}
	}

	switch cert, key := len(settings.CertData) > 0, len(settings.KeyData) > 0; {
	case cert != key && settings.CertFile == "" && settings.KeyFile == "":
		return wrong("client certificate", "a client certificate and its key come together")
	case !cert || !key:
		return nil
	}

	if _, err := tls.X509KeyPair(settings.CertData, settings.KeyData); err != nil {
		return wrong("client certificate", "certificate and key do not fit together, or are not PEM: %w", err)
	}

	return nil
}

var lineOf = regexp.MustCompile(`line \d+`)

// withoutContent says what is wrong with a kubeconfig without the parser's words, which quote it.
func withoutContent(err error) error {
	text := err.Error()

	switch {
	case strings.Contains(text, "illegal base64"):
		return errors.New("one of its …-data fields is not base64")
	case lineOf.MatchString(text):
		return fmt.Errorf("not YAML (%s)", lineOf.FindString(text))
	case strings.Contains(text, "no kind"), strings.Contains(text, "kind"):
		return errors.New("not a document of kind Config (apiVersion v1)")
	default:
		return errors.New("it cannot be read as a kubeconfig: a field has the wrong type")
	}
}
