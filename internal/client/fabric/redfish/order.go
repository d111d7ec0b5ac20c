// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/document"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// order sends a change. A service that takes its time answers 202 and where to look.
func (l *look) order(ctx context.Context, r fabric.Request) (fabric.Hint, error) {
	r.Mutates = true

	a, err := l.caller.Do(ctx, r)
	if err != nil {
		return fabric.Hint{}, changed(err)
	}

	if a.Status != http.StatusAccepted {
		return fabric.Hint{}, nil
	}

	task := local(a.Header.Get("Location"))
	if task == "" { // some services name the task only in the body
		doc, _ := document.Parse(a.Body)
		task = local(doc.Text("@odata.id"))
	}

	return fabric.Hint{Task: task}, nil
}

// replace writes a list of links as a whole, if the resource is still as it was read: who
// changed it meanwhile would lose what he did. A resource without an ETag must have been read
// directly before.
func (l *look) replace(ctx context.Context, op string, r resource, name string, paths []string) (fabric.Hint, error) {
	refs := make([]any, len(paths))
	for i, path := range paths {
		refs[i] = reference(path)
	}

	request := fabric.Request{
		Op: op, Method: http.MethodPatch, Path: r.path,
		Body: map[string]any{"Links": map[string]any{name: refs}},
	}

	if r.etag != "" {
		request.Header = http.Header{"If-Match": {r.etag}}
	}

	return l.order(ctx, request)
}

// changed turns the answers to an order for what is no longer as it was read into "busy":
// nothing was done, and the next look tells what is there now.
func changed(err error) error {
	var e *fabric.Error
	if !errors.As(err, &e) || (e.Status != http.StatusPreconditionFailed && e.Status != http.StatusPreconditionRequired) {
		return err
	}

	own := *e
	own.Kind = fabric.ErrBusy

	return wait.Transient(&own)
}

// busy is the error for an order that comes too late.
func busy(op, format string, args ...any) error {
	return wait.Transient(refuse(op, fabric.ErrBusy, format, args...))
}

func reference(path string) map[string]string { return map[string]string{"@odata.id": path} }

func without(paths []string, path string) []string {
	left := make([]string, 0, len(paths))

	for _, p := range paths {
		if !same(p, path) {
			left = append(left, p)
		}
	}

	return left
}

// Task implements [fabric.Tasks]; the id is the path of a task or of its monitor. Of
// one that the service does not know any more there is no id: many forget a task when it has
// ended, so nobody should wait for it.
func (d *driver) Task(ctx context.Context, id string) (fabric.Task, error) {
	path := local(id)
	if path == "" {
		return fabric.Task{ID: id}, refuse("read the task "+id, fabric.ErrNotFound, "it is no path of a service")
	}

	a, err := d.caller.Do(ctx, request("read the task "+id, path))

	var e *fabric.Error

	switch {
	case errors.Is(err, fabric.ErrNotFound):
		return fabric.Task{Text: "the service no longer knows the task " + id}, nil
	case errors.As(err, &e) && passedOn(e):
		return fabric.Task{ID: id, State: fabric.TaskFailed, Text: err.Error()}, nil
	case err != nil:
		return fabric.Task{ID: id}, err
	}

	return taskOf(id, a.Status, a.Body), nil
}

// passedOn reports whether an error is that of the work itself, which a monitor passes on at
// the end, and not one of asking. Both may be 500; a failure of the service says so.
func passedOn(e *fabric.Error) bool {
	switch e.Status {
	case http.StatusInternalServerError:
		return strings.Contains(e.Code, ".") && !strings.HasSuffix(e.Code, ".InternalError") && !strings.HasSuffix(e.Code, ".GeneralError")
	case http.StatusBadRequest, http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity:
		return true
	default:
		return false
	}
}

// taskOf reads the answer of a task (always 200) or of a monitor (202 until the end, then
// the answer of the work).
func taskOf(id string, status int, body []byte) fabric.Task {
	doc, _ := document.Parse(body)
	t := fabric.Task{ID: id, Text: "the task " + id + " is " + doc.Text("TaskState")}

	if said := saidBy(doc); said != "" {
		t.Text += ": " + said
	}

	switch state := doc.Text("TaskState"); {
	case state == "Completed" && doc.Text("TaskStatus") == "Critical":
		t.State = fabric.TaskFailed
	case state == "Completed":
		t.State = fabric.TaskDone
	case state == "Exception", state == "Killed", state == "Cancelled", state == "Canceled":
		t.State = fabric.TaskFailed
	case state == "Suspended":
		t.State = fabric.TaskSuspended
		t.Text += "; a person must resume or cancel it"
	case state == "" && status == http.StatusAccepted:
		t.Text = "the task " + id + " is under way"
	case state == "":
		t.State, t.Text = fabric.TaskDone, "the task "+id+" has ended"
	}

	return t
}

func saidBy(doc document.Object) string {
	messages, _ := doc.Objects("Messages") // words only: a list that cannot be read has none

	var said []string

	for _, m := range messages {
		if text := m.Text("Message"); text != "" {
			said = append(said, text)
		}
	}

	const limit = 800

	text := strings.Join(said, " ")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}

	return text
}
