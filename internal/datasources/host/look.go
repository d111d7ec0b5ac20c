// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hardwarevalue"
)

// found is a host and its inventory.
type found struct {
	seen     host.Seen
	hardware types.Object
}

// errTwice means that a claim is on several nodes, which Ironic does not allow.
var errTwice = errors.New("several nodes answer to this")

// look finds the host, and reads record, ports and inventory. Record and ports come from
// the list that all readers share; the inventory costs one request.
func (d *hostDataSource) look(ctx context.Context, q query) (found, error) {
	if d.services == nil {
		return found{}, host.ErrUnknown
	}

	backend, err := d.services.Hosts(ctx)
	if err != nil {
		return found{}, err
	}

	id, err := d.find(ctx, backend, q)
	if err != nil {
		return found{}, err
	}

	seen, err := backend.Refresh(ctx, id)
	if err != nil {
		return found{}, err
	}

	raw, err := backend.Inventory(ctx, seen.Node.UUID)
	if errors.Is(err, host.ErrGone) {
		return found{seen, hardwarevalue.Null()}, nil
	}

	if err != nil {
		return found{}, fmt.Errorf("read the inventory: %w", err)
	}

	decoded, odd := hardware.Decode(raw)
	if len(odd) > 0 {
		tflog.Warn(ctx, "odd fields in the inventory are left out", map[string]any{"node": id, "fields": odd})
	}

	return found{seen, hardwarevalue.Object(decoded)}, nil
}

// find returns the UUID of the node.
func (d *hostDataSource) find(ctx context.Context, backend host.Backend, q query) (string, error) {
	switch {
	case q.id.ValueString() != "":
		return q.id.ValueString(), nil
	case q.nodeName.ValueString() != "":
		return named(ctx, backend, q.nodeName.ValueString())
	case q.name.ValueString() != "":
		namespace := q.namespace.ValueString()

		if namespace == "" {
			if slices.Contains(d.services.UnknownDefaults(), "namespace") {
				return "", fmt.Errorf("%w: namespace", host.ErrUnknown)
			}

			namespace = d.services.HostDefaults().Namespace
		}

		return named(ctx, backend, host.NodeName(namespace, q.name.ValueString()))
	case q.instance.ValueString() != "":
		return claimed(ctx, backend, q.instance.ValueString())
	default:
		seen, err := backend.ByMAC(ctx, q.mac.Canonical())

		return seen.Node.UUID, err
	}
}

// named asks the shared list first, and who is not in it directly: absence from a list is no
// "not found".
func named(ctx context.Context, backend host.Backend, name string) (string, error) {
	all, err := backend.All(ctx)
	if err != nil {
		return "", err
	}

	for _, s := range all {
		if s.Node.Name == name {
			return s.Node.UUID, nil
		}
	}

	seen, err := backend.Look(ctx, name)

	return seen.Node.UUID, err
}

func claimed(ctx context.Context, backend host.Backend, instance string) (string, error) {
	all, err := backend.All(ctx)
	if err != nil {
		return "", err
	}

	id := ""

	for _, s := range all {
		if !strings.EqualFold(s.Node.InstanceUUID, instance) {
			continue
		}

		if id != "" {
			return "", errTwice
		}

		id = s.Node.UUID
	}

	if id == "" {
		return "", host.ErrGone
	}

	return id, nil
}

// which names the host in the words of the configuration, and the attribute that does.
func (q query) which() (string, path.Path) {
	switch {
	case q.id.ValueString() != "":
		return "with id " + q.id.ValueString(), path.Root("id")
	case q.nodeName.ValueString() != "":
		return "with node name " + q.nodeName.ValueString(), path.Root("node_name")
	case q.name.ValueString() != "":
		return q.name.ValueString(), path.Root("name")
	case q.instance.ValueString() != "":
		return "with claim " + q.instance.ValueString(), path.Root("instance_uuid")
	default:
		return "with MAC address " + q.mac.ValueString(), path.Root("mac_address")
	}
}

// failure turns an error into words for people.
func failure(q query, err error) diag.Diagnostic {
	which, at := q.which()

	switch {
	case errors.Is(err, host.ErrUnknown):
		return diag.NewErrorDiagnostic("Host "+which+" cannot be read yet", value.Sentence(err)+
			" A data source is read while planning unless it depends on something that is still to be made: let it depend on what the "+
			"provider's configuration waits for (depends_on), or apply that first (-target).")
	case errors.Is(err, host.ErrGone):
		return diag.NewAttributeErrorDiagnostic(at, "Host "+which+" was not found", value.Sentence(err)+
			" Nodes that were not made for a host of this provider or of Metal3 are found by node_name, id, mac_address or instance_uuid.")
	case errors.Is(err, errTwice):
		return diag.NewAttributeErrorDiagnostic(at, "Host "+which+" is not unique", value.Sentence(err)+" Name the one that is meant by id.")
	default:
		return diag.NewErrorDiagnostic("Host "+which+" could not be read", value.Sentence(err))
	}
}
