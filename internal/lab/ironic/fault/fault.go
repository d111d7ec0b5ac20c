// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fault is the errors that Ironic's API answers: their words, and how they are sent.
package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Error is an error that the API answers: a status and the text of faultstring.
type Error struct {
	status int
	text   string
}

func (e *Error) Error() string { return e.text }

// Refuse refuses a request with a status.
func Refuse(status int, format string, args ...any) error {
	return &Error{status: status, text: fmt.Sprintf(format, args...)}
}

// Invalid refuses a request that is wrong in itself.
func Invalid(format string, args ...any) error {
	return Refuse(http.StatusBadRequest, format, args...)
}

// Conflict refuses a request that does not fit what there is.
func Conflict(format string, args ...any) error {
	return Refuse(http.StatusConflict, format, args...)
}

// NotFound is the answer where nobody has the name or UUID.
func NotFound(what, ident string) error {
	return Refuse(http.StatusNotFound, "%s %s could not be found.", what, ident)
}

// NotAcceptable is the answer to what came with a later API version.
func NotAcceptable() error { return Refuse(http.StatusNotAcceptable, "Request not acceptable.") }

// Locked refuses a change of a node that a conductor holds.
func Locked(node, host string) error {
	return Conflict("Node %s is locked by host %s, please retry after the current operation is completed.", node, host)
}

// BadState refuses what a node in this state does not take.
func BadState(verb, node, state string) error {
	return Invalid(`The requested action "%s" can not be performed on node "%s" while it is in state "%s".`, verb, node, state)
}

// InMaintenance refuses what a node in maintenance does not take.
func InMaintenance(op, node string) error {
	return Invalid("The %s operation can't be performed on node %s because it's in maintenance mode.", op, node)
}

// Protected refuses what would end the deployment of a protected node.
func Protected(node string) error {
	return Refuse(http.StatusForbidden, "Node %s is protected and cannot be undeployed, rebuilt or deleted", node)
}

// Unsupported is what an interface answers that is disabled or has no such function.
func Unsupported(driver, what string) string {
	return fmt.Sprintf("Driver %s does not support %s (disabled or not implemented).", driver, what)
}

// NoPath is the answer of a path that a version does not have.
func NoPath() error { return Refuse(http.StatusNotFound, "Not Found") }

// OrElse is what went wrong, else the other error.
func OrElse(err, other error) error {
	if err != nil {
		return err
	}

	return other
}

// WriteError answers what an endpoint refused, or what went wrong in the lab itself.
func WriteError(w http.ResponseWriter, err error) {
	refused := &Error{status: http.StatusInternalServerError, text: err.Error()}
	errors.As(err, &refused)

	Write(w, refused.status, refused.text)
}

// Write answers an error as Ironic's WSME layer does: JSON inside JSON.
func Write(w http.ResponseWriter, status int, text string) {
	side := "Client"
	if status >= http.StatusInternalServerError {
		side = "Server"
	}

	send(w, status, fmt.Sprintf(`{"faultcode": %s, "faultstring": %s, "debuginfo": null}`, quote(side), quote(text)))
}

// WritePlain answers an error as Ironic does before a request reaches a controller.
func WritePlain(w http.ResponseWriter, status int, description string) {
	send(w, status, fmt.Sprintf(`{"code": %d, "title": %s, "description": %s}`,
		status, quote(http.StatusText(status)), quote(description)))
}

func send(w http.ResponseWriter, status int, inner string) {
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
