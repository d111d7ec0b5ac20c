// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	taskBucket   = "fabric_redfish_tasks"
	tasksPath    = root + "/TaskService/Tasks"
	monitorsPath = root + "/TaskService/TaskMonitors"
)

// task is an order that takes its time.
type task struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	Began time.Time `json:"began"`
	Ends  time.Time `json:"ends"`
	Fails string    `json:"fails,omitempty"` // the reason with which it fails
}

func taskKey(n int) string { return fmt.Sprintf("%06d", n) }

func (c *call) tasks() ([]task, error) {
	var all []task

	err := c.tx.Each(taskBucket, func(_ string, raw json.RawMessage) error {
		var t task
		if err := json.Unmarshal(raw, &t); err != nil {
			return err
		}

		all = append(all, t)

		return nil
	})

	return all, err
}

// begun is the answer to an order that has begun: 204 when it is done by now, the same but
// later where the service has no tasks for it, or 202 and where to ask.
func (c *call) begun(name string, takes time.Duration, fails string) (answer, error) {
	done := noContent()
	if fails != "" {
		done = failure(http.StatusInternalServerError, "Composition.1.1.UnableToProcessStanzaRequest", fails)
	}

	if takes <= 0 || c.o.NoTasks {
		done.wait = takes

		return done, nil
	}

	all, err := c.tasks()
	if err != nil {
		return answer{}, err
	}

	t := task{ID: fmt.Sprint(len(all) + 1), Name: name, Began: c.now, Ends: c.now.Add(takes), Fails: fails}

	return answer{
		code: http.StatusAccepted, body: t.doc(c.now),
		header: http.Header{"Location": {monitorsPath + "/" + t.ID}, "Retry-After": {"1"}},
	}, c.tx.Put(taskBucket, taskKey(len(all)+1), t)
}

func (t task) doc(now time.Time) obj {
	doc := entity(tasksPath+"/"+t.ID, "Task.v1_7_0.Task", t.ID, t.Name, obj{
		"TaskState": "Running", "TaskStatus": "OK", "PercentComplete": 0, "Messages": list{},
		"StartTime": t.Began.Format(time.RFC3339), "TaskMonitor": monitorsPath + "/" + t.ID,
	})

	if now.Before(t.Ends) {
		return doc
	}

	doc["TaskState"], doc["PercentComplete"], doc["EndTime"] = "Completed", 100, t.Ends.Format(time.RFC3339)

	if t.Fails != "" {
		doc["TaskState"], doc["TaskStatus"] = "Exception", "Critical"
		doc["Messages"] = list{obj{
			"MessageId": "Composition.1.1.UnableToProcessStanzaRequest", "Message": t.Fails, "MessageSeverity": "Critical",
		}}
	}

	return doc
}

// monitor answers 202 until the task is done, and then what the order would have.
func (c *call) monitor() (answer, error) {
	all, err := c.tasks()
	if err != nil {
		return answer{}, err
	}

	for _, t := range all {
		if c.path != monitorsPath+"/"+t.ID {
			continue
		}

		switch {
		case c.now.Before(t.Ends):
			return answer{code: http.StatusAccepted, header: http.Header{"Retry-After": {"1"}}, body: t.doc(c.now)}, nil
		case t.Fails != "":
			return failure(http.StatusInternalServerError, "Composition.1.1.UnableToProcessStanzaRequest", t.Fails), nil
		default:
			return noContent(), nil
		}
	}

	return notFound(c.path), nil
}

// taskDoc finds documents below the task service.
func (c *call) taskDoc(rest []string) (obj, error) {
	all, err := c.tasks()
	if err != nil {
		return nil, err
	}

	switch strings.Join(rest, "/") {
	case "":
		return entity(root+"/TaskService", "TaskService.v1_2_0.TaskService", "TaskService", "Tasks", obj{
			"ServiceEnabled": true, "Tasks": ref(tasksPath),
		}), nil
	case "Tasks":
		paths := make([]string, 0, len(all))
		for _, t := range all {
			paths = append(paths, tasksPath+"/"+t.ID)
		}

		return collection(tasksPath, "TaskCollection", paths), nil
	}

	for _, t := range all {
		if len(rest) == 2 && rest[0] == "Tasks" && rest[1] == t.ID {
			return t.doc(c.now), nil
		}
	}

	return nil, nil
}
