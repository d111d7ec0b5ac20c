// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
)

var traitPattern = regexp.MustCompile(`^CUSTOM_[A-Z0-9_]+$`)

// standardTrait lets through what os-traits would know, by its prefixes.
func standardTrait(t string) bool {
	return slices.ContainsFunc([]string{"HW_", "COMPUTE_", "STORAGE_", "MISC_", "OWNER_"}, func(p string) bool {
		return strings.HasPrefix(t, p)
	})
}

func checkTrait(t string) error {
	if !traitPattern.MatchString(t) && !standardTrait(t) {
		return fault.Invalid("Schema error for body: '%s' is not valid under any of the given schemas. Possible root cause: "+
			"'%s' does not match '^CUSTOM_[A-Z0-9_]+$'", t, t)
	}

	return nil
}

func listTraits(c *api.Call) (api.Answer, error) {
	n, err := c.Target(0)
	if err != nil {
		return api.Answer{}, err
	}

	return api.OK(map[string]any{"traits": api.NonNil(n.Traits)}), nil
}

// changeTraits is every request that changes traits.
func changeTraits(c *api.Call, location string, f func([]string) ([]string, error)) (api.Answer, error) {
	n, err := c.Locked(37)
	if err != nil {
		return api.Answer{}, err
	}

	traits, err := f(n.Traits)
	if err != nil {
		return api.Answer{}, err
	}

	slices.Sort(traits)
	n.Traits, n.UpdatedAt = slices.Compact(traits), c.Now

	return api.Answer{Status: http.StatusNoContent, Location: location}, c.SaveNode(n)
}

func setTraits(c *api.Call) (api.Answer, error) {
	var body struct{ Traits []string }
	if err := json.Unmarshal(c.Body, &body); err != nil {
		return api.Answer{}, fault.Invalid("Schema error for body: %s", err)
	}

	return changeTraits(c, "", func([]string) ([]string, error) {
		for _, t := range body.Traits {
			if err := checkTrait(t); err != nil {
				return nil, err
			}
		}

		return body.Traits, nil
	})
}

func clearTraits(c *api.Call) (api.Answer, error) {
	return changeTraits(c, "", func([]string) ([]string, error) { return nil, nil })
}

func addTrait(c *api.Call) (api.Answer, error) {
	t := c.R.PathValue("trait")

	return changeTraits(c, "nodes/"+c.R.PathValue("node")+"/traits/"+t, func(old []string) ([]string, error) {
		return append(slices.Clone(old), t), checkTrait(t)
	})
}

func removeTrait(c *api.Call) (api.Answer, error) {
	t := c.R.PathValue("trait")

	return changeTraits(c, "", func(old []string) ([]string, error) {
		if !slices.Contains(old, t) {
			return nil, fault.Refuse(http.StatusNotFound, "Node %s doesn't have a trait '%s'", c.R.PathValue("node"), t)
		}

		return slices.DeleteFunc(slices.Clone(old), func(x string) bool { return x == t }), nil
	})
}
