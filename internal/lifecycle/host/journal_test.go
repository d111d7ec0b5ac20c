// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

func read(doc string) host.Journal {
	var v any

	_ = json.Unmarshal([]byte(doc), &v)

	return host.ReadJournal(map[string]any{host.JournalKey: v})
}

func TestJournal_whatCannotBeReadHidesNothingElse(t *testing.T) {
	t.Parallel()

	j := read(`{"managed_by":"terraform-provider-metal3","owner_id":"me","name":7,"labels":["x"],"applied":"odd","phase":"provisioned","v":"one"}`)
	if !j.Ours("me") || j.Ours("") || j.Phase != host.PhaseProvisioned || j.Name != "" || j.Labels != nil || j.Applied.Image != nil {
		t.Errorf("%+v", j)
	}

	for _, doc := range []string{`null`, `"text"`, `[]`, `7`, `{}`} {
		if j := read(doc); j.Known() {
			t.Errorf("%s is a journal: %+v", doc, j)
		}
	}

	if j := host.ReadJournal(nil); j.Known() || j.Ours("") {
		t.Error("nothing is a journal")
	}
}

func TestJournal_keysOfOthersStay(t *testing.T) {
	t.Parallel()

	j := read(`{"managed_by":"terraform-provider-metal3","fabric":{"id":7},"adopt":true,"unhealthy":{"reason":"disk"},"hold":"x","name":"old"}`)
	j.Adopt, j.Name = false, "new"

	v := j.Value()
	if fabric, _ := v["fabric"].(map[string]any); fabric["id"] != float64(7) {
		t.Errorf("a foreign key became %v", v["fabric"])
	}

	if _, there := v["adopt"]; there || v["name"] != "new" || v["hold"] != "x" || j.UnhealthyReason() != "disk" {
		t.Errorf("%v", v)
	}

	if v["v"] != float64(1) {
		t.Errorf("version %v", v["v"])
	}
}

func TestJournal_holdsNoSecret(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		w := wanted()
		w.BMC.Password, w.PullSecret, w.Config.UserData = "S3cret&+%", "pull:S3cret", "#cloud-config\npassword: S3cret\n"
		b.must(w, host.Provisioned)

		doc, _ := json.Marshal(b.records[id].node.Extra)
		if strings.Contains(string(doc), "S3cret") {
			t.Errorf("the journal is %s", doc)
		}
	})
}

func TestJournal_unhealthyReason(t *testing.T) {
	t.Parallel()

	for doc, want := range map[string]string{
		`{}`: "", `{"unhealthy":""}`: "", `{"unhealthy":false}`: "", `{"unhealthy":true}`: "unhealthy", `{"unhealthy":"disk"}`: "disk",
		`{"unhealthy":{"reason":"disk"}}`: "disk", `{"unhealthy":{"at":1}}`: "unhealthy", `{"unhealthy":7}`: "unhealthy",
	} {
		if got := read(doc).UnhealthyReason(); got != want {
			t.Errorf("%s is %q, want %q", doc, got, want)
		}
	}
}

// FuzzJournal reads anything. What was read and written once is the same when it is read
// and written again, and a key of somebody else is kept as it was.
func FuzzJournal(f *testing.F) {
	for _, doc := range []string{
		`{}`, `null`, `{"v":1,"managed_by":"terraform-provider-metal3","owner_id":""}`, `{"applied":{"image":{"url":"x"}}}`,
		`{"labels":{"a":null}}`, `{"MANAGED_BY":"x","other":[1,2,{"a":null}]}`, `{"consumer":{"kind":1}}`, `{"applied":{"root_device_hints":{"size":">= 1"}}}`,
	} {
		f.Add(doc)
	}

	f.Fuzz(func(t *testing.T, doc string) {
		var v map[string]any
		if json.Unmarshal([]byte(doc), &v) != nil {
			return
		}

		j := host.ReadJournal(map[string]any{host.JournalKey: v})
		once := j.Value()
		twice := host.ReadJournal(map[string]any{host.JournalKey: once}).Value()

		if !reflect.DeepEqual(once, twice) {
			t.Errorf("%v became %v", once, twice)
		}

		if other, there := v["other"]; there && !reflect.DeepEqual(once["other"], other) {
			t.Errorf("a foreign key became %v", once["other"])
		}
	})
}
