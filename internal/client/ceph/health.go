// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

type healthDoc struct {
	Status text                `json:"status"`
	Checks map[string]checkDoc `json:"checks"`
}

type checkDoc struct {
	Severity text `json:"severity"`
	Summary  struct {
		Message text `json:"message"`
	} `json:"summary"`
	Muted flag `json:"muted"`
}

func (d *healthDoc) fits() bool { return d.Status != "" }

func (d *healthDoc) health() Health {
	h := Health{Status: string(d.Status), Checks: make(map[string]Check, len(d.Checks))}

	for code, c := range d.Checks {
		h.Checks[code] = Check{Severity: string(c.Severity), Message: string(c.Summary.Message), Muted: bool(c.Muted)}
	}

	return h
}
