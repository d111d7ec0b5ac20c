// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

// recognise finds the identity: on the hosts, else in what the state remembers. Two that
// differ are an error, and so is one of another cluster.
func (w *worker) recognise(seen *Seen) error {
	var from string

	for _, name := range sortedKeys(seen.Hosts) {
		h := seen.Hosts[name]
		if h.Err != nil || h.Identity == nil {
			continue
		}

		if err := w.ours(name, *h.Identity); err != nil {
			return err
		}

		switch {
		case seen.Identity == nil:
			seen.Identity, from = h.Identity, name
		case h.Identity.FSID != seen.Identity.FSID:
			return &identityError{"two hosts hold two identities of cluster " + w.Name + ": " + from + " has fsid " + seen.Identity.FSID + " and " + name + " has " + h.Identity.FSID +
				". Move away the identity.json that is not of this cluster"}
		default:
			seen.Identity = newer(seen.Identity, h.Identity)
		}
	}

	if w.External != nil && seen.Identity != nil && w.External.Key != "" {
		id := *seen.Identity
		id.AdminKey = w.External.Key // a new one goes to the host with the next writing
		seen.Identity = &id
	}

	if seen.Identity == nil && w.was.FSID != "" && w.was.AdminKey != "" && w.was.MonSecret != "" {
		seen.Identity = &Identity{Name: w.Name, Owner: w.Owner, FSID: w.was.FSID, AdminKey: w.was.AdminKey, MonSecret: w.was.MonSecret, LastMon: w.was.LastMon, Established: true, Dashboard: w.was.DashboardPassword}
	}

	return nil
}

// newer is the identity of which more is known: an apply that was cut off may have written it
// to some hosts only.
func newer(a, b *Identity) *Identity {
	if b.LastMon > a.LastMon || b.Established && !a.Established {
		return b
	}

	return a
}

func (w *worker) ours(host string, id Identity) error {
	path := Layout{Dir: w.Dir}.IdentityFile()

	switch {
	case id.Name != w.Name:
		return &identityError{path + " on " + host + " is of cluster " + id.Name + " (fsid " + id.FSID + "), not of " + w.Name + ": choose another data_dir, or move that cluster away"}
	case w.was.FSID != "" && id.FSID != w.was.FSID:
		return &identityError{path + " on " + host + " has fsid " + id.FSID + ", and the state has " + w.was.FSID + ": another cluster was made in its place; nothing was touched"}
	case w.FSID != "" && id.FSID != w.FSID:
		return &identityError{path + " on " + host + " has fsid " + id.FSID + ", and " + w.FSID + " is configured: remove fsid to go on with that cluster, or choose another data_dir"}
	case id.Owner != w.Owner && id.Owner != "" && w.Owner != "":
		return &identityError{path + " on " + host + " belongs to owner " + id.Owner + ", not to " + w.Owner + " (owner_id of the provider)"}
	}

	return nil
}

type identityError struct{ words string }

func (e *identityError) Error() string { return e.words }

// Is implements errors.Is: what is there belongs to another cluster.
func (e *identityError) Is(target error) bool { return target == ErrForeign }
