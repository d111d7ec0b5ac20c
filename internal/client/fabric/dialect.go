// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"regexp"
	"slices"
	"strings"
)

// Dialect is how a kind of manager says that it has no such machine or device. It decides
// what a state loses, so only the manager's own words count: 404 is also what every router,
// gateway and framework says of a path that it does not know, in JSON too.
type Dialect int

// The dialects.
const (
	FTI     Dialect = iota // FM and CM, and the mocks of them that are in public
	CDIM                   // NEC's
	Redfish                // DMTF's
)

var (
	// The mocks say {"error":"machine not found"}, or {"error":"not_found","message":"no such machine"}.
	missingThing = regexp.MustCompile(`(?i)^(the )?(machine|device)( \S+)? (was |is )?not found\.?$|^no such (machine|device)( \S+)?\.?$`)

	// CDIM's codes: E404001, E40404.
	cdimCode = regexp.MustCompile(`^E\d{4,}$`)

	// An id of a message registry: Base.1.8.ResourceMissingAtURI.
	registryID = regexp.MustCompile(`^\w+(\.\d+)+\.\w+$`)
)

// missingIDs are the messages of Redfish for what is not there. The first is of the standard
// registry; the others are of older ones, and of services that say it of what a body names.
var missingIDs = []string{"ResourceMissingAtURI", "ResourceNotFound", "ResourceMissing"}

// lacks reports whether an answer 404 says, in one of the dialects, that there is no such
// machine or device; without dialects all count.
func (s said) lacks(dialects []Dialect) bool {
	return s.ours && slices.ContainsFunc([]Dialect{FTI, CDIM, Redfish}, func(d Dialect) bool {
		return (len(dialects) == 0 || slices.Contains(dialects, d)) && d.lacks(s)
	})
}

func (d Dialect) lacks(s said) bool {
	switch d {
	case FTI:
		return s.form == formFTI && s.status && s.code != "" || s.form == formShort && missingThing.MatchString(s.text)
	case CDIM:
		return s.form == formPlain && s.text != "" && cdimCode.MatchString(s.code)
	case Redfish:
		return s.form == formRedfish && slices.ContainsFunc(s.ids, func(id string) bool {
			return registryID.MatchString(id) && slices.Contains(missingIDs, id[strings.LastIndex(id, ".")+1:])
		})
	default:
		return false
	}
}
