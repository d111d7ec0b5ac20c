// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kubetest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// valid refuses what a real one refuses. Before is nil for a new object.
func valid(plural string, before, o object) *problem {
	c := &checker{}
	meta := sub(o, "metadata")
	name, _ := meta["name"].(string)

	if name == "" {
		c.add("metadata.name", "FieldValueRequired", "name or generateName is required")
	}

	for _, message := range validation.IsDNS1123Subdomain(name) {
		c.add("metadata.name", "FieldValueInvalid", message)
	}

	c.labels(meta)

	switch plural {
	case "nodes":
		c.node(before, o)
	case "secrets":
		if p := c.secret(before, o); p != nil {
			return p
		}
	case "pods":
		if containers, _ := sub(o, "spec")["containers"].([]any); len(containers) == 0 {
			c.add("spec.containers", "FieldValueRequired", "Required value")
		}
	}

	if len(c.causes) == 0 {
		return nil
	}

	texts := make([]string, 0, len(c.causes))
	for _, cause := range c.causes {
		texts = append(texts, cause.Field+": "+cause.Message)
	}

	return &problem{
		code: http.StatusUnprocessableEntity, kind: kinds[plural].name, name: name, causes: c.causes,
		message: fmt.Sprintf("%s %q is invalid: %s", kinds[plural].name, name, strings.Join(texts, ", ")),
	}
}

type checker struct{ causes []cause }

func (c *checker) add(field, reason, message string) {
	c.causes = append(c.causes, cause{reason, message, field})
}

func (c *checker) labels(meta object) {
	for _, field := range ownedFields {
		entries, _ := meta[field].(object)
		for key, value := range entries {
			for _, message := range validation.IsQualifiedName(strings.ToLower(key)) {
				c.add("metadata."+field, "FieldValueInvalid", fmt.Sprintf("Invalid value: %q: %s", key, message))
			}

			text, ok := value.(string)
			if !ok {
				c.add("metadata."+field, "FieldValueInvalid", "not a string")
			}

			if field == "annotations" {
				continue
			}

			for _, message := range validation.IsValidLabelValue(text) {
				c.add("metadata."+field, "FieldValueInvalid", fmt.Sprintf("Invalid value: %q: %s", text, message))
			}
		}
	}
}

func (c *checker) node(before, o object) {
	spec := sub(o, "spec")

	if before != nil {
		was, is := sub(before, "spec")["providerID"], spec["providerID"]
		if was != nil && was != "" && was != is {
			c.add("spec.providerID", "FieldValueForbidden", "Forbidden: may not be changed, except from \"\" to valid value")
		}
	}

	taints, _ := spec["taints"].([]any)
	seen := []string{}

	for i, item := range taints {
		taint, _ := item.(object)
		key, _ := taint["key"].(string)
		effect, _ := taint["effect"].(string)
		value, _ := taint["value"].(string)
		field := fmt.Sprintf("spec.taints[%d]", i)

		for _, message := range validation.IsQualifiedName(key) {
			c.add(field+".key", "FieldValueInvalid", message)
		}

		for _, message := range validation.IsValidLabelValue(value) {
			c.add(field+".value", "FieldValueInvalid", message)
		}

		if !slices.Contains([]string{"NoSchedule", "PreferNoSchedule", "NoExecute"}, effect) {
			c.add(field+".effect", "FieldValueNotSupported", fmt.Sprintf("Unsupported value: %q", effect))
		}

		if slices.Contains(seen, key+":"+effect) {
			c.add(field, "FieldValueDuplicate", fmt.Sprintf("Duplicate value: %s:%s", key, effect))
		}

		seen = append(seen, key+":"+effect)
	}
}

func (c *checker) secret(before, o object) *problem {
	data, _ := o["data"].(object)
	for key, value := range data {
		text, ok := value.(string)
		if _, err := base64.StdEncoding.DecodeString(text); err != nil || !ok {
			return &problem{code: http.StatusBadRequest, message: fmt.Sprintf("Secret in version \"v1\" cannot be handled as a Secret: illegal base64 data in %s", key)}
		}
	}

	if before != nil && before["type"] != o["type"] {
		c.add("type", "FieldValueInvalid", "field is immutable")
	}

	return nil
}

func addTaint(node, taint object) {
	spec := sub(node, "spec")
	taints, _ := spec["taints"].([]any)

	for _, item := range taints {
		if had, _ := item.(object); had["key"] == taint["key"] && had["effect"] == taint["effect"] {
			return
		}
	}

	spec["taints"] = append(taints, taint)
}

func dropTaints(node object, keys ...string) {
	spec := sub(node, "spec")
	taints, _ := spec["taints"].([]any)
	taints = slices.DeleteFunc(slices.Clone(taints), func(item any) bool {
		taint, _ := item.(object)
		key, _ := taint["key"].(string)

		return slices.Contains(keys, key)
	})

	if len(taints) == 0 {
		delete(spec, "taints")
	} else {
		spec["taints"] = taints
	}
}
