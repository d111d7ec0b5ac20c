// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import "context"

// HealthDetail asks for the health checks, each with its details.
func (c *Cluster) HealthDetail(ctx context.Context) (Health, error) {
	doc, err := query[healthDoc](ctx, c, command{"prefix": "health", "detail": "detail"})
	if err != nil {
		return Health{}, err
	}

	return doc.health(), nil
}

type healthDoc struct {
	Status text                `json:"status"`
	Checks map[string]checkDoc `json:"checks"`
}

type checkDoc struct {
	Severity text `json:"severity"`
	Summary  struct {
		Message text `json:"message"`
	} `json:"summary"`
	Detail []struct {
		Message text `json:"message"`
	} `json:"detail"`
	Muted flag `json:"muted"`
}

func (d *healthDoc) fits() bool { return d.Status != "" }

func (d *healthDoc) health() Health {
	h := Health{Status: string(d.Status), Checks: make(map[string]Check, len(d.Checks))}

	for code, c := range d.Checks {
		check := Check{Severity: string(c.Severity), Message: string(c.Summary.Message), Muted: bool(c.Muted)}

		for _, line := range c.Detail {
			if line.Message != "" {
				check.Detail = append(check.Detail, string(line.Message))
			}
		}

		h.Checks[code] = check
	}

	return h
}
