// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

func TestTask_saysHowAJobStands(t *testing.T) {
	t.Parallel()

	state := func(word string) func(http.ResponseWriter) {
		return answer(200, obj{"TaskState": word, "Messages": []any{obj{"Message": "link training"}, obj{}}})
	}

	for name, c := range map[string]struct {
		say   func(http.ResponseWriter)
		state fabric.TaskState
		words string
	}{
		"completed":                     {state("Completed"), fabric.TaskDone, "Completed"},
		"completed, and critical":       {answer(200, obj{"TaskState": "Completed", "TaskStatus": "Critical"}), fabric.TaskFailed, ""},
		"exception":                     {state("Exception"), fabric.TaskFailed, "link training"},
		"cancelled":                     {state("Cancelled"), fabric.TaskFailed, "Cancelled"},
		"killed":                        {state("Killed"), fabric.TaskFailed, "Killed"},
		"suspended":                     {state("Suspended"), fabric.TaskSuspended, "a person must resume or cancel it"},
		"running":                       {state("Running"), fabric.TaskRunning, "Running"},
		"interrupted goes on":           {state("Interrupted"), fabric.TaskRunning, "Interrupted"},
		"a state nobody knows":          {state("Dreaming"), fabric.TaskRunning, "Dreaming"},
		"messages of another type":      {answer(200, obj{"TaskState": "Exception", "Messages": "x"}), fabric.TaskFailed, "Exception"},
		"a monitor under way":           {raw(202, "text/plain", ""), fabric.TaskRunning, "under way"},
		"a monitor with its task":       {answer(202, obj{"TaskState": "Running"}), fabric.TaskRunning, "Running"},
		"a monitor at its end":          {raw(204, "text/plain", ""), fabric.TaskDone, "ended"},
		"a monitor of failed work":      {refusing(400, "ActionParameterNotSupported"), fabric.TaskFailed, "ActionParameter"},
		"a monitor of broken work":      {answer(500, obj{"error": obj{"code": "Composition.1.1.UnableToProcessStanzaRequest", "message": "link training"}}), fabric.TaskFailed, "link training"},
		"a monitor of work in conflict": {refusing(412, "PreconditionFailed"), fabric.TaskFailed, "PreconditionFailed"},
		"forgotten":                     {refusing(404, "ResourceMissingAtURI"), fabric.TaskRunning, "no longer knows"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := composable(t)
			s.answers["GET "+monitor] = c.say

			tasks, ok := s.serve().(fabric.Tasks)
			if !ok {
				t.Fatal("no tasks")
			}

			got, err := tasks.Task(t.Context(), monitor)
			if err != nil || (got.ID == "") != (name == "forgotten") || got.State != c.state || !strings.Contains(got.Text, c.words) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestTask_whenAskingFailsNothingIsKnown(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		say  func(http.ResponseWriter)
		kind error
	}{
		"the service fails": {refusing(500, "InternalError"), fabric.ErrUnknown},
		"no permission":     {refusing(403, "InsufficientPrivilege"), fabric.ErrAuth},
		"HTML":              {raw(200, "text/html", "<html>"), fabric.ErrNotFabric},
	} {
		s := composable(t)
		s.answers["GET "+monitor] = c.say

		tasks, _ := s.serve().(fabric.Tasks)
		if got, err := tasks.Task(t.Context(), monitor); !errors.Is(err, c.kind) || got.State != fabric.TaskRunning {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}

	tasks, _ := composable(t).serve().(fabric.Tasks)
	if _, err := tasks.Task(t.Context(), "7"); !errors.Is(err, fabric.ErrNotFound) {
		t.Errorf("no path: %v", err)
	}
}

func TestOrders_takeTheTaskFromTheBodyWhereNoHeaderNamesIt(t *testing.T) {
	t.Parallel()

	s := composable(t)
	s.answers["POST "+sys1+"/Actions/ComputerSystem.AddResourceBlock"] = answer(202, obj{"@odata.id": v1 + "/TaskService/Tasks/9"})

	hint, err := s.serve().Attach(t.Context(), "1", want(blockDir+"/g2"))
	if err != nil || hint.Task != v1+"/TaskService/Tasks/9" {
		t.Errorf("%+v, %v", hint, err)
	}
}
