// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// fabricSettings are what the block and the environment say of the fabric manager.
type fabricSettings struct {
	config  fabric.Config
	journal string // directory, journalOff, or empty: the default
	state   string // where programs of this user keep their state; empty: not known
	poll    time.Duration
}

// What counts where neither block nor environment says anything of the fabric.
const (
	defaultFabricType = "fti_fm"
	defaultPoll       = 5 * time.Second

	journalOff  = "off"
	journalName = "fabric-journal"
)

// fabric reads how to reach the fabric manager.
func (r *reader) fabric(ctx context.Context, m fabricModel) fabricSettings {
	at := fabricPath.AtName
	s := fabricSettings{
		config: fabric.Config{
			Type:           r.text(m.Type, at("type"), envFabricType),
			TenantID:       r.text(m.TenantID, at("tenant_id"), envFabricTenant),
			ClusterID:      r.text(m.ClusterID, at("cluster_id"), envFabricCluster),
			CACertPEM:      r.text(m.CACertPEM, at("ca_cert_pem")),
			CACertFile:     r.text(m.CACertFile, at("ca_cert_file"), envFabricCACert),
			TLSServerName:  r.text(m.TLSServerName, at("tls_server_name")),
			Insecure:       r.truth(m.InsecureSkipVerify, at("insecure_skip_verify"), ""),
			AllowPlainHTTP: r.truth(m.AllowPlainHTTP, at("allow_plain_http"), ""),
			RequestTimeout: r.duration(m.RequestTimeout, at("request_timeout"), ""),
			MutateTimeout:  r.duration(m.MutateTimeout, at("mutate_timeout"), ""),
			ModelColumn:    r.text(m.ModelColumn, at("model_column")),
			BusyCodes:      r.texts(m.BusyErrorCodes, at("busy_error_codes")),
			CapacityCodes:  r.texts(m.CapacityErrorCodes, at("capacity_error_codes")),
		},
		poll:    r.duration(m.PollInterval, at("poll_interval"), ""),
		journal: r.text(m.JournalDir, at("journal_dir")),
		state:   stateHome(r.env),
	}

	if s.config.Type == "" && !m.Type.IsUnknown() {
		s.config.Type = defaultFabricType
	}

	if s.poll == 0 {
		s.poll = defaultPoll
	}

	switch {
	case m.CACertPEM.ValueString() == "":
	case m.CACertFile.ValueString() == "":
		s.config.CACertFile = "" // what the block says counts before the environment
	default:
		r.diags.AddAttributeError(at("ca_cert_file"), "Two sources of certificate authorities", "ca_cert_pem and ca_cert_file exclude each other: remove one of them.")
	}

	r.fabricAuth(ctx, m, &s.config)
	r.fabricEndpoints(m, &s.config)
	r.fabricRisks(s.config)

	return s
}

func (r *reader) fabricAuth(ctx context.Context, m fabricModel, cfg *fabric.Config) {
	in := fabricPath.AtName("auth")
	a := decode(ctx, m.Auth, unknownAuth, r.diags)

	cfg.Auth = fabric.Auth{
		Realm:        r.text(a.Realm, in.AtName("realm"), envFabricRealm),
		ClientID:     r.text(a.ClientID, in.AtName("client_id"), envFabricClient),
		ClientSecret: r.text(a.ClientSecret, in.AtName("client_secret"), envFabricSecret),
		Username:     r.text(a.Username, in.AtName("username"), envFabricUsername),
		Password:     r.text(a.Password, in.AtName("password"), envFabricPassword),
	}
}

// fabricEndpoints reads addresses. Each driver takes them in the same spellings; they are
// checked here so that a plan already says what is wrong with them.
func (r *reader) fabricEndpoints(m fabricModel, cfg *fabric.Config) {
	at := fabricPath.AtName
	cfg.Endpoint = strings.TrimSpace(r.text(m.Endpoint, at("endpoint"), envFabricEndpoint))
	cfg.LayoutEndpoint = strings.TrimSpace(r.text(m.LayoutEndpoint, at("layout_endpoint")))

	plain := cfg.AllowPlainHTTP || m.AllowPlainHTTP.IsUnknown()

	for name, address := range map[string]string{"endpoint": cfg.Endpoint, "layout_endpoint": cfg.LayoutEndpoint} {
		if address == "" {
			continue
		}

		if _, err := fabric.NormalEndpoint(address, plain); err != nil {
			r.diags.AddAttributeError(at(name), "Invalid address of the fabric manager", "fabric."+name+" "+err.Error()+"."+
				map[string]string{"endpoint": " Where the attribute is absent, the environment variable " + envFabricEndpoint + " counts."}[name])
		}
	}
}

// fabricRisks warns of what is open to whoever sits between.
func (r *reader) fabricRisks(cfg fabric.Config) {
	if cfg.Insecure {
		r.diags.AddAttributeWarning(fabricPath.AtName("insecure_skip_verify"), "TLS certificate of the fabric manager is not verified",
			"Anybody between this machine and the fabric manager can read and change what is sent, the password included. "+
				"Give the certificate authority in ca_cert_file ("+envFabricCACert+") or ca_cert_pem instead of insecure_skip_verify.")
	}

	if cfg.AllowPlainHTTP && (strings.HasPrefix(strings.ToLower(cfg.Endpoint), "http://") || strings.HasPrefix(strings.ToLower(cfg.LayoutEndpoint), "http://")) {
		r.diags.AddAttributeWarning(fabricPath.AtName("allow_plain_http"), "The fabric manager is talked to without TLS",
			"Anybody between this machine and the fabric manager can read and change what is sent, the password included. Use an address https://….")
	}
}

// stateHome is where programs of this user keep their state, as the XDG base directory specification has it.
func stateHome(env func(string) string) string {
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir
	}

	if home := first(env("HOME"), env("USERPROFILE")); home != "" {
		return filepath.Join(home, ".local", "state")
	}

	return ""
}

// errNoState says that the default place of the journal is nowhere.
var errNoState = errors.New("fabric.journal_dir: no home directory is known (neither XDG_STATE_HOME nor HOME is set): " +
	"name a directory that outlives this run, or set journal_dir = \"" + journalOff + "\" to go without a journal")

// journalDir is where the journal of orders is; empty: there is none.
func (s settings) journalDir() (string, error) {
	switch {
	case s.fabric.journal == journalOff:
		return "", nil
	case s.fabric.journal != "":
		return s.fabric.journal, nil
	case s.lab != nil:
		return filepath.Join(s.lab.dir, journalName), nil
	case s.fabric.state == "":
		return "", errNoState
	default:
		return filepath.Join(s.fabric.state, "terraform-provider-metal3", journalName), nil
	}
}
