// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	taskBucket  = "bmc-tasks"
	tasksPath   = root + "/TaskService/Tasks"
	monitorPath = root + "/TaskService/TaskMonitors"
)

// The shapes in which a BMC says that it has begun (Faults.ResetTask).
const (
	taskLocation = "location" // Location names the task
	taskMonitors = "monitor"  // Location names a monitor: 202 until it is done
	taskBody     = "body"     // no Location, @odata.id in the body
	taskBare     = "bare"     // nothing at all
)

// task is work that ends by the clock.
type task struct {
	ID    string    `json:"id"`
	BMC   string    `json:"bmc"`
	Name  string    `json:"name"`
	Began time.Time `json:"began"`
	Ends  time.Time `json:"ends"`
	Error string    `json:"error,omitempty"` // how it ends
}

// begin remembers a new task of the call's machine.
func (c *call) begin(name string, takes time.Duration, failure string) (task, error) {
	all, err := c.tasks()
	if err != nil {
		return task{}, err
	}

	t := task{BMC: c.face.name, Name: name, Began: c.now, Ends: c.now.Add(takes), Error: failure}
	for n := len(all) + 1; ; n++ { // the numbers of other BMCs may be in the way
		t.ID = fmt.Sprint(n)

		taken, err := c.tx.Get(taskBucket, c.taskKey(t.ID), &task{})
		if err != nil {
			return task{}, err
		}

		if !taken {
			return t, c.tx.Put(taskBucket, c.taskKey(t.ID), t)
		}
	}
}

func (c *call) taskKey(id string) string { return c.face.name + "/" + id }

func (c *call) tasks() ([]task, error) {
	var all []task

	err := c.tx.Each(taskBucket, func(_ string, raw json.RawMessage) error {
		var t task
		if err := json.Unmarshal(raw, &t); err != nil {
			return err
		}

		if t.BMC == c.face.name {
			all = append(all, t)
		}

		return nil
	})

	return all, err
}

// doc is the task as it is now.
func (t task) doc(now time.Time) obj {
	doc := entity(tasksPath+"/"+t.ID, "Task.v1_5_1.Task", t.ID, t.Name, obj{
		"TaskState": "Running", "TaskStatus": "OK", "PercentComplete": 0, "Messages": list{},
		"StartTime": t.Began.Format(time.RFC3339), "TaskMonitor": monitorPath + "/" + t.ID,
	})

	if now.Before(t.Ends) {
		return doc
	}

	message := obj{"MessageId": "Update.1.0.OperationCompleted", "Message": "done", "Severity": "OK"}
	doc["TaskState"], doc["PercentComplete"], doc["EndTime"] = "Completed", 100, t.Ends.Format(time.RFC3339)

	if t.Error != "" {
		message = obj{"MessageId": "Update.1.0.OperationFailed", "Message": t.Error, "Severity": "Critical"}
		doc["TaskState"], doc["TaskStatus"] = "Exception", "Critical"
	}

	doc["Messages"] = list{message}

	return doc
}

// accepted is the 202 of a task in one of the shapes.
func (t task) accepted(shape string, now time.Time) answer {
	a := answer{code: http.StatusAccepted}

	switch shape {
	case taskBare:
	case taskBody:
		a.body = t.doc(now)
	case taskMonitors:
		a.header = http.Header{"Location": {monitorPath + "/" + t.ID}}
	default:
		a.header, a.body = http.Header{"Location": {tasksPath + "/" + t.ID}}, t.doc(now)
	}

	return a
}

func (c *call) task() (task, bool, error) {
	var t task

	ok, err := c.tx.Get(taskBucket, c.taskKey(c.r.PathValue("task")), &t)

	return t, ok, err
}

func taskService(c *call) (answer, error) {
	return c.resource(entity(c.path(), "TaskService.v1_1_4.TaskService", "TaskService", "Tasks", obj{
		"ServiceEnabled": true, "Tasks": ref(tasksPath),
	})), nil
}

func taskList(c *call) (answer, error) {
	all, err := c.tasks()

	var paths []string
	for _, t := range all {
		paths = append(paths, tasksPath+"/"+t.ID)
	}

	return c.resource(collection(c.path(), "Task", sorted(paths)...)), err
}

func oneTask(c *call) (answer, error) {
	t, ok, err := c.task()
	if !ok || err != nil {
		return c.missing(), err
	}

	return c.resource(t.doc(c.now)), nil
}

// taskMonitor answers 202 until the task is done, and then what the action would have.
func taskMonitor(c *call) (answer, error) {
	t, ok, err := c.task()

	switch {
	case !ok || err != nil:
		return c.missing(), err
	case c.now.Before(t.Ends):
		return answer{code: http.StatusAccepted, header: http.Header{"Retry-After": {"1"}}, body: t.doc(c.now)}, nil
	case t.Error != "":
		return failure(http.StatusInternalServerError, "InternalError", t.Error), nil
	}

	return noContent(), nil
}
