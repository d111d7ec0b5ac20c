// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nec

import (
	"net/http"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
)

// nodes lists the machines. The open manager shows representative items only; the product
// knows detail.
func (c *call) nodes() (answer, error) {
	detail, valid := c.flag("detail")
	if !valid && c.o.Product {
		return failure(http.StatusBadRequest, codeInvalid, "detail is neither true nor false")
	}

	docs, err := c.nodeDocs(detail && c.o.Product)
	if err != nil {
		return answer{}, err
	}

	return ok(obj{"count": len(docs), "nodes": docs})
}

func (c *call) node() (answer, error) {
	docs, err := c.nodeDocs(true)
	if err != nil {
		return answer{}, err
	}

	for _, doc := range docs {
		if doc["id"] == strings.ToLower(c.r.PathValue("id")) {
			return ok(doc)
		}
	}

	return failure(http.StatusNotFound, codeNoResource, "the node does not exist: "+c.r.PathValue("id"))
}

// nodeDocs are the machines by id, each with its resources by id.
func (c *call) nodeDocs(detail bool) ([]obj, error) {
	machines, err := hardware.Machines(c.tx, c.now)
	if err != nil {
		return nil, err
	}

	all, err := c.entries()
	if err != nil {
		return nil, err
	}

	docs := []obj{}

	for _, m := range machines { // the order of the index is that of the id
		parts := list{}

		for _, e := range all {
			if e.node == m.ID {
				parts = append(parts, e.doc(detail, true))
			}
		}

		if len(parts) == 0 {
			continue
		}

		doc := obj{"id": m.ID, "resources": parts}
		if c.o.Product {
			doc["name"] = m.Label
		}

		docs = append(docs, doc)
	}

	return docs, nil
}
