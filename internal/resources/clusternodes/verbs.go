// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusternodes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

const (
	limit    = 30 * time.Minute // of waiting, where the configuration says nothing
	askLimit = 10 * time.Second // of a refresh: the API of a cluster may be away
)

// Create implements [resource.Resource].
func (r *nodesResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan, config model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	timeout, diags := plan.Timeouts.Create(ctx, limit)
	resp.Diagnostics.Append(diags...)

	if resp.Diagnostics.HasError() {
		return
	}

	plan.fill(outcome{}, "")
	r.join(ctx, &plan, config.KubeconfigWO, timeout, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)

	// What was reached is in the state, and nothing would be undone: no reason to taint it.
	if resp.Diagnostics.HasError() && errors.Is(context.Cause(ctx), context.Canceled) {
		resp.Diagnostics = asWarnings(resp.Diagnostics)
	}
}

// asWarnings makes warnings of errors.
func asWarnings(diags diag.Diagnostics) diag.Diagnostics {
	var out diag.Diagnostics
	for _, d := range diags {
		out.AddWarning(d.Summary(), d.Detail())
	}

	return out
}

// Update implements [resource.Resource].
func (r *nodesResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, config, state model

	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	timeout, diags := plan.Timeouts.Update(ctx, limit)
	resp.Diagnostics.Append(diags...)

	if resp.Diagnostics.HasError() {
		return
	}

	// Where nobody can be asked: the Nodes as they were, and a reason for the next plan to try again.
	plan.ID, plan.Nodes, plan.Drift, plan.Ready = state.ID, state.Nodes, state.Drift, types.BoolValue(false)

	r.join(ctx, &plan, config.KubeconfigWO, timeout, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Delete implements [resource.Resource]: the machines stay, and so do their Nodes.
func (r *nodesResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// join waits for all Nodes side by side and makes them what is wanted. What was reached is in the model,
// whatever went wrong.
func (r *nodesResource) join(ctx context.Context, m *model, secret types.String, timeout time.Duration, diags *diag.Diagnostics) {
	api, err := m.client(secret)
	if err == nil && api == nil {
		err = errors.New("there is no kubeconfig: set kubeconfig, kubeconfig_wo or kubeconfig_path")
	}

	if err != nil {
		diags.AddError(m.label()+" cannot be reached", value.Sentence(err))

		return
	}

	c, err := r.crew(ctx, *m, diags)
	if err == nil && len(c.wants) == 0 {
		err = errNoMachines
	}

	if err != nil {
		diags.AddError(m.label()+" are not known", value.Sentence(err))

		return
	}

	o := joinAll(ctx, nodes.NewHub(api), c, timeout)
	m.fill(o.outcome, api.Server())

	if len(o.errs) > 0 {
		diags.AddError(fmt.Sprintf("%s: %d of %d are not as configured", m.label(), len(o.errs), len(c.wants)),
			strings.Join(o.errs, "\n")+"\nThe other Nodes are done. The next apply goes on; nothing is undone by it.")
	}
}

// joined is what came of all joins.
type joined struct {
	outcome

	errs []string
}

func joinAll(ctx context.Context, api nodes.Workload, c crew, timeout time.Duration) joined {
	var (
		out = joined{outcome: outcome{nodes: map[string]nodes.State{}}}
		mu  sync.Mutex
		all sync.WaitGroup
	)

	for _, w := range c.wants {
		all.Go(func() {
			got, err := nodes.Join(ctx, api, w, c.existing, timeout)

			mu.Lock()
			defer mu.Unlock()

			out.nodes[w.Machine] = nodes.State{Node: got.Node, ProviderID: got.ProviderID, Ready: readiness(got)}

			if err != nil {
				out.errs = append(out.errs, value.Sentence(err))
			}
		})
	}

	all.Wait()

	out.errs = sorted(out.errs)
	out.ready = len(out.errs) == 0
	out.drift = out.errs

	return out
}

func readiness(got nodes.Joined) string {
	switch {
	case got.Node == "":
		return ""
	case got.Ready:
		return "True"
	default:
		return "False"
	}
}

// Read implements [resource.Resource]. A cluster that does not answer changes nothing.
func (r *nodesResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state model

	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)

	if resp.Diagnostics.HasError() {
		return
	}

	bounded, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()

	api, err := state.client(types.StringNull())
	if err == nil && api == nil {
		return // the kubeconfig was write-only: nobody can be asked
	}

	var seen outcome

	if err == nil {
		seen, err = r.look(bounded, state, api, &resp.Diagnostics)
	}

	if err != nil {
		resp.Diagnostics.AddWarning(state.label()+" are not known", value.Sentence(err)+" What the state says of them stays.")

		return
	}

	state.fill(seen, api.Server())
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// look compares all Nodes with what is wanted, from one list.
func (r *nodesResource) look(ctx context.Context, m model, api nodes.Workload, diags *diag.Diagnostics) (outcome, error) {
	c, err := r.crew(ctx, m, diags)
	if err != nil {
		return outcome{}, err
	}

	states, err := nodes.Status(ctx, api, c.wants)
	if err != nil {
		return outcome{}, err
	}

	o := outcome{nodes: states, ready: len(c.wants) > 0}

	for _, w := range c.wants {
		s := states[w.Machine]

		switch {
		case s.Problem != "":
			o.drift = append(o.drift, w.Machine+": "+s.Problem)
		case s.Node == "":
			o.drift = append(o.drift, w.Machine+": no node")
		case w.Ready && s.Ready != "True":
			o.drift = append(o.drift, w.Machine+": node "+s.Node+" is not Ready")
		default:
			for _, d := range s.Differs {
				o.drift = append(o.drift, w.Machine+": "+d)
			}

			continue
		}

		o.ready = false
	}

	o.drift = sorted(o.drift)

	return o, nil
}
