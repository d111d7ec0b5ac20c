// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"net/http"
	"strconv"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Patterns of the requests that tests strike most.
const (
	TokenRequests = "POST /id_manager/realms/*/protocol/openid-connect/token" //nolint:gosec // a path
	FMMachine     = "GET /fabric_manager/api/v1/machines/*"
	FMMachines    = "GET /fabric_manager/api/v1/machines"
	FMAttach      = "PATCH /fabric_manager/api/v1/machines/*/update"
	FMDetach      = "DELETE /fabric_manager/api/v1/machines/*/update"
	CMMachine     = "GET /cluster_manager/cluster_autoscaler/v3/tenants/*/clusters/*/machines/*"
	CMResize      = "POST /cluster_manager/cluster_autoscaler/v3/tenants/*/clusters/*/machines/*/actions/resize"
)

// LostAnswer closes the connection when the work is done.
func LostAnswer(match string) Fault { return Fault{Match: match, DropAfter: true} }

// LostRequest closes the connection, and nothing is done.
func LostRequest(match string) Fault { return Fault{Match: match, DropBefore: true} }

// Slow sends the answer so much later; the work is done at once.
func Slow(match string, by time.Duration) Fault { return Fault{Match: match, Delay: by} }

// Lagging does the work so much later, whether somebody still waits for it or not.
func Lagging(match string, by time.Duration) Fault { return Fault{Match: match, Late: by} }

// Refusing answers a status so many times, in the shape of FTI's errors, and does nothing.
func Refusing(match string, status, times int) Fault {
	return Fault{
		Match: match, Times: times, Status: status,
		Body: `{"status":` + strconv.Itoa(status) + `,"detail":{"code":"E029000","message":"injected","data":{}}}`,
	}
}

// Overloaded answers 503 with Retry-After so many times.
func Overloaded(match string, times, seconds int) Fault {
	f := Refusing(match, http.StatusServiceUnavailable, times)
	f.Header = map[string]string{"Retry-After": strconv.Itoa(seconds)}

	return f
}

// BrokenAfter answers a status although the work was done.
func BrokenAfter(match string, status int) Fault {
	f := Refusing(match, status, 1)
	f.AfterWork = true

	return f
}

// HTML answers a page of a proxy although the work was done.
func HTML(match string, status int) Fault {
	return Fault{
		Match: match, Status: status, AfterWork: true, Header: map[string]string{"Content-Type": "text/html"},
		Body: "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please wait…</body></html>",
	}
}

// Redirect answers 302 to another place, and does nothing.
func Redirect(match, to string) Fault {
	return Fault{
		Match: match, Status: http.StatusFound, Header: map[string]string{"Location": to, "Content-Type": "text/html"},
		Body: "<a href=\"" + to + "\">Found</a>",
	}
}

// Truncated cuts the answer off in the middle; its length is right, so that only its JSON is wrong.
func Truncated(match string) Fault {
	return Fault{Match: match, Raw: func(b []byte) []byte { return b[:len(b)/2] }}
}

// Dripping sends the answer byte by byte.
func Dripping(match string, pause time.Duration) Fault { return Fault{Match: match, Drip: pause} }

// Rewritten changes the JSON of the answer.
func Rewritten(match string, edit func(doc any) any) Fault { return Fault{Match: match, Edit: edit} }

// TokenDown makes the token service answer 503 so many times.
func TokenDown(times int) Fault { return Overloaded(TokenRequests, times, 1) }

// ThirdParty lets somebody else attach a device of a model just before a request is served.
func ThirdParty(match, machineName, model string) Fault {
	return Fault{Match: match, First: func(tx store.Tx, now time.Time) error {
		_, err := hardware.AttachForeign(tx, now, machineName, hardware.Pick(hardware.GPU, model), 0)

		return err
	}}
}
