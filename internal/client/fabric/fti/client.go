// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fti

import (
	"context"
	"errors"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/token"
)

// Client is a manager as one tenant reaches it. Both drivers are made of one.
type Client struct {
	Caller *fabric.Caller
	Tenant string
	Column string // of a specification: it holds the model

	cluster string // of CM
	source  *token.Source
}

// Need is an option that a driver cannot do without.
type Need struct{ Option, Value string }

// New makes the client of a driver. It calls nobody. The tenant is needed by both drivers.
func New(driver string, cfg fabric.Config, more ...Need) (Client, error) {
	for _, n := range append([]Need{{"tenant_id", cfg.TenantID}}, more...) {
		if strings.TrimSpace(n.Value) == "" {
			return Client{}, &fabric.ConfigError{Option: n.Option, Err: errors.New("missing, and " + driver + " needs it")}
		}
	}

	source, err := token.New(cfg)
	if err != nil {
		return Client{}, err
	}

	caller, err := fabric.NewCaller(cfg, cfg.Endpoint, source, fabric.FTI)
	if err != nil {
		return Client{}, err
	}

	column := cfg.ModelColumn
	if column == "" {
		column = fabric.DefaultModelColumn
	}

	return Client{Caller: caller, Tenant: strings.TrimSpace(cfg.TenantID), Column: column, source: source}, nil
}

// Within is the client of one cluster.
func (c Client) Within(cluster string) Client {
	c.cluster = strings.TrimSpace(cluster)

	return c
}

// Cluster is the id of the cluster; empty where the manager has none.
func (c Client) Cluster() string { return c.cluster }

// Endpoint implements fabric.Fabric. Both managers answer for the tenant (and the cluster)
// that asks, so that with another one all machines look gone.
func (c Client) Endpoint() string { return fabric.Scoped(c.Caller.Endpoint(), c.Tenant, c.cluster) }

// Token implements fabric.TokenSource.
func (c Client) Token(ctx context.Context) (fabric.Token, error) { return c.source.Token(ctx) }

// LockKey implements fabric.Fabric: FM changes one machine once at a time, and two targets of
// CM for one machine would overwrite each other.
func (c Client) LockKey(machine string) string {
	return strings.ToLower(c.Caller.Endpoint() + "/" + c.Tenant + "/" + fabric.MachineID(machine))
}

// ReadMachine asks for one machine. The second result of read says what is wrong with an answer.
func (c Client) ReadMachine(
	ctx context.Context, id string,
	request func(op, id string) fabric.Request, read func(raw []byte, id string) (fabric.Machine, string),
) (fabric.Machine, error) {
	op := "get machine " + id

	id, err := ID(op, id)
	if err != nil {
		return fabric.Machine{}, err
	}

	r := request(op, id)

	a, err := c.Caller.Do(ctx, r)
	if err != nil {
		return fabric.Machine{}, err
	}

	seen, why := read(a.Body, id)
	if why != "" {
		return fabric.Machine{}, c.Caller.Unusable(r, a, why)
	}

	return seen, nil
}
