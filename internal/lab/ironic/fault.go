// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// apiError is an error that the API answers: a status and the text of faultstring.
type apiError struct {
	status int
	text   string
}

func (e *apiError) Error() string { return e.text }

func refuse(status int, format string, args ...any) error {
	return &apiError{status: status, text: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return refuse(http.StatusBadRequest, format, args...)
}

func conflict(format string, args ...any) error {
	return refuse(http.StatusConflict, format, args...)
}

func notFound(what, ident string) error {
	return refuse(http.StatusNotFound, "%s %s could not be found.", what, ident)
}

func notAcceptable() error { return refuse(http.StatusNotAcceptable, "Request not acceptable.") }

func lockedError(node, host string) error {
	return conflict("Node %s is locked by host %s, please retry after the current operation is completed.", node, host)
}

func badState(verb, node, state string) error {
	return invalid(`The requested action "%s" can not be performed on node "%s" while it is in state "%s".`, verb, node, state)
}

func inMaintenance(op, node string) error {
	return invalid("The %s operation can't be performed on node %s because it's in maintenance mode.", op, node)
}

// unsupported is what an interface answers that is disabled or has no such function.
func unsupported(driver, what string) string {
	return fmt.Sprintf("Driver %s does not support %s (disabled or not implemented).", driver, what)
}

// writeFault answers an error as Ironic's WSME layer does: JSON inside JSON.
func writeFault(w http.ResponseWriter, status int, text string) {
	side := "Client"
	if status >= http.StatusInternalServerError {
		side = "Server"
	}

	writeError(w, status, fmt.Sprintf(`{"faultcode": %s, "faultstring": %s, "debuginfo": null}`, quote(side), quote(text)))
}

// writePlainFault answers an error as Ironic does before a request reaches a controller.
func writePlainFault(w http.ResponseWriter, status int, description string) {
	writeError(w, status, fmt.Sprintf(`{"code": %d, "title": %s, "description": %s}`,
		status, quote(http.StatusText(status)), quote(description)))
}

func writeError(w http.ResponseWriter, status int, inner string) {
	body := `{"error_message": ` + quote(inner) + `}`

	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // whoever asked has gone away
}

// quote is a JSON string without Go's escapes for HTML.
func quote(s string) string {
	var b strings.Builder

	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes

	return strings.TrimSuffix(b.String(), "\n")
}
