// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

var goals = []host.Goal{host.Provisioned, host.Available, host.ExternallyProvisioned, host.Deleted}

// calm are the facts of a host of ours on which there is nothing to remark.
func calm(s ironic.State) host.Facts {
	return host.Facts{
		State: s, Power: ironic.PowerOn, WantOn: true, InSync: true, AsWanted: true, Claim: host.ClaimOurs,
		Policy: host.PolicyDeprovision, PowerOffFirst: true, Attempts: 3, Tried: map[host.Step]int{},
	}
}

// next is a step, or the kind of the error.
func next(f host.Facts, g host.Goal) (string, error) {
	step, err := host.Next(f, g)

	var (
		stuck  *host.StuckError
		failed *host.FailedError
	)

	switch {
	case errors.As(err, &stuck):
		return "stuck", err
	case errors.As(err, &failed):
		return "failed", err
	case err != nil:
		return "an error without a type", err
	default:
		return string(step), nil
	}
}

// steps is the table of the documentation for a host without remarks. The columns are the
// goals: provisioned, available, externally provisioned, deleted.
var steps = map[ironic.State][4]string{
	"":                    {"register", "register", "register", "stop"},
	ironic.Enroll:         {"manage", "manage", "manage", "remove the claim"},
	ironic.Verifying:      {"wait", "wait", "wait", "wait"},
	ironic.Manageable:     {"provide", "stop", "adopt", "power off"},
	ironic.Inspecting:     {"wait", "wait", "wait", "wait"},
	ironic.InspectWait:    {"wait", "wait", "wait", "abort"},
	ironic.InspectFailed:  {"inspect", "inspect", "manage", "manage"},
	ironic.Cleaning:       {"wait", "wait", "wait", "wait"},
	ironic.CleanWait:      {"wait", "wait", "wait", "wait"},
	ironic.CleanHold:      {"wait", "wait", "wait", "abort"},
	ironic.CleanFailed:    {"manage", "manage", "manage", "manage"},
	ironic.Available:      {"active", "stop", "manage", "power off"},
	ironic.Deploying:      {"wait", "wait", "wait", "wait"},
	ironic.WaitCallBack:   {"wait", "deleted", "wait", "deleted"},
	ironic.DeployHold:     {"wait", "wait", "wait", "abort"},
	ironic.DeployFailed:   {"active", "deleted", "stuck", "deleted"},
	ironic.Active:         {"stop", "stuck", "stop", "deleted"},
	ironic.Deleting:       {"wait", "wait", "wait", "wait"},
	ironic.Error:          {"deleted", "deleted", "stuck", "deleted"},
	ironic.Adopting:       {"wait", "wait", "wait", "wait"},
	ironic.AdoptFailed:    {"manage", "manage", "adopt", "manage"},
	ironic.Servicing:      {"wait", "wait", "wait", "wait"},
	ironic.ServiceWait:    {"wait", "stuck", "wait", "abort"},
	ironic.ServiceHold:    {"wait", "wait", "wait", "abort"},
	ironic.ServiceFailed:  {"abort", "stuck", "abort", "deleted"},
	ironic.Rescuing:       {"wait", "wait", "wait", "wait"},
	ironic.RescueWait:     {"stuck", "stuck", "stuck", "deleted"},
	ironic.Rescue:         {"stuck", "stuck", "stuck", "deleted"},
	ironic.RescueFailed:   {"stuck", "stuck", "stuck", "deleted"},
	ironic.Unrescuing:     {"wait", "wait", "wait", "wait"},
	ironic.UnrescueFailed: {"stuck", "stuck", "stuck", "deleted"},
}

func TestNext_everyStateForEveryGoal(t *testing.T) {
	t.Parallel()

	for state, row := range steps {
		for i, goal := range goals {
			t.Run(string(state)+" to "+string(goal), func(t *testing.T) {
				t.Parallel()

				got, err := next(calm(state), goal)
				if got != row[i] {
					t.Errorf("got %s (%v), want %s", got, err, row[i])
				}

				if got == "stuck" && !strings.Contains(err.Error(), `to "`+string(goal)+`"`) {
					t.Errorf("%v names another goal", err)
				}
			})
		}
	}
}

func TestNext_aStateWithoutARowIsNamed(t *testing.T) {
	t.Parallel()

	for _, goal := range goals {
		if got, err := next(calm("hibernating"), goal); got != "stuck" || !strings.Contains(err.Error(), "hibernating") {
			t.Errorf("%s: got %s, %v", goal, got, err)
		}
	}
}

// circumstance is a host that is not calm.
type circumstance struct {
	state ironic.State
	goal  host.Goal
	with  func(*host.Facts)
	want  string
	says  string // in the error
}

func (c circumstance) check(t *testing.T) {
	t.Helper()

	f := calm(c.state)
	if c.with != nil {
		c.with(&f)
	}

	got, err := next(f, c.goal)
	if got != c.want {
		t.Fatalf("got %s (%v), want %s", got, err, c.want)
	}

	if err != nil && !strings.Contains(err.Error(), c.says) {
		t.Errorf("%q does not say %q", err, c.says)
	}
}

func checkAll(t *testing.T, cases map[string]circumstance) {
	t.Helper()

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

func tried(s host.Step, n int) func(*host.Facts) {
	return func(f *host.Facts) { f.Tried[s] = n }
}

// all joins circumstances.
func all(with ...func(*host.Facts)) func(*host.Facts) {
	return func(f *host.Facts) {
		for _, w := range with {
			w(f)
		}
	}
}

func lastError(s string) func(*host.Facts) { return func(f *host.Facts) { f.LastError = s } }
func maintained(f *host.Facts)             { f.Maintenance = true }
func uninspected(f *host.Facts)            { f.NeedsInspection = true }
func unexamined(f *host.Facts)             { f.NeedsExamination = true }
func wasDeployed(f *host.Facts)            { f.WasDeployed = true }
func other(f *host.Facts)                  { f.AsWanted, f.Difference = false, "image_url" }
func consented(f *host.Facts)              { f.Consent = true }
func forced(f *host.Facts)                 { f.Force = true }
func external(f *host.Facts)               { f.External = true }
func off(f *host.Facts)                    { f.Power = ironic.PowerOff }
func unclaimed(f *host.Facts)              { f.Claim = host.ClaimNone }
func foreign(f *host.Facts)                { f.NotOurs = "no mark" }
func detach(f *host.Facts)                 { f.Policy = host.PolicyDetach }
func powerOff(f *host.Facts)               { f.Policy = host.PolicyPowerOff }
func consumed(f *host.Facts)               { f.Consumed, f.Claim, f.ClaimID = true, host.ClaimForeign, "c1" }
func protected(f *host.Facts)              { f.Protected, f.ProtectedReason = true, "database" }
func retired(f *host.Facts)                { f.Retired, f.RetiredReason = true, "old" }
func faulty(f *host.Facts)                 { f.Fault, f.Maintenance = "power failure", true }
func unsettled(f *host.Facts)              { f.InSync, f.Differs = false, "description" }

func TestNext_towardsAvailable(t *testing.T) {
	t.Parallel()
	checkAll(t, map[string]circumstance{
		"a host without an inventory is inspected":          {ironic.Manageable, host.Provisioned, uninspected, "inspect", ""},
		"also when it is only to be available":              {ironic.Manageable, host.Available, uninspected, "inspect", ""},
		"an offered one is managed for that":                {ironic.Available, host.Available, uninspected, "manage", ""},
		"also before it is deployed":                        {ironic.Available, host.Provisioned, uninspected, "manage", ""},
		"an inventory is taken over":                        {ironic.Manageable, host.Available, unexamined, "examine", ""},
		"also before a deployment":                          {ironic.Available, host.Provisioned, unexamined, "examine", ""},
		"an offered host, too":                              {ironic.Available, host.Available, unexamined, "examine", ""},
		"a machine that runs is adopted, not inspected":     {ironic.Manageable, host.Provisioned, all(wasDeployed, uninspected), "adopt", ""},
		"also to wipe it":                                   {ironic.Manageable, host.Available, all(wasDeployed, uninspected), "adopt", ""},
		"an adoption that failed is tried once more":        {ironic.AdoptFailed, host.Provisioned, all(wasDeployed, tried(host.Adopt, 1)), "adopt", ""},
		"and then is an error":                              {ironic.AdoptFailed, host.Provisioned, all(wasDeployed, tried(host.Adopt, 2), lastError("no boot")), "failed", "no boot"},
		"maintenance ends before a verb":                    {ironic.Manageable, host.Provisioned, maintained, "unset maintenance", ""},
		"before managing, too":                              {ironic.Enroll, host.Provisioned, maintained, "unset maintenance", ""},
		"and before recovering a failed cleaning":           {ironic.CleanFailed, host.Available, maintained, "unset maintenance", ""},
		"somebody who sets it each time wins":               {ironic.CleanFailed, host.Available, all(maintained, tried(host.Unmaintain, 8)), "failed", ""},
		"a retired host is not provided":                    {ironic.Manageable, host.Provisioned, retired, "stuck", "old"},
		"an inspection that failed is repeated":             {ironic.InspectFailed, host.Available, tried(host.Inspect, 1), "inspect", ""},
		"once":                                              {ironic.InspectFailed, host.Available, all(tried(host.Inspect, 2), lastError("timeout")), "failed", "timeout"},
		"a registration that failed is repeated":            {ironic.Enroll, host.Available, all(tried(host.Manage, 1), lastError("no route")), "manage", ""},
		"once as well":                                      {ironic.Enroll, host.Available, all(tried(host.Manage, 2), lastError("no route")), "failed", "no route"},
		"a refused password is not":                         {ironic.Enroll, host.Available, all(tried(host.Manage, 1), lastError("HTTP GET code 401 Unauthorized")), "failed", "401"},
		"an old error is no reason not to try":              {ironic.Enroll, host.Available, lastError("code 401"), "manage", ""},
		"a cleaning that failed is repeated":                {ironic.CleanFailed, host.Provisioned, all(tried(host.Provide, 2), tried(host.Manage, 3)), "manage", ""},
		"a few times":                                       {ironic.CleanFailed, host.Provisioned, all(tried(host.Provide, 3), lastError("agent")), "failed", "agent"},
		"settings are brought in line at rest":              {ironic.Available, host.Available, unsettled, "configure", ""},
		"a far side that keeps its own settings is named":   {ironic.Available, host.Available, all(unsettled, tried(host.Configure, 6)), "stuck", "description"},
		"new credentials are tried once they are written":   {ironic.Manageable, host.Available, func(f *host.Facts) { f.VerifyBMC = true }, "verify bmc", ""},
		"but written first":                                 {ironic.Manageable, host.Available, all(unsettled, func(f *host.Facts) { f.VerifyBMC = true }), "configure", ""},
		"a power failure is waited for":                     {ironic.Manageable, host.Available, faulty, "wait", ""},
		"another owner's node is not touched":               {ironic.Manageable, host.Available, func(f *host.Facts) { f.Stranger, f.NotOurs = "of b", "of b" }, "stuck", "of b"},
		"not even when something is under way":              {ironic.Cleaning, host.Available, func(f *host.Facts) { f.Stranger, f.NotOurs = "of b", "of b" }, "stuck", "of b"},
		"a consumed host is left alone":                     {ironic.Active, host.Available, consumed, "stop", ""},
		"its settings are written":                          {ironic.Active, host.Available, all(consumed, unsettled), "configure", ""},
		"but not while its consumer deploys":                {ironic.Deploying, host.Available, all(consumed, unsettled), "wait", ""},
		"a host of which the image was taken away":          {ironic.Active, host.Available, consented, "deleted", ""},
		"a rescued one only with consent, too":              {ironic.Rescue, host.Available, consented, "deleted", ""},
		"an active one that no plan spoke of":               {ironic.Active, host.Available, nil, "stuck", "plan again"},
		"a failed undeploy is repeated three times":         {ironic.Error, host.Available, tried(host.Undeploy, 3), "deleted", ""},
		"the fourth failure is final, also with force":      {ironic.Error, host.Available, all(forced, tried(host.Undeploy, 4)), "failed", ""},
		"an adoption that failed is undone for a rest here": {ironic.AdoptFailed, host.Available, nil, "manage", ""},
	})
}

func TestNext_towardsProvisioned(t *testing.T) {
	t.Parallel()

	rebuild := func(f *host.Facts) { f.Rebuild = true }

	checkAll(t, map[string]circumstance{
		"another image needs the plan's word":                    {ironic.Active, host.Provisioned, other, "stuck", "image_url"},
		"then it is undeployed first":                            {ironic.Active, host.Provisioned, all(other, consented), "deleted", ""},
		"or rebuilt":                                             {ironic.Active, host.Provisioned, all(other, consented, rebuild), "rebuild", ""},
		"never when it is not ours":                              {ironic.Active, host.Provisioned, all(other, consented, foreign), "stuck", "no mark"},
		"nor when somebody protects it":                          {ironic.Active, host.Provisioned, all(other, consented, protected), "stuck", "database"},
		"nor rebuilt then":                                       {ironic.Active, host.Provisioned, all(other, consented, protected, rebuild), "stuck", "database"},
		"a retired host would not come back":                     {ironic.Active, host.Provisioned, all(other, consented, retired), "stuck", "old"},
		"but can be rebuilt":                                     {ironic.Active, host.Provisioned, all(other, consented, retired, rebuild), "rebuild", ""},
		"a protected host that runs as wanted is fine":           {ironic.Active, host.Provisioned, protected, "stop", ""},
		"what nobody here deployed stays":                        {ironic.Active, host.Provisioned, func(f *host.Facts) { f.Unmanaged = true }, "stuck", "externally_provisioned"},
		"a consumer's host is not deployed":                      {ironic.Available, host.Provisioned, consumed, "stuck", "c1"},
		"nor redeployed":                                         {ironic.Active, host.Provisioned, all(consumed, other, consented), "stuck", "c1"},
		"nor when its deployment failed":                         {ironic.DeployFailed, host.Provisioned, consumed, "stuck", "c1"},
		"a deployment that failed is repeated in place":          {ironic.DeployFailed, host.Provisioned, tried(host.Deploy, 2), "active", ""},
		"as often as the user says":                              {ironic.DeployFailed, host.Provisioned, all(tried(host.Deploy, 3), lastError("checksum")), "failed", "in 3 attempts"},
		"a rebuild counts":                                       {ironic.DeployFailed, host.Provisioned, all(tried(host.Deploy, 1), tried(host.Rebuild, 2)), "failed", "in 3 attempts"},
		"no number is one attempt":                               {ironic.DeployFailed, host.Provisioned, all(tried(host.Deploy, 1), func(f *host.Facts) { f.Attempts = 0 }), "failed", "failed;"},
		"a second run begins in the state that it finds":         {ironic.DeployFailed, host.Provisioned, lastError("of yesterday"), "active", ""},
		"maintenance ends before a deployment":                   {ironic.Available, host.Provisioned, maintained, "unset maintenance", ""},
		"a failed service is ended":                              {ironic.ServiceFailed, host.Provisioned, maintained, "unset maintenance", ""},
		"an undeploy that failed is begun again":                 {ironic.Error, host.Provisioned, nil, "deleted", ""},
		"not on a machine that is not ours":                      {ironic.Error, host.Provisioned, foreign, "stuck", "no mark"},
		"a fault is waited for in any state":                     {ironic.Active, host.Provisioned, all(faulty, other, consented), "wait", ""},
		"an external host rests where it is":                     {ironic.Active, host.ExternallyProvisioned, external, "stop", ""},
		"one that is offered is managed, to be adopted":          {ironic.Available, host.ExternallyProvisioned, unclaimed, "manage", ""},
		"an adoption of it is repeated":                          {ironic.AdoptFailed, host.ExternallyProvisioned, tried(host.Adopt, 1), "adopt", ""},
		"an external host in rescue is somebody's repair":        {ironic.Rescue, host.ExternallyProvisioned, external, "stuck", "rescue"},
		"a claim of somebody else does not matter there":         {ironic.Active, host.ExternallyProvisioned, all(external, consumed), "stop", ""},
		"an inspection that failed does not matter there either": {ironic.InspectFailed, host.ExternallyProvisioned, lastError("x"), "manage", ""},
	})
}

func TestNext_towardsDeleted(t *testing.T) {
	t.Parallel()

	kept := func(f *host.Facts) { f.PowerOffFirst = false }

	checkAll(t, map[string]circumstance{
		"nothing is left to do without a record":          {"", host.Deleted, foreign, "stop", ""},
		"a host that is off gives up its claim":           {ironic.Manageable, host.Deleted, off, "remove the claim", ""},
		"then its record goes":                            {ironic.Manageable, host.Deleted, all(off, unclaimed), "delete the record", ""},
		"in maintenance a claim does not matter":          {ironic.Manageable, host.Deleted, all(off, maintained), "delete the record", ""},
		"an offered host is the same":                     {ironic.Available, host.Deleted, all(off, unclaimed), "delete the record", ""},
		"whoever keeps it on need not wait":               {ironic.Available, host.Deleted, all(kept, unclaimed), "delete the record", ""},
		"a power that was never known is not switched":    {ironic.Manageable, host.Deleted, all(unclaimed, func(f *host.Facts) { f.Power = "" }), "delete the record", ""},
		"a request under way is waited for":               {ironic.Manageable, host.Deleted, func(f *host.Facts) { f.PowerTarget = ironic.PowerOff }, "wait", ""},
		"one that was sent as well":                       {ironic.Manageable, host.Deleted, tried(host.Off, 1), "wait", ""},
		"one that failed is repeated":                     {ironic.Manageable, host.Deleted, all(tried(host.Off, 1), func(f *host.Facts) { f.PowerError = "x" }), "power off", ""},
		"until it is an error":                            {ironic.Manageable, host.Deleted, all(tried(host.Off, 3), func(f *host.Facts) { f.PowerError = "no relay" }), "failed", "no relay"},
		"force goes on without it":                        {ironic.Manageable, host.Deleted, all(forced, tried(host.Off, 3), func(f *host.Facts) { f.PowerError = "x" }), "remove the claim", ""},
		"detach touches no power":                         {ironic.Available, host.Deleted, all(detach, unclaimed), "delete the record", ""},
		"nor an operating system":                         {ironic.Active, host.Deleted, detach, "set maintenance", ""},
		"the record goes in maintenance":                  {ironic.Active, host.Deleted, all(detach, maintained), "delete the record", ""},
		"power_off switches off only":                     {ironic.Active, host.Deleted, powerOff, "power off", ""},
		"then the record goes":                            {ironic.Active, host.Deleted, all(powerOff, off), "set maintenance", ""},
		"an external host is never undeployed":            {ironic.Active, host.Deleted, external, "power off", ""},
		"nor a detached one that is in rescue":            {ironic.Rescue, host.Deleted, detach, "set maintenance", ""},
		"nor an external one that is":                     {ironic.Rescue, host.Deleted, all(external, off), "set maintenance", ""},
		"nor one with power_off whose deployment failed":  {ironic.DeployFailed, host.Deleted, all(powerOff, off), "set maintenance", ""},
		"detach lets a deployment be":                     {ironic.WaitCallBack, host.Deleted, detach, "set maintenance", ""},
		"a cleaning in maintenance hears no ramdisk":      {ironic.CleanWait, host.Deleted, maintained, "unset maintenance", ""},
		"so maintenance goes before an undeploy":          {ironic.Active, host.Deleted, maintained, "unset maintenance", ""},
		"unless nothing is cleaned":                       {ironic.Active, host.Deleted, all(maintained, func(f *host.Facts) { f.CleaningDisabled = true }), "deleted", ""},
		"a manual cleaning is ended":                      {ironic.CleanWait, host.Deleted, func(f *host.Facts) { f.Target = ironic.Manageable }, "abort", ""},
		"also one that nobody wants":                      {ironic.CleanWait, host.Deleted, func(f *host.Facts) { f.CleaningDisabled = true }, "abort", ""},
		"an abort that does not end is an error":          {ironic.InspectWait, host.Deleted, tried(host.Abort, 3), "failed", ""},
		"a failed undeploy is repeated":                   {ironic.Error, host.Deleted, tried(host.Undeploy, 3), "deleted", ""},
		"the fourth failure is final":                     {ironic.Error, host.Deleted, all(tried(host.Undeploy, 4), lastError("no ramdisk")), "failed", "no ramdisk"},
		"force gives up then":                             {ironic.Error, host.Deleted, all(forced, tried(host.Undeploy, 4)), "set maintenance", ""},
		"and removes the record":                          {ironic.Error, host.Deleted, all(forced, maintained, tried(host.Undeploy, 4)), "delete the record", ""},
		"force is not a retry":                            {ironic.Error, host.Deleted, all(forced, tried(host.Undeploy, 2)), "deleted", ""},
		"a record that stays is an error":                 {ironic.Enroll, host.Deleted, all(unclaimed, tried(host.Remove, 8)), "failed", ""},
		"a consumed host is kept":                         {ironic.Active, host.Deleted, consumed, "stuck", "c1"},
		"unless forced":                                   {ironic.Active, host.Deleted, all(consumed, forced), "deleted", ""},
		"a protected one always":                          {ironic.Active, host.Deleted, all(protected, forced), "stuck", "database"},
		"also from being detached: Ironic removes none":   {ironic.Active, host.Deleted, all(protected, detach), "stuck", "database"},
		"a power failure is waited for":                   {ironic.Active, host.Deleted, faulty, "wait", ""},
		"not with force":                                  {ironic.Active, host.Deleted, all(faulty, forced), "deleted", ""},
		"nor when the machine is not touched":             {ironic.Active, host.Deleted, all(faulty, detach), "delete the record", ""},
		"a failed cleaning leaves maintenance first":      {ironic.CleanFailed, host.Deleted, maintained, "unset maintenance", ""},
		"what is not ours is not even aborted":            {ironic.InspectWait, host.Deleted, foreign, "stuck", "no mark"},
		"nor detached":                                    {ironic.Active, host.Deleted, all(foreign, detach), "stuck", "no mark"},
		"nor removed with force":                          {ironic.Enroll, host.Deleted, all(foreign, forced), "stuck", "no mark"},
		"an inspection that was aborted is no error here": {ironic.InspectFailed, host.Deleted, all(tried(host.Abort, 1), lastError("aborted")), "manage", ""},
	})
}

func TestNext_theTestKnowsAllStates(t *testing.T) {
	t.Parallel()

	// The verb table below was written from the documentation, this one from the machine.
	if a, b := slices.Sorted(maps.Keys(steps)), slices.Sorted(maps.Keys(verbs)); !slices.Equal(a[1:], b) {
		t.Errorf("%v and %v differ", a, b)
	}
}
