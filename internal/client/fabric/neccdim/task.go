// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package neccdim

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/document"
)

// Task implements [fabric.Tasks]. Of a job that the manager does not know (any more) there is
// no id: nothing is known of its end, and nobody should wait for it.
func (d *driver) Task(ctx context.Context, id string) (fabric.Task, error) {
	r := fabric.Request{Op: "read the layout-apply " + id, Path: "/layout-apply/" + url.PathEscape(id)}

	a, err := d.layout.Do(ctx, r)

	switch {
	case errors.Is(err, fabric.ErrNotFound):
		return fabric.Task{Text: "the manager no longer knows the layout-apply " + id}, nil
	case err != nil:
		return fabric.Task{ID: id}, err
	}

	t, ok := parseTask(id, a.Body)
	if !ok {
		return t, d.layout.Unusable(r, a, "no layout-apply")
	}

	return t, nil
}

// parseTask reads the answer to GET /layout-apply/{applyID}. A state that nobody knows is
// one that may still change.
func parseTask(id string, raw []byte) (fabric.Task, bool) {
	t := fabric.Task{ID: id}

	doc, ok := document.Parse(raw)
	if !ok || (!doc.Has("applyID") && !doc.Has("status")) {
		return t, false
	}

	status := strings.ToUpper(doc.Text("status"))
	rollback := strings.ToUpper(doc.Text("rollbackStatus"))

	t.Text = "layout-apply " + id + " is " + status
	if status == "" {
		t.Text = "layout-apply " + id + " has no state yet"
	}

	if rollback != "" {
		t.Text += ", its rollback " + rollback
	}

	switch {
	case status == "COMPLETED":
		t.State = fabric.TaskDone
	case status == "SUSPENDED", status == "CANCELED" && rollback == "SUSPENDED":
		t.State = fabric.TaskSuspended
		t.Text += ": a person must resume or cancel it (PUT /layout-apply/" + id + "?action=resume or action=cancel)" + failures(doc)
	case status == "CANCELED" && rollback == "IN_PROGRESS":
		t.State = fabric.TaskRunning
	case status == "FAILED", status == "CANCELED":
		t.State = fabric.TaskFailed
		t.Text += failures(doc)
	}

	return t, true
}

// failures are the manager's words about the steps that failed.
func failures(doc document.Object) string {
	var said []string

	for _, key := range []string{"applyResult", "resumeResult", "rollbackResult"} {
		steps, _ := doc.Objects(key) // words only: a list that cannot be read has none

		for _, step := range steps {
			if !strings.EqualFold(step.Text("status"), "FAILED") {
				continue
			}

			body := step.Object("responseBody")
			words := strings.TrimSpace(body.Text("code") + " " + body.Text("message"))

			if words == "" {
				words = "HTTP " + step.Text("statusCode")
			}

			said = append(said, words)
		}
	}

	if len(said) == 0 {
		return ""
	}

	return ": " + bounded(strings.Join(said, "; "))
}

// bounded keeps foreign words to a length that a message can carry.
func bounded(s string) string {
	const limit = 800

	if len(s) <= limit {
		return s
	}

	return strings.ToValidUTF8(s[:limit], "") + "…"
}
