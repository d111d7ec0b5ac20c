// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remedyvalue

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/clustervalue"
)

// Heal remediates the machine, and says in words what is wrong; false after an error.
func (a Arguments) Heal(ctx context.Context, far clustervalue.Far, say func(text string), diags *diag.Diagnostics) (cluster.Remedy, cluster.Machine, bool) {
	defer value.Guard(ctx, "remediation", "machine", diags)

	run := a.Open(ctx, far, diags)
	if run == nil {
		return cluster.Remedy{}, cluster.Machine{}, false
	}

	run.Log = func(ctx context.Context, text string) {
		tflog.Info(ctx, text, map[string]any{"cluster": a.ClusterID.ValueString()})
		say(text)
	}

	how := a.how()
	res := run.Remediate(ctx, a.Machine.ValueString(), how)

	for _, w := range res.Warnings {
		diags.AddWarning(w.Summary, value.Sentence(errors.New(w.Detail)))
	}

	if res.Err != nil {
		diags.AddError(a.Label()+" was not healed", value.Sentence(res.Err)+a.advice(ctx, how, res.Remedy))

		return cluster.Remedy{}, cluster.Machine{}, false
	}

	say(told(*res.Remedy))

	return *res.Remedy, res.Record.Machines[a.Machine.ValueString()], true
}

// Open returns the verbs of the cluster; nil after an error.
func (a Arguments) Open(ctx context.Context, far clustervalue.Far, diags *diag.Diagnostics) *cluster.Run {
	namespace, name, err := clustervalue.ParseID(a.ClusterID.ValueString())
	if err != nil {
		diags.AddError("Invalid id of a cluster", value.Sentence(err))

		return nil
	}

	run, err := clustervalue.Outside(ctx, far, namespace, name, a.Workload, diags)

	switch {
	case errors.Is(err, host.ErrUnknown):
		diags.AddError("Ironic is not known yet", value.Sentence(err))
	case err != nil:
		diags.AddError("Ironic cannot be reached", value.Sentence(err))
	}

	if diags.HasError() {
		return nil
	}

	return run
}

// advice says what stands after a failure, and what to do.
func (a Arguments) advice(ctx context.Context, how cluster.Remediation, r *cluster.Remedy) string {
	switch {
	case r == nil:
		return " Nothing was changed."
	case r.Phase != "":
		return fmt.Sprintf(" It was left while %s, which is noted on its host: apply again to go on there, or apply its cluster.", r.Phase)
	case ctx.Err() != nil:
		return " Apply again."
	case how.OnFailure == cluster.AfterFail:
		return " The machine is switched on, and the remediation is over. Look at the console of its host; strategy = \"rebuild\" makes it anew, strategy = \"replace\" moves it to another host."
	default:
		return ""
	}
}

// told is the end of a remediation for people.
func told(r cluster.Remedy) string {
	switch r.Outcome {
	case cluster.OutcomeHealthy:
		return fmt.Sprintf("Machine %s is well: Node %s is Ready (%s)", r.Machine, r.Node, attempts(r.Attempts))
	case cluster.OutcomeRestarted:
		return fmt.Sprintf("Machine %s is on again. Nobody has looked at its node: there is no workload_api", r.Machine)
	case cluster.OutcomeNoted:
		return fmt.Sprintf("Machine %s: the next apply of its cluster does it", r.Machine)
	case cluster.OutcomeGivenUp:
		return fmt.Sprintf("Machine %s is still not well (%s)", r.Machine, attempts(r.Attempts))
	default:
		return fmt.Sprintf("Machine %s: %s", r.Machine, strings.ReplaceAll(string(r.Outcome), "_", " "))
	}
}

func attempts(n int) string {
	if n == 1 {
		return "1 attempt"
	}

	return fmt.Sprintf("%d attempts", n)
}
