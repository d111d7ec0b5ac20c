// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package odata is how Redfish services answer, whatever they are the service of.
package odata

import (
	"encoding/json"
	"maps"
	"net/http"
)

// Send answers a request with a JSON document; nil: with none.
func Send(w http.ResponseWriter, code int, header http.Header, body any) {
	maps.Copy(w.Header(), header)
	w.Header().Set("OData-Version", "4.0")

	if body == nil {
		w.WriteHeader(code)

		return
	}

	raw, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)

		return
	}

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(raw) // whoever asked has gone away
}
