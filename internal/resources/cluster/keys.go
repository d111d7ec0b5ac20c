// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// keysKey is where private state has the keys that were made for a cluster.
const keysKey = "pki"

// private is private state that can be read.
type private interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

// keeper is private state that can be written.
type keeper interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// made are the keys that were made for the cluster, from private state.
func made(ctx context.Context, from private, diags *diag.Diagnostics) bootstrap.PKI {
	var out bootstrap.PKI

	if from == nil {
		return out
	}

	raw, d := from.GetKey(ctx, keysKey)
	diags.Append(d...)

	if len(raw) == 0 {
		return out
	}

	if err := json.Unmarshal(raw, &out); err != nil {
		diags.AddError("Keys of the cluster cannot be read", "Private state holds something else under "+keysKey+"; it was written by another version of the provider, or damaged.")
	}

	return out
}

// keys are all keys of the cluster: those that the user brings, then those that were made. Where
// some are missing and anew is set they are made now; fresh are those to keep.
func (m model) keys(ctx context.Context, config *model, have bootstrap.PKI, anew bool, diags *diag.Diagnostics) (all, fresh bootstrap.PKI) {
	k, ok := m.kubeadm(ctx, diags)
	if !ok {
		return bootstrap.PKI{}, have
	}

	var written *kubeadmModel

	if config != nil {
		if c, ok := config.kubeadm(ctx, diags); ok {
			written = &c
		}
	}

	given := k.pki(ctx, written, diags)
	all = overlay(given, have)

	if !anew {
		return all, have
	}

	all, err := bootstrap.Generate(all, bootstrap.PKIOptions{Algorithm: bootstrap.Algorithm(k.Algorithm.ValueString()), Now: time.Now()})
	if err != nil {
		diags.AddAttributeError(pathBootstrap.AtName("kubeadm").AtName("pki"), "Keys of "+m.inLabel()+" are not right", value.Sentence(err))

		return all, have
	}

	// What the user brings is not ours to keep.
	return all, overlay(bootstrap.PKI{}, bootstrap.PKI{
		CA: unless(given.CA, all.CA), EtcdCA: unless(given.EtcdCA, all.EtcdCA), FrontProxyCA: unless(given.FrontProxyCA, all.FrontProxyCA),
		ServiceAccount: unless(given.ServiceAccount, all.ServiceAccount),
	})
}

// overlay takes each pair from the first that has it.
func overlay(first, then bootstrap.PKI) bootstrap.PKI {
	pick := func(a, b bootstrap.Pair) bootstrap.Pair {
		if a != (bootstrap.Pair{}) {
			return a
		}

		return b
	}

	return bootstrap.PKI{
		CA: pick(first.CA, then.CA), EtcdCA: pick(first.EtcdCA, then.EtcdCA), FrontProxyCA: pick(first.FrontProxyCA, then.FrontProxyCA),
		ServiceAccount: pick(first.ServiceAccount, then.ServiceAccount),
	}
}

// unless is a pair that nobody gave.
func unless(given, all bootstrap.Pair) bootstrap.Pair {
	if given != (bootstrap.Pair{}) {
		return bootstrap.Pair{}
	}

	return all
}

// keepUnless keeps the keys of an update, unless it was refused because they are not the cluster's.
func keepUnless(ctx context.Context, err error, to keeper, fresh bootstrap.PKI, diags *diag.Diagnostics) {
	if !errors.Is(err, cluster.ErrOtherKeys) {
		keep(ctx, to, fresh, diags)
	}
}

// keep writes the keys that were made to private state.
func keep(ctx context.Context, to keeper, fresh bootstrap.PKI, diags *diag.Diagnostics) {
	if fresh == (bootstrap.PKI{}) {
		return
	}

	raw, err := json.Marshal(fresh)
	if err != nil {
		diags.AddError("Keys of the cluster cannot be kept", value.Sentence(err))

		return
	}

	diags.Append(to.SetKey(ctx, keysKey, raw)...)
}
