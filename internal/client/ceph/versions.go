// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import "context"

// Versions asks which version how many daemons of each type run. It says nothing of daemons
// that do not run.
func (c *Cluster) Versions(ctx context.Context) (Versions, error) {
	doc, err := query[versionsDoc](ctx, c, command{"prefix": "versions"})
	if err != nil {
		return nil, err
	}

	return doc.versions(), nil
}

type versionsDoc map[string]map[string]num

func (d *versionsDoc) fits() bool { return (*d)["mon"] != nil || (*d)["overall"] != nil }

func (d *versionsDoc) versions() Versions {
	all := make(Versions, len(*d))

	for kind, counts := range *d {
		of := make(map[string]int, len(counts))
		for version, n := range counts {
			of[version] = int(n)
		}

		all[kind] = of
	}

	return all
}
