// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// Map is an object or a map of a configuration; see package providertest.
type Map = map[string]any

// Core does with one resource what Terraform's core does, through the plugin protocol and
// without Terraform: each command begins with a new provider, refreshes, plans and applies,
// and what a provider returns is held to Terraform's rules. It runs in virtual time, too.
type Core struct {
	// Provider is the provider block.
	Provider Map
	// Options are the provider's.
	Options []provider.Option
	// Tainted says that a create failed: the next apply replaces the object.
	Tainted bool
	// SkipRefresh is -refresh=false.
	SkipRefresh bool
	// Replaces says that a plan may replace the object; it is planned only, never applied.
	Replaces bool

	t        *testing.T
	typeName string
	schema   *tfprotov6.Schema
	kind     tftypes.Object
	state    tftypes.Value
	private  []byte
	identity *tfprotov6.ResourceIdentityData
}

// Core returns a core that knows one resource of this lab.
func (l Lab) Core(t *testing.T, typeName string) *Core {
	t.Helper()

	return NewCore(t, typeName, Map{"ironic": Map{"endpoint": lab.Endpoint, "auth": "noauth"}}, l.options()...)
}

// NewCore returns a core that knows one resource of a provider.
func NewCore(t *testing.T, typeName string, block Map, options ...provider.Option) *Core {
	t.Helper()

	c := &Core{Provider: block, Options: options, t: t, typeName: typeName}
	c.schema = c.serve().Schema().ResourceSchemas[typeName]

	kind, ok := c.schema.ValueType().(tftypes.Object)
	if !ok {
		t.Fatalf("%s is no resource", typeName)
	}

	c.kind, c.state = kind, tftypes.NewValue(kind, nil)

	return c
}

// Outcome is what a command said and planned.
type Outcome struct {
	Errors, Warnings string
	// Action is "create", "update", "delete", "replace", or "" where nothing changes.
	Action string
	// Changed names the attributes that the plan changes.
	Changed []string
	// Planned is the planned state; unknown values are providertest.Unknown.
	Planned Map
}

// Says reports whether errors and warnings hold a text.
func (o Outcome) Says(text string) bool { return strings.Contains(o.Errors+o.Warnings, text) }

// serve starts a provider, as each of Terraform's commands does.
func (c *Core) serve() *providertest.Server {
	c.t.Helper()

	return providertest.NewServer(c.t, c.Options...)
}

func (c *Core) configured() (*providertest.Server, Outcome) {
	c.t.Helper()

	s := c.serve()

	var o Outcome

	o.add(s.Configure(c.t, c.Provider))

	return s, o
}

func (o *Outcome) add(d []*tfprotov6.Diagnostic) bool {
	o.Errors += providertest.Errors(d)
	o.Warnings += providertest.Warnings(d)

	return o.Errors == ""
}

// State is the state; nil where there is none.
func (c *Core) State() Map {
	m, _ := providertest.Plain(c.state).(Map)

	return m
}

// Exists reports whether the object is in the state.
func (c *Core) Exists() bool { return !c.state.IsNull() }

// Dump is all of the state, private state included, as text.
func (c *Core) Dump() string { return fmt.Sprint(c.State()) + string(c.private) }

// Get reads from the state by a path such as "bmc.address"; nil where there is nothing.
func (c *Core) Get(path string) any { return Get(c.State(), path) }

// Get reads from nested maps by a path such as "bmc.address".
func Get(m Map, path string) any {
	var v any = m

	for key := range strings.SplitSeq(path, ".") {
		inner, ok := v.(Map)
		if !ok {
			return nil
		}

		v = inner[key]
	}

	return v
}

// Identity is the resource identity's only attribute.
func (c *Core) Identity() string {
	c.t.Helper()

	if c.identity == nil {
		return ""
	}

	var (
		v   tftypes.Value
		err error
	)

	for _, name := range []string{"uuid", "id"} {
		v, err = c.identity.IdentityData.Unmarshal(tftypes.Object{AttributeTypes: map[string]tftypes.Type{name: tftypes.String}})
		if err == nil {
			m, _ := providertest.Plain(v).(Map)
			s, _ := m[name].(string)

			return s
		}
	}

	c.t.Fatal(err)

	return ""
}

// Untaint is terraform untaint.
func (c *Core) Untaint() { c.Tainted = false }

// Forget is terraform state rm.
func (c *Core) Forget() {
	c.state, c.private, c.identity, c.Tainted = tftypes.NewValue(c.kind, nil), nil, nil, false
}

// Refresh reads the object; the state follows.
func (c *Core) Refresh(ctx context.Context) Outcome {
	c.t.Helper()

	s, o := c.configured() //nolint:contextcheck // a provider lives as long as its test
	if o.Errors == "" {
		c.refresh(ctx, s, &o)
	}

	return o
}

// RefreshWith reads this object and others with one provider, as one command does with all
// objects of a configuration: at the same time. What is said of any of them is in the outcome.
func (c *Core) RefreshWith(ctx context.Context, others ...*Core) Outcome {
	c.t.Helper()

	s, o := c.configured() //nolint:contextcheck // a provider lives as long as its test

	all := append([]*Core{c}, others...)
	said := make([]Outcome, len(all))

	var reads sync.WaitGroup

	for i, one := range all {
		reads.Go(func() { one.refresh(ctx, s, &said[i]) })
	}

	reads.Wait()

	for _, one := range said {
		o.Errors += one.Errors
		o.Warnings += one.Warnings
	}

	return o
}

func (c *Core) refresh(ctx context.Context, s *providertest.Server, o *Outcome) bool {
	c.t.Helper()

	if c.state.IsNull() {
		return true
	}

	resp, err := s.ReadResource(ctx, &tfprotov6.ReadResourceRequest{
		TypeName: c.typeName, CurrentState: c.dynamic(c.state), Private: c.private, CurrentIdentity: c.identity,
	})
	if err != nil {
		c.t.Fatal(err)
	}

	if !o.add(resp.Diagnostics) {
		return false // Terraform keeps the state that it had
	}

	c.state, c.private = c.value(resp.NewState), resp.Private
	if resp.NewIdentity != nil {
		c.identity = resp.NewIdentity
	}

	if !c.state.IsFullyKnown() {
		c.t.Errorf("a refresh left unknown values: %v", c.state)
	}

	return true
}

// Plan refreshes and plans. A nil configuration plans the end of the object.
func (c *Core) Plan(ctx context.Context, config Map) Outcome {
	c.t.Helper()

	o, _ := c.plan(ctx, config)

	return o
}

// planned is a plan that can be applied.
type planned struct {
	prior, state tftypes.Value
	private      []byte
	identity     *tfprotov6.ResourceIdentityData
}

func (c *Core) plan(ctx context.Context, config Map) (Outcome, planned) {
	c.t.Helper()

	s, o := c.configured() //nolint:contextcheck // a provider lives as long as its test
	value := c.config(config)

	if config != nil && o.Errors == "" {
		valid, err := s.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{
			TypeName: c.typeName, Config: c.dynamic(value), ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
		})
		if err != nil {
			c.t.Fatal(err)
		}

		o.add(valid.Diagnostics)
	}

	if o.Errors != "" || !c.SkipRefresh && !c.refresh(ctx, s, &o) {
		return o, planned{}
	}

	prior := c.state
	if c.Tainted && config != nil {
		prior = tftypes.NewValue(c.kind, nil) // planned as if there were nothing
	}

	p := c.planChange(ctx, s, &o, prior, value)
	if c.Tainted && config != nil && !c.state.IsNull() {
		o.Action = "replace"
	}

	return o, p
}

// planChange asks for one change and holds the answer to Terraform's rules.
func (c *Core) planChange(ctx context.Context, s *providertest.Server, o *Outcome, prior, config tftypes.Value) planned {
	c.t.Helper()

	identity := c.identity
	if prior.IsNull() {
		identity = nil
	}

	resp, err := s.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
		TypeName: c.typeName, PriorState: c.dynamic(prior), ProposedNewState: c.dynamic(proposed(c.schema, prior, config)),
		Config: c.dynamic(config), PriorPrivate: c.private, PriorIdentity: identity,
	})
	if err != nil {
		c.t.Fatal(err)
	}

	if !o.add(resp.Diagnostics) {
		return planned{}
	}

	p := planned{prior, c.value(resp.PlannedState), resp.PlannedPrivate, resp.PlannedIdentity}
	if len(resp.RequiresReplace) > 0 && !c.Replaces {
		c.t.Errorf("the plan replaces for %v: nothing asks for that", resp.RequiresReplace)
	}

	o.Planned, _ = providertest.Plain(p.state).(Map)
	o.Changed = changed(prior, p.state)
	o.Action = action(prior, p.state, o.Changed)

	if len(resp.RequiresReplace) > 0 {
		o.Action = "replace"
	}

	for _, wrong := range checkPlan(c.schema, prior, config, p.state) {
		c.t.Errorf("Terraform calls this plan invalid: %s", wrong)
	}

	return p
}

func action(prior, planned tftypes.Value, changed []string) string {
	switch {
	case prior.IsNull() && planned.IsNull(), !prior.IsNull() && !planned.IsNull() && len(changed) == 0:
		return ""
	case prior.IsNull():
		return "create"
	case planned.IsNull():
		return "delete"
	default:
		return "update"
	}
}

// changed names the attributes in which two states differ.
func changed(a, b tftypes.Value) []string {
	var x, y map[string]tftypes.Value

	if a.IsNull() || b.IsNull() || a.As(&x) != nil || b.As(&y) != nil {
		return nil
	}

	var out []string

	for name := range x {
		if !x[name].Equal(y[name]) {
			out = append(out, name)
		}
	}

	slices.Sort(out)

	return out
}

// Apply is terraform apply: refresh, plan, and the change itself if there is one. Cancelling
// the context is the interrupt.
func (c *Core) Apply(ctx context.Context, config Map) Outcome {
	c.t.Helper()

	return c.ApplyUnknown(ctx, config, config)
}

// ApplyUnknown plans with a configuration in which values are unknown, and applies it as
// Terraform does once they are known: it plans again, and wants the second plan to keep
// what the first one promised.
func (c *Core) ApplyUnknown(ctx context.Context, before, config Map) Outcome {
	c.t.Helper()

	o, p := c.plan(context.WithoutCancel(ctx), before)
	if o.Errors != "" || o.Action == "" {
		return o
	}

	if !c.config(before).Equal(c.config(config)) && !c.planAgain(context.WithoutCancel(ctx), &o, &p, config) {
		return o
	}

	s, fresh := c.configured() //nolint:contextcheck // a provider lives as long as its test
	if fresh.Errors != "" {
		c.t.Fatal(fresh.Errors)
	}

	if o.Action == "replace" {
		if !c.change(ctx, s, &o, nil, planned{c.state, tftypes.NewValue(c.kind, nil), c.private, nil}) {
			return o
		}

		c.Tainted = false
	}

	c.change(ctx, s, &o, config, p)

	return o
}

// planAgain is the plan of an apply, with all values known.
func (c *Core) planAgain(ctx context.Context, o *Outcome, p *planned, config Map) bool {
	c.t.Helper()

	s, fresh := c.configured() //nolint:contextcheck // a provider lives as long as its test
	again := c.planChange(ctx, s, &fresh, p.prior, c.config(config))
	o.Errors += fresh.Errors

	if fresh.Errors != "" {
		return false
	}

	for _, wrong := range checkApply(c.schema, p.state, again.state) {
		c.t.Errorf("Terraform calls this final plan inconsistent: %s", wrong)
	}

	*p = again

	return true
}

// change applies a planned change; false after an error.
func (c *Core) change(ctx context.Context, s *providertest.Server, o *Outcome, config Map, p planned) bool {
	c.t.Helper()

	resp, err := s.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: c.typeName, PriorState: c.dynamic(p.prior), PlannedState: c.dynamic(p.state), Config: c.dynamic(c.config(config)),
		PlannedPrivate: p.private, PlannedIdentity: p.identity,
	})
	if err != nil {
		c.t.Fatal(err)
	}

	failed := !o.add(resp.Diagnostics)
	c.state, c.private, c.identity = c.value(resp.NewState), resp.Private, resp.NewIdentity
	c.Tainted = failed && p.prior.IsNull() && !c.state.IsNull()

	if !c.state.IsFullyKnown() {
		c.t.Errorf("an apply left unknown values: %v", unknowns(c.state))
	}

	if failed {
		return false
	}

	for _, wrong := range checkApply(c.schema, p.state, c.state) {
		c.t.Errorf("Terraform calls this result inconsistent: %s", wrong)
	}

	return true
}

// Import is terraform import: the object of an id comes into the state.
func (c *Core) Import(ctx context.Context, id string) Outcome {
	c.t.Helper()

	s, o := c.configured() //nolint:contextcheck // a provider lives as long as its test

	resp, err := s.ImportResourceState(ctx, &tfprotov6.ImportResourceStateRequest{TypeName: c.typeName, ID: id})
	if err != nil {
		c.t.Fatal(err)
	}

	if !o.add(resp.Diagnostics) {
		return o
	}

	one := resp.ImportedResources[0]
	c.state, c.private, c.identity = c.value(one.State), one.Private, one.Identity

	if !c.refresh(ctx, s, &o) {
		c.Forget()
	}

	return o
}

func (c *Core) config(m Map) tftypes.Value {
	if m == nil {
		return tftypes.NewValue(c.kind, nil)
	}

	return providertest.Value(c.kind, m)
}

func (c *Core) dynamic(v tftypes.Value) *tfprotov6.DynamicValue {
	c.t.Helper()

	d, err := tfprotov6.NewDynamicValue(c.kind, v)
	if err != nil {
		c.t.Fatal(err)
	}

	return &d
}

func (c *Core) value(d *tfprotov6.DynamicValue) tftypes.Value {
	c.t.Helper()

	if d == nil {
		return tftypes.NewValue(c.kind, nil)
	}

	v, err := d.Unmarshal(c.kind)
	if err != nil {
		c.t.Fatal(err)
	}

	return v
}

// Configurable is what of the state a configuration can say: what Terraform generates as
// configuration of an import. Write-only values are null, computed ones left out.
func (c *Core) Configurable() Map { return configurable(c.schema.Block.Attributes, c.State()) }

func configurable(attributes []*tfprotov6.SchemaAttribute, state Map) Map {
	out := Map{}

	for _, a := range attributes {
		v := state[a.Name]
		if v == nil || !a.Optional && !a.Required || a.WriteOnly {
			continue
		}

		if inner, ok := v.(Map); ok && a.NestedType != nil {
			v = nestedConfigurable(a.NestedType, inner)
		}

		if n, ok := v.(int64); ok {
			v = int(n)
		}

		out[a.Name] = v
	}

	return out
}

func nestedConfigurable(of *tfprotov6.SchemaObject, state Map) Map {
	if of.Nesting != tfprotov6.SchemaObjectNestingModeMap {
		return configurable(of.Attributes, state)
	}

	out := Map{}

	for key, v := range state {
		if one, ok := v.(Map); ok {
			out[key] = configurable(of.Attributes, one)
		}
	}

	return out
}
