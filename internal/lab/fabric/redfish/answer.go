// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

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
	body   obj           // nil: none
	wait   time.Duration // before it is sent
}

func (a answer) send(w http.ResponseWriter) {
	if a.body == nil {
		odata.Send(w, a.code, a.header, nil) // a nil map is not nothing

		return
	}

	odata.Send(w, a.code, a.header, a.body)
}

func noContent() answer { return answer{code: http.StatusNoContent} }

// failure is an error in the shape that Redfish prescribes. An id without a registry is one
// of the base registry.
func failure(code int, id, text string) answer {
	if !strings.Contains(id, ".") {
		id = "Base.1.18." + id
	}

	return answer{code: code, body: obj{"error": obj{
		"code": id, "message": text,
		"@Message.ExtendedInfo": list{obj{
			"MessageId": id, "Message": text, "MessageSeverity": "Critical", "Resolution": "None", "MessageArgs": list{},
		}},
	}}}
}

func notFound(path string) answer {
	return failure(http.StatusNotFound, "ResourceMissingAtURI", "the resource at the URI "+path+" was not found")
}

func bad(id, text string) answer { return failure(http.StatusBadRequest, id, text) }

// tag is the ETag of a document.
func tag(doc obj) string {
	raw, err := json.Marshal(doc) // in the order of the keys
	if err != nil {
		return `"0"`
	}

	sum := sha256.Sum256(raw)

	return `"` + hex.EncodeToString(sum[:6]) + `"`
}

func ref(path string) obj { return obj{"@odata.id": path} }

func refs(paths []string) list {
	l := make(list, 0, len(paths))
	for _, p := range paths {
		l = append(l, ref(p))
	}

	return l
}

// collection lists resources. Its type is one of the schemas without a version.
func collection(path, kind string, members []string) obj {
	return obj{
		"@odata.id": path, "@odata.type": "#" + kind + "." + kind, "Name": kind,
		"Members": refs(members), "Members@odata.count": len(members),
	}
}

// entity is the head of every resource, joined with what is special about it.
func entity(path, typ, id, name string, more obj) obj {
	more["@odata.id"], more["@odata.type"] = path, "#"+typ
	more["Id"], more["Name"] = id, name

	return more
}

func action(target string) obj { return obj{"target": target} }
