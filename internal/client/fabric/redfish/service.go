// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// service is what does not change while a service runs: where its collections are, and which
// way it composes. Never who has what.
type service struct {
	systems string
	blocks  string   // collection; empty: none
	fabrics []string // that have zones
	zoned   bool     // it composes by zones
	certain bool     // there are blocks or zones
	levels  int      // how far it unfolds collections
}

// discover finds out what is there, in two requests more than the service root and one for
// each fabric. It is remembered as soon as there is something to go by: a service that shows
// neither blocks nor zones yet is asked again.
func (d *driver) discover(ctx context.Context, l *look) (service, error) {
	d.mu.Lock()
	known := d.service
	d.mu.Unlock()

	if known != nil {
		l.levels = known.levels

		return *known, nil
	}

	root, err := readRoot(ctx, d.caller, l.op)
	if err != nil {
		return service{}, err
	}

	s := service{systems: link(root, "Systems"), blocks: link(root, "ResourceBlocks"), levels: levelsOf(root)}
	l.levels = s.levels

	if s.systems == "" {
		return service{}, l.wrong(rootPath, "the service root names no systems")
	}

	if path := link(root, "CompositionService"); path != "" {
		composition, err := l.part(ctx, path)
		if err != nil {
			return service{}, err
		}

		if blocks := link(composition.Object, "ResourceBlocks"); blocks != "" {
			s.blocks = blocks
		}
	}

	certain, err := s.choose(ctx, l, link(root, "Fabrics"))
	if err != nil {
		return service{}, err
	}

	if s.certain = certain; certain {
		d.mu.Lock()
		d.service = &s
		d.mu.Unlock()
	}

	return s, nil
}

// choose finds the way to compose. Sunfish shows a composition service with an empty
// collection of blocks, so the collection alone says nothing.
func (s *service) choose(ctx context.Context, l *look, fabrics string) (bool, error) {
	if s.blocks != "" {
		blocks, err := l.members(ctx, s.blocks, deep)
		if err != nil || len(blocks) > 0 {
			return err == nil, err
		}
	}

	if fabrics == "" {
		return false, nil
	}

	paths, err := l.members(ctx, fabrics, flat)
	if err != nil {
		return false, err
	}

	docs, err := l.parts(ctx, paths)
	if err != nil {
		return false, err
	}

	for _, doc := range docs {
		if link(doc.Object, "Zones") != "" && link(doc.Object, "Endpoints") != "" {
			s.fabrics = append(s.fabrics, doc.path)
		}
	}

	slices.Sort(s.fabrics)
	s.zoned = len(s.fabrics) > 0

	return s.zoned, nil
}

// way is how the service composes, for one question or order.
func (s service) way(l *look) way {
	if s.zoned {
		return &zones{look: l, fabrics: s.fabrics, all: newOnce[[]zone]()}
	}

	return &blocks{look: l, collection: s.blocks, certain: s.certain}
}

var _ fabric.Tasks = (*driver)(nil)
