// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"net/http"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/odata"
)

type (
	obj  = map[string]any
	list = []any
)

// answer is what goes back when the transaction is committed.
type answer struct {
	code   int
	header http.Header
	body   any // nil: none
}

func (a answer) send(w http.ResponseWriter) { odata.Send(w, a.code, a.header, a.body) }

func noContent() answer { return answer{code: http.StatusNoContent} }

// failure is an error in the shape that Redfish prescribes.
func failure(code int, id, text string) answer {
	id = "Base.1.8." + id

	return answer{code: code, body: obj{"error": obj{
		"code": id, "message": text,
		"@Message.ExtendedInfo": list{obj{
			"MessageId": id, "Message": text, "Severity": "Critical", "Resolution": "None", "MessageArgs": list{},
		}},
	}}}
}

func bad(id, text string) answer { return failure(http.StatusBadRequest, id, text) }

func ref(path string) obj { return obj{"@odata.id": path} }

func refs(paths ...string) list {
	l := make(list, 0, len(paths))
	for _, p := range paths {
		l = append(l, ref(p))
	}

	return l
}

// entity is the head of every resource, joined with what is special about it.
func entity(path, typ, id, name string, more obj) obj {
	more["@odata.id"], more["@odata.type"] = path, "#"+typ
	more["Id"], more["Name"] = id, name

	return more
}

func collection(path, kind string, members ...string) obj {
	typ := kind + "Collection"

	return obj{
		"@odata.id": path, "@odata.type": "#" + typ + "." + typ, "Name": typ,
		"Members": refs(members...), "Members@odata.count": len(members),
	}
}

func healthy() obj { return obj{"State": "Enabled", "Health": "OK", "HealthRollup": "OK"} }

func action(target string, more obj) obj {
	if more == nil {
		more = obj{}
	}

	more["target"] = target

	return more
}

// text is a string of a body; anything else is empty.
func text(o obj, key string) string {
	s, _ := o[key].(string)

	return s
}
