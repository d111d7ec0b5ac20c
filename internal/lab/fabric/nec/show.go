// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nec

import (
	"net/http"
	"slices"
	"time"
)

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// doc is the job with the parts asked for.
func (j *job) doc(d dialect, fields []string) obj {
	o := obj{"applyID": j.ID, "status": j.Status}

	for name, t := range map[string]time.Time{
		"startedAt": j.Began, "endedAt": j.Ended, "canceledAt": j.Canceled, "suspendedAt": j.Suspended,
		"resumedAt": j.Resumed, "rollbackStartedAt": j.RollbackBegan, "rollbackEndedAt": j.RollbackEnded,
	} {
		if !t.IsZero() {
			o[name] = stamp(t)
		}
	}

	if !j.Canceled.IsZero() {
		o["executeRollback"] = j.Rollback
	}

	if j.RollbackState != "" {
		o["rollbackStatus"] = j.RollbackState
	}

	show := func(prefix, procedures string, steps []*step) {
		if slices.Contains(fields, procedures) {
			o[procedures] = procedureDocs(d, steps)
		}

		if slices.Contains(fields, prefix+"Result") {
			o[prefix+"Result"] = results(d, steps)
		}
	}

	show("apply", "procedures", j.Steps)

	if j.RollbackState != "" {
		show("rollback", "rollbackProcedures", j.RollbackSteps)
	}

	if !j.Resumed.IsZero() {
		show("resume", "resumeProcedures", j.Steps)
	}

	return o
}

func procedureDocs(d dialect, steps []*step) list {
	docs := list{}
	for _, s := range steps {
		docs = append(docs, s.doc(d))
	}

	return docs
}

// results are the steps that have begun, or never will.
func results(d dialect, steps []*step) list {
	docs := list{}

	for _, s := range steps {
		doc := obj{"operationID": s.ID, "status": s.Status}

		switch s.Status {
		case "":
			continue
		case Completed:
			doc["statusCode"], doc["responseBody"] = http.StatusOK, obj{d.device: s.Device}
		case Failed:
			doc["statusCode"], doc["responseBody"] = s.Code, obj{"code": codeHardware, "message": s.Fails}
		}

		if s.Status != skipped && s.Status != Canceled {
			doc["method"], doc["startedAt"] = http.MethodPut, stamp(s.Began)
		}

		if s.Status == Completed || s.Status == Failed {
			doc["endedAt"] = stamp(s.Until)
		}

		docs = append(docs, doc)
	}

	return docs
}
