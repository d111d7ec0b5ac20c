// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

// Hash is a hash of the record as a refresh at this endpoint sees it: two looks with the
// same hash say the same of the host. Times of the last change are not part of it.
func (s Seen) Hash(endpoint string) string {
	n := s.Node
	n.ProvisionUpdatedAt, n.InspectionStartedAt = time.Time{}, time.Time{}
	n.Reservation = ""
	n.DeployStep, n.CleanStep = nil, nil

	ports := slices.Clone(s.Ports)
	slices.SortFunc(ports, func(a, b ironic.Port) int { return strings.Compare(a.Address, b.Address) })

	for i := range ports {
		ports[i].NodeUUID = ""
	}

	// Maps marshal with sorted keys, so the same record gives the same text.
	doc, err := json.Marshal([]any{endpoint, n, ports})
	if err != nil {
		return ""
	}

	return hash(string(doc))
}
