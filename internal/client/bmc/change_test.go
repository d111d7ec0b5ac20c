// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/bmc"
)

// tagged scripts a system with an ETag and a PATCH that takes only some values of If-Match.
// An empty list of tags means no ETag at all.
func tagged(f *fake, tags []string, takes func(match string) int) {
	f.script("GET "+systemOne, func(n int, _ call) *reply {
		a := reply{status: 200, body: f.docs[systemOne]}
		if len(tags) > 0 {
			a.header = map[string]string{"ETag": tags[min(n, len(tags))-1]}
		}

		return &a
	})
	f.script("PATCH "+systemOne, func(_ int, c call) *reply {
		if status := takes(c.header.Get("If-Match")); status != 200 {
			a := failed(status, "the precondition is not met")

			return &a
		}

		return nil
	})
}

// only takes a set of values, and no other.
func only(good ...string) func(string) int {
	return func(match string) int {
		switch {
		case slices.Contains(good, match):
			return 200
		case match == "":
			return http.StatusPreconditionRequired
		default:
			return http.StatusPreconditionFailed
		}
	}
}

func TestOBMH12_preconditions(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		tags  []string
		takes func(string) int
		sent  []string // values of If-Match
		fails bool
	}{
		"the tag is sent at once":               {[]string{`"1"`}, only(`"1"`), []string{`"1"`}, false},
		"no tag, and none is needed":            {nil, only(""), []string{""}, false},
		"no tag, and one is needed":             {nil, only("*"), []string{"", "*"}, false},
		"the resource changed in between":       {[]string{`"1"`, `"2"`}, only(`"2"`), []string{`"1"`, `"2"`}, false},
		"a weak tag that is refused":            {[]string{`W/"123"`}, only(`"123"`), []string{`W/"123"`, `W/"123"`, `"123"`}, false},
		"a tag that is quoted twice":            {[]string{`""123""`}, only(`"123"`), []string{`""123""`, `""123""`, `"123"`}, false},
		"a tag of a compressed answer":          {[]string{`"123-gzip"`}, only(`"123"`), []string{`"123-gzip"`, `"123-gzip"`, `"123"`}, false},
		"only the asterisk is taken":            {[]string{`W/"1"`}, only("*"), []string{`W/"1"`, `W/"1"`, `"1"`, "*"}, false},
		"nothing is taken, and there is an end": {[]string{`W/"1"`}, only("never"), []string{`W/"1"`, `W/"1"`, `"1"`, "*"}, true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFake()
			tagged(f, tc.tags, tc.takes)

			err := f.client(t).Patch(t.Context(), systemOne, map[string]any{"AssetTag": "x"})
			if (err != nil) != tc.fails {
				t.Errorf("error %v, want one: %v", err, tc.fails)
			}

			if tc.fails && (!errors.Is(err, bmc.ErrConflict) || !strings.Contains(err.Error(), "the precondition is not met")) {
				t.Errorf("error %v, want ErrConflict with the BMC's words", err)
			}

			var sent []string

			for _, c := range f.calls {
				if c.method == http.MethodPatch {
					sent = append(sent, c.header.Get("If-Match"))
				}
			}

			if !slices.Equal(sent, tc.sent) {
				t.Errorf("If-Match %q, want %q", sent, tc.sent)
			}

			if !tc.fails && f.docs[systemOne]["AssetTag"] != "x" {
				t.Error("the change did not arrive")
			}
		})
	}
}

func TestOBMH12_resetOfAChangedSystem(t *testing.T) {
	t.Parallel()

	f := newFake()
	tagged(f, []string{`"1"`}, only(`"1"`))
	f.script("POST "+resetPath, func(_ int, c call) *reply {
		if c.header.Get("If-Match") == "" {
			a := failed(http.StatusPreconditionRequired, "If-Match is missing")

			return &a
		}

		return nil
	})

	if err := f.client(t).SetPower(t.Context(), bmc.TurnOn); err != nil {
		t.Errorf("error %v, want the reset to be repeated with the tag: it was refused, not done", err)
	}
}

const (
	taskPath    = "/redfish/v1/TaskService/Tasks/1"
	monitorPath = "/redfish/v1/TaskService/TaskMonitors/1"
)

// working scripts a reset that answers 202 and takes ten looks, and what is behind it.
func working(f *fake, accepted reply, end doc, last reply) {
	ready := func(n int) bool { return n > 10 }

	f.script("POST "+resetPath, func(_ int, c call) *reply {
		if end["TaskState"] == "Completed" {
			time.AfterFunc(time.Minute, func() { f.mu.Lock(); defer f.mu.Unlock(); f.obey(c) })
		}

		return &accepted
	})
	f.script("GET "+taskPath, func(n int, _ call) *reply {
		if ready(n) {
			return &reply{200, nil, end}
		}

		return &reply{200, nil, doc{"@odata.id": taskPath, "TaskState": []string{"New", "Running", "Interrupted"}[n%3]}}
	})
	f.script("GET "+monitorPath, func(n int, _ call) *reply {
		if ready(n) {
			return &last
		}

		return &reply{202, map[string]string{"Retry-After": "1"}, nil}
	})
}

func TestOBMH13_shapesOfATask(t *testing.T) {
	t.Parallel()

	completed := doc{"TaskState": "Completed"}
	exception := doc{"TaskState": "Exception", "Messages": []any{doc{"Message": "the fan is missing"}}}
	located := func(path string) reply { return reply{202, map[string]string{"Location": path}, nil} }

	cases := map[string]struct {
		accepted reply
		end      doc
		last     reply
		looked   string
		wrong    string
	}{
		"(a) a task":                       {located(taskPath), completed, reply{}, taskPath, ""},
		"(a) a task, with a host":          {located("https://10.0.0.1" + taskPath), completed, reply{}, taskPath, ""},
		"(a) a task that fails":            {located(taskPath), exception, reply{}, taskPath, "the fan is missing"},
		"(a) a task that is killed":        {located(taskPath), doc{"TaskState": "Killed"}, reply{}, taskPath, "Killed"},
		"(a) a task that is cancelled":     {located(taskPath), doc{"TaskState": "Cancelled"}, reply{}, taskPath, "Cancelled"},
		"(b) a monitor that ends with 204": {located(monitorPath), completed, reply{status: 204}, monitorPath, ""},
		"(b) a monitor that ends with 200": {located(monitorPath), completed, reply{200, nil, doc{"Id": "1"}}, monitorPath, ""},
		"(b) a monitor that is gone":       {located(monitorPath), completed, failed(404, "gone"), monitorPath, ""},
		"(b) a monitor that ends in error": {located(monitorPath), exception, failed(500, "the fan is missing"), monitorPath, "the fan is missing"},
		"(c) the body names a task":        {reply{202, nil, doc{"@odata.id": taskPath, "TaskState": "New"}}, completed, reply{}, taskPath, ""},
		"(c) the body names a task that fails": {
			reply{202, nil, doc{"@odata.id": taskPath, "TaskState": "New"}}, exception, reply{}, taskPath, "the fan is missing",
		},
		"(c) the body names something else": {reply{202, nil, doc{"@odata.id": systemOne}}, completed, reply{}, "", ""},
		"(d) nothing at all":                {reply{status: 202}, completed, reply{}, "", ""},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				working(f, tc.accepted, tc.end, tc.last)

				start := time.Now()
				err := f.client(t).SetPower(t.Context(), bmc.TurnOn)

				switch {
				case tc.wrong == "" && err != nil:
					t.Errorf("error %v", err)
				case tc.wrong != "" && (!errors.Is(err, bmc.ErrTask) || !strings.Contains(err.Error(), tc.wrong)):
					t.Errorf("error %v, want ErrTask with %q", err, tc.wrong)
				case tc.wrong == "" && time.Since(start) < time.Minute:
					t.Error("it was said to be done before it was")
				}

				if tc.looked != "" && f.count("GET "+tc.looked) < 11 {
					t.Errorf("%s was not followed to its end: %d looks", tc.looked, f.count("GET "+tc.looked))
				}

				if n := f.count("POST " + resetPath); n != 1 {
					t.Errorf("%d resets, want 1", n)
				}
			})
		})
	}
}

func TestOBMH13_taskWithoutEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		working(f, reply{202, map[string]string{"Location": taskPath}, nil}, doc{"TaskState": "Running"}, reply{})

		err := f.client(t).SetPower(t.Context(), bmc.TurnOn)
		if err == nil || !strings.Contains(err.Error(), "the task is Running") {
			t.Errorf("error %v, want an end of the wait that says what was seen", err)
		}
	})
}

func TestOBMH13_changeThatIsOnlyAccepted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.script("PATCH "+systemOne, func(int, call) *reply {
			time.AfterFunc(30*time.Second, func() {
				f.mu.Lock()
				defer f.mu.Unlock()

				f.docs[systemOne]["Boot"] = doc{"BootSourceOverrideTarget": "Pxe", "Retries": 3, "More": true}
			})

			return &reply{status: 202}
		})

		start := time.Now()

		change := map[string]any{"Boot": map[string]any{"BootSourceOverrideTarget": "Pxe", "Retries": 3}}
		if err := f.client(t).Patch(t.Context(), systemOne, change); err != nil {
			t.Fatal(err)
		}

		if waited := time.Since(start); waited < 30*time.Second || waited > time.Minute {
			t.Errorf("done after %s, want about when the new values show", waited)
		}
	})
}

// A task's own hiccup is not the end of the work.
func TestOBMH13_taskReadFailsForAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		working(f, reply{202, map[string]string{"Location": taskPath}, nil}, doc{"TaskState": "Completed"}, reply{})

		usual := f.scripts["GET "+taskPath]
		f.script("GET "+taskPath, func(n int, c call) *reply {
			if n == 3 || n == 5 {
				a := failed([]int{500, 503}[n/5], fmt.Sprint("hiccup ", n))

				return &a
			}

			return usual(n, c)
		})

		if err := f.client(t).SetPower(t.Context(), bmc.TurnOn); err != nil {
			t.Errorf("error %v, want the task to be followed", err)
		}
	})
}
