// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// EnrolAgain makes the record of a machine that runs anew, under the UUID that it had. The
// journal says so, and the machine's table then adopts instead of deploying.
func (r *Run) EnrolAgain(ctx context.Context, a Applied, triggers string) (Seen, error) {
	r.init()

	deployed := a.Image != nil || a.CustomDeploy != ""
	j := Journal{
		Phase: PhaseRegistering, PhaseStarted: stamp(time.Now().Truncate(time.Second)), Applied: a, TriggersSHA256: triggers, Adopt: deployed,
	}.settings(r.Wanted)

	seen, err := r.Backend.Create(ctx, r.Wanted, j)
	if err != nil {
		return Seen{}, fmt.Errorf("enroll the host again under its UUID: %w", err)
	}

	r.mem.provedOwned = true

	if seen.Ports, err = r.Backend.EnsurePorts(ctx, seen, r.Wanted); err != nil {
		return seen, err
	}

	return seen, nil
}

// GaveUp reports whether a forced deletion went on although undeploying failed.
func (r *Run) GaveUp() bool { return r.mem.tried[Undeploy] > undeployRetries }

// Find turns what a user writes to import a host into its UUID: a UUID, "namespace~name",
// "namespace/name", a plain node name, "mac:aa:bb:…" or "instance:UUID".
func Find(ctx context.Context, b Backend, id, namespace string) (string, error) {
	switch {
	case strings.HasPrefix(id, "mac:"):
		s, err := b.ByMAC(ctx, strings.TrimPrefix(id, "mac:"))
		if gone(err) {
			return "", fmt.Errorf("no node has a port with MAC address %s", strings.TrimPrefix(id, "mac:"))
		}

		return s.Node.UUID, err
	case strings.HasPrefix(id, "instance:"):
		return findInstance(ctx, b, strings.ToLower(strings.TrimPrefix(id, "instance:")))
	}

	names := []string{id}
	if _, err := uuid.Parse(id); err == nil {
		names = []string{strings.ToLower(id)}
	} else {
		if ns, name, ok := strings.Cut(id, "/"); ok {
			names = []string{NodeName(ns, name)}
		} else if !strings.Contains(id, "~") {
			names = []string{id, NodeName(namespace, id)}
		}
	}

	for _, name := range names {
		s, err := b.Look(ctx, name)
		if err == nil {
			return s.Node.UUID, nil
		}

		if !gone(err) {
			return "", err
		}
	}

	return "", fmt.Errorf("Ironic %s has no node %s%s", b.Endpoint(), strings.Join(names, " and no node "), like(ctx, b, names[0])) //nolint:staticcheck // Ironic is a name
}

// findInstance looks for a claim; a claim is unique in Ironic.
func findInstance(ctx context.Context, b Backend, claim string) (string, error) {
	all, err := b.All(ctx)
	if err != nil {
		return "", err
	}

	for _, s := range all {
		if s.Node.InstanceUUID == claim {
			return s.Node.UUID, nil
		}
	}

	return "", fmt.Errorf("no node is claimed by instance %s", claim)
}

// like lists nodes whose names resemble one that was not found.
func like(ctx context.Context, b Backend, name string) string {
	all, err := b.All(ctx)
	if err != nil {
		return ""
	}

	const most = 5

	plain := func(name string) string {
		if _, short, ok := strings.Cut(name, "~"); ok && short != "" {
			return short
		}

		return name
	}

	var names []string

	for _, s := range all {
		if n := s.Node.Name; n != "" && (strings.Contains(n, plain(name)) || strings.Contains(name, plain(n))) {
			names = append(names, n)
		}
	}

	if slices.Sort(names); len(names) > most {
		names = append(names[:most], "…")
	}

	if len(names) == 0 {
		return ""
	}

	return "; there are " + strings.Join(names, ", ")
}
