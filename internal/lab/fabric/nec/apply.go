// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nec

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
)

// The codes of errors, as the services give them. Nobody tells the configuration manager's.
const (
	codeInvalid    = "E40001"
	codeRunning    = "E40010"
	codeNoJob      = "E40020"
	codeDone       = "E40022"
	codeSuspended  = "E40027"
	codeNoResource = "E40404"
	codeHardware   = "EF0001"
)

var applyID = regexp.MustCompile(`^[0-9a-f]{10}$`)

// apply takes an order.
func (c *call) apply() (answer, error) {
	steps, err := decodeOrder(c.body, c.dialect())
	if err != nil {
		return failure(http.StatusBadRequest, codeInvalid, "Unexpected strings "+err.Error())
	}

	j, err := c.current()

	switch {
	case err != nil:
		return answer{}, err
	case j != nil && j.Status == Suspended:
		return failure(http.StatusConflict, codeSuspended, "Suspended data exist. Please resume layoutapply. applyID: "+j.ID)
	}

	busy, err := c.busy(steps)
	if err != nil {
		return answer{}, err
	}

	if j != nil || busy {
		for _, p := range steps {
			if m, found, err := c.machineOf(p.Source, c.now); err == nil && found {
				if err := hardware.Refuse(c.tx, c.now, m.Name); err != nil {
					return answer{}, err
				}
			}
		}

		return failure(http.StatusConflict, codeRunning, "Already running. Cannot start multiple instances.")
	}

	return c.start(steps)
}

// busy tells whether the fabric works for somebody else, or a machine takes no orders.
func (c *call) busy(steps []procedure) (bool, error) {
	all, err := hardware.All(c.tx, c.now)
	if err != nil {
		return false, err
	}

	if slices.ContainsFunc(all, func(d hardware.Device) bool { return d.Phase == hardware.Adding || d.Phase == hardware.Removing }) {
		return true, nil
	}

	for _, p := range steps {
		if m, found, err := c.machineOf(p.Source, c.now); err != nil || found && m.Busy() {
			return true, err
		}
	}

	return false, nil
}

func (c *call) start(steps []procedure) (answer, error) {
	j := &job{ID: newID(), Status: InProgress, Began: c.now, Cursor: c.now}
	for _, p := range steps {
		j.Steps = append(j.Steps, &step{procedure: p})
	}

	if len(steps) > 0 {
		if _, err := c.tx.Get(bucket, armedKey, &j.Armed); err != nil {
			return answer{}, err
		}

		if err := c.tx.Delete(bucket, armedKey); err != nil {
			return answer{}, err
		}
	}

	if err := c.save(j); err != nil {
		return answer{}, err
	}

	if err := c.advance(); err != nil {
		return answer{}, err
	}

	return answer{http.StatusAccepted, obj{"applyID": j.ID}}, nil
}

func newID() string {
	var b [5]byte

	_, _ = rand.Read(b[:]) // never fails

	return hex.EncodeToString(b[:])
}

// asked is the job that the path names; nil: the answer says why not.
func (c *call) asked() (*job, answer, error) {
	id := c.r.PathValue("id")
	if !applyID.MatchString(id) {
		a, err := failure(http.StatusBadRequest, codeInvalid, "Unexpected strings "+id)

		return nil, a, err
	}

	j, err := c.load(id)
	if j == nil && err == nil {
		a, err := failure(http.StatusNotFound, codeNoJob, fmt.Sprintf("Specified %s is not found.", id))

		return nil, a, err
	}

	return j, answer{}, err
}

// parts are what a job shows only when it is asked to, in a list.
var parts = []string{
	"procedures", "applyResult", "rollbackProcedures", "rollbackResult", "resumeProcedures", "resumeResult",
}

// fields are the parts asked for; false: there is no such part.
func (c *call) fields() ([]string, bool) {
	asked := c.r.URL.Query()["fields"]

	return asked, !slices.ContainsFunc(asked, func(f string) bool { return !slices.Contains(parts, f) })
}

func (c *call) job() (answer, error) {
	fields, valid := c.fields()
	if !valid {
		return failure(http.StatusBadRequest, codeInvalid, "fields: no such field")
	}

	j, a, err := c.asked()
	if j == nil {
		return a, err
	}

	if len(fields) == 0 {
		fields = parts
	}

	return ok(j.doc(c.dialect(), fields))
}

// jobs lists them, the youngest first.
func (c *call) jobs() (answer, error) {
	fields, valid := c.fields()
	if !valid {
		return failure(http.StatusBadRequest, codeInvalid, "fields: no such field")
	}

	var all []job

	err := c.tx.Each(jobBucket, func(_ string, raw json.RawMessage) error {
		j, err := decode[job](raw)
		if status := c.r.URL.Query().Get("status"); status == "" || status == j.Status {
			all = append(all, j)
		}

		return err
	})
	if err != nil {
		return answer{}, err
	}

	slices.SortFunc(all, func(a, b job) int { return b.Began.Compare(a.Began) })

	docs := list{}
	for i := range all {
		docs = append(docs, all[i].doc(c.dialect(), fields))
	}

	return ok(obj{"totalCount": len(docs), "count": len(docs), "applyResults": docs})
}

// act resumes or cancels a job.
func (c *call) act() (answer, error) {
	action := c.r.URL.Query().Get("action")
	rollback, valid := c.flag("rollbackOnCancel")

	if !valid || action != "resume" && action != "cancel" {
		return failure(http.StatusBadRequest, codeInvalid, "Unexpected strings "+action)
	}

	j, a, err := c.asked()
	if j == nil {
		return a, err
	}

	code := http.StatusAccepted

	switch {
	case action == "resume" && j.Status == Suspended:
		j.resume(c.now)
	case action == "resume" && j.Status == InProgress:
		return ok(obj{"status": j.Status})
	case action == "cancel" && j.Status == InProgress:
		j.Status, j.Canceled, j.Rollback = Canceling, c.now, rollback
	case action == "cancel" && j.Status == Suspended: // it never completes
		j.abandon(skipped)
		j.Status, j.Canceled, j.Ended, j.Cursor = Failed, c.now, c.now, c.now
	case action == "cancel" && (j.Status == Canceling || j.Status == Canceled):
		code = http.StatusOK
	default:
		return failure(http.StatusConflict, codeDone, "This layoutapply has already executed.")
	}

	status := j.Status

	if code == http.StatusAccepted {
		if err := c.save(j); err != nil {
			return answer{}, err
		}

		if err := c.advance(); err != nil {
			return answer{}, err
		}
	}

	return answer{code, obj{"status": status}}, nil
}
