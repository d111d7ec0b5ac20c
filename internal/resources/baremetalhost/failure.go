// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// attempt is what a verb tried, for the words about its failure.
type attempt struct {
	verb  string // "provision", "update", "delete", …
	name  string
	goal  host.Goal
	run   *host.Run
	seen  host.Seen
	start time.Time
	err   error
	far   host.Backend
	plain bool // the password is the plain one
}

// words says what happened, to what, what the far side said, and what stands.
func (a attempt) words(ctx context.Context) (summary, detail string) {
	summary = fmt.Sprintf("%s: host %s did not become %s", a.kind(), a.name, a.goal)
	if a.verb == "delete" {
		summary = fmt.Sprintf("%s: host %s was not deleted", a.kind(), a.name)
	}

	var b strings.Builder

	b.WriteString(sentence(a.err))

	var timeout *wait.TimeoutError
	if errors.As(a.err, &timeout) {
		b.Reset()
		fmt.Fprintf(&b, "Waited %s for state %q; last seen: %s.", timeout.Waited.Round(time.Second), a.goal, timeout.Note)
	}

	n := a.seen.Node
	if n.UUID != "" {
		fmt.Fprintf(&b, "\nThe node is %s in Ironic %s, in state %q", n.UUID, a.far.Endpoint(), n.ProvisionState)

		if n.TargetProvisionState != "" {
			fmt.Fprintf(&b, " on the way to %q", n.TargetProvisionState)
		}

		fmt.Fprintf(&b, ", %s after this began.", time.Since(a.start).Round(time.Second))
	}

	a.quote(ctx, &b)

	return summary, b.String()
}

// quote adds the far side's words that the error itself does not carry.
func (a attempt) quote(ctx context.Context, b *strings.Builder) {
	said := []string{}
	if a.run != nil {
		said = append(said, a.run.Words...)
	}

	if len(said) == 0 && a.seen.Node.LastError != "" && host.Failed(a.seen.Node.ProvisionState) {
		said = append(said, a.seen.Node.LastError)
	}

	if len(said) == 0 && host.Failed(a.seen.Node.ProvisionState) {
		// The context may have ended; a few seconds for the history are worth it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()

		said = a.far.LastWords(ctx, a.seen.Node.UUID)
	}

	for _, s := range said {
		if !strings.Contains(b.String(), s) {
			fmt.Fprintf(b, "\nIronic says: %s", strings.TrimSpace(s))
		}
	}

	if n := a.seen.Node; n.Fault != "" {
		fmt.Fprintf(b, "\nThe node has the fault %q (%s).", n.Fault, n.MaintenanceReason)
	}
}

// kind is the baremetal-operator's event that this failure would be.
func (a attempt) kind() string {
	var credentials *host.CredentialsError

	switch {
	case errors.As(a.err, &credentials):
		return "RegistrationError"
	case a.verb == "delete":
		return "DeprovisioningError"
	}

	switch p := host.Phase(a.seen.ProvisioningState()); p {
	case "", host.PhaseRegistering:
		return "RegistrationError"
	case host.PhaseInspecting:
		return "InspectionError"
	case host.PhasePreparing:
		return "PreparationError"
	case host.PhaseExternallyProvisioned:
		return "ProvisionedRegistrationError"
	default:
		if a.seen.Node.Fault != "" {
			return "PowerManagementError"
		}

		return "ProvisioningError"
	}
}

// path is the attribute that is to blame, where one is.
func (a attempt) path() (path.Path, bool) {
	var (
		exists      *host.ExistsError
		failed      *host.FailedError
		credentials *host.CredentialsError
	)

	switch {
	case errors.As(a.err, &exists) && exists.MAC != "":
		return pathBootMAC, true
	case errors.As(a.err, &exists):
		return path.Root("name"), true
	case errors.As(a.err, &credentials), errors.As(a.err, &failed) && failed.Step == host.Manage && host.RefusedCredentials(failed.LastError):
		if a.plain {
			return pathBMC.AtName("password"), true
		}

		return pathPassword, true
	case errors.As(a.err, &failed) && failed.Step == host.Manage && failed.State == ironic.Enroll:
		return pathAddress, true
	case errors.As(a.err, &failed) && (failed.Step == host.Deploy || failed.Step == host.Rebuild) && strings.Contains(strings.ToLower(failed.LastError), "checksum"):
		return pathImage.AtName("checksum"), true
	case errors.As(a.err, &failed) && (failed.Step == host.Deploy || failed.Step == host.Rebuild) && strings.Contains(strings.ToLower(failed.LastError), "image"):
		return pathImage, true
	default:
		return path.Empty(), false
	}
}

// error makes the failure an error, on the attribute where one is to blame.
func (a attempt) error(ctx context.Context, advice string, diags *diag.Diagnostics) {
	summary, detail := a.words(ctx)
	detail += advice

	if p, ok := a.path(); ok {
		if len(p.Steps()) > 1 {
			// Terraform shows the line of an attribute only where it is at the top.
			detail += "\nThe attribute is " + p.String() + "."
		}

		diags.AddAttributeError(p, summary, detail)
	} else {
		diags.AddError(summary, detail)
	}
}

// warning makes the failure a warning: the resource is kept as it is.
func (a attempt) warning(ctx context.Context, advice string, diags *diag.Diagnostics) {
	summary, detail := a.words(ctx)
	diags.AddWarning(summary, detail+advice)
}

// interrupted reports whether the user asked Terraform to stop.
func interrupted(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled)
}

// sentence makes an error a sentence.
func sentence(err error) string { return value.Sentence(err) }

// sentenceOf makes a text a sentence.
func sentenceOf(s string) string { return value.Sentence(errors.New(s)) }

func documentValue(m map[string]any) value.Document {
	doc, err := json.Marshal(m)
	if err != nil {
		return value.NullDocument()
	}

	return value.NewDocument(string(doc))
}
