// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// taskLimit bounds the wait for a task, for callers whose context has no end.
const taskLimit = 30 * time.Minute

// failures are the ends of a task that are none of success. An interrupted one goes on.
var failures = []schemas.TaskState{schemas.ExceptionTaskState, schemas.KilledTaskState, schemas.CancelledTaskState}

// errGone says that a task is no longer there to be asked.
var errGone = errors.New("the task is gone")

// follow waits until accepted work is done.
//
// "202 Accepted" comes in four shapes (bmcweb 272, community.general 6608): Location names
// a task, Location names a monitor, the body names a task, or there is neither. Without a
// word about the end, the values that were asked for are looked at.
func (c *Client) follow(ctx context.Context, op string, a answer, shows wait.Probe) error {
	if a.status != http.StatusAccepted {
		return nil
	}

	ctx, cancel := context.WithTimeout(ctx, taskLimit)
	defer cancel()

	location := local(a.header.Get("Location"))
	path := cmp.Or(location, local(a.doc.text("@odata.id")))

	err := errGone
	if path != "" {
		err = wait.Until(ctx, rhythm, c.task(path, location != ""))
	}

	if errors.Is(err, errGone) {
		err = wait.Until(ctx, rhythm, shows)
	}

	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}

	return nil
}

// task returns a probe for a task or a monitor of one. A monitor's last answer is that of
// the work itself; what the body alone names may be no task at all.
func (c *Client) task(path string, monitor bool) wait.Probe {
	seen := false // as a task, whose own errors say nothing about the work

	return func(ctx context.Context) (wait.Verdict, string, error) {
		a, err := c.do(ctx, request{op: "read the task " + path, method: http.MethodGet, path: path})

		var failed *RequestError

		switch {
		case errors.Is(err, ErrNotFound):
			return wait.Again, "", errGone // some BMCs forget a task when it is done
		case !seen && errors.As(err, &failed) && failed.Status == http.StatusInternalServerError:
			// A monitor passes on the answer of the work.
			return wait.Again, "", &RequestError{Op: "task " + path, Status: failed.Status, Text: failed.Text, kind: ErrTask}
		case err != nil:
			return wait.Again, "", err
		}

		state := schemas.TaskState(a.doc.text("TaskState"))
		seen = seen || (state != "" && a.status == http.StatusOK)

		switch {
		case state == schemas.CompletedTaskState:
			return wait.Done, "", nil
		case slices.Contains(failures, state):
			return wait.Again, "", c.taskError(path, state, a.doc)
		case state != "":
			return wait.Again, "the task is " + string(state), nil
		case a.status == http.StatusAccepted:
			return wait.Again, "the task is under way", nil
		case monitor:
			return wait.Done, "", nil
		default:
			return wait.Again, "", errGone
		}
	}
}

// taskError words the end of a task that failed.
func (c *Client) taskError(path string, state schemas.TaskState, doc document) error {
	var said []string

	for _, message := range doc.objects("Messages") {
		if text := message.text("Message"); text != "" {
			said = append(said, text)
		}
	}

	text := fmt.Sprintf("it ended as %s", state)
	if len(said) > 0 {
		text += ": " + strings.Join(said, " ")
	}

	return &RequestError{Op: "task " + path, Text: c.secrets.clean(text), kind: ErrTask}
}
