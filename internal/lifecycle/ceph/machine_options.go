// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"slices"
	"strconv"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/conf"
)

// moduleOption reports whether a module of the manager owns an option: the monitors know it
// only once a manager told them of its modules.
func moduleOption(name string) bool { return strings.HasPrefix(name, "mgr/") }

// optionOf is what the store holds of an option.
func optionOf(have []api.Option, who, name string) (string, bool) {
	who = section(who)

	for _, o := range have {
		whose := o.Section
		if o.Mask != "" {
			whose += "/" + o.Mask
		}

		if section(whose) == who && conf.Key(o.Name) == name {
			return o.Value, true
		}
	}

	return "", false
}

// section is a section with the parts of its mask in one order: Ceph has one of its own.
func section(who string) string {
	parts := strings.Split(who, "/")
	slices.Sort(parts[1:])

	return strings.Join(parts, "/")
}

// sameValue compares what the store holds with what is configured. Ceph stores numbers where
// people write 4G, 10m, yes, or 5 for the level 5/5; which of two meanings a suffix has depends on
// the option's type, so either counts.
func sameValue(stored, wanted string) bool {
	stored, wanted = strings.TrimSpace(stored), strings.TrimSpace(wanted)

	switch {
	case stored == wanted, truth(stored) != "" && truth(stored) == truth(wanted):
		return true
	case stored == wanted+"/"+wanted: // a debug level for log and memory alike
		return true
	}

	x, err := strconv.ParseFloat(stored, 64)
	if err != nil {
		return false
	}

	return slices.Contains(numbers(wanted), x)
}

// numbers are all that a text may mean as a number.
func numbers(text string) []float64 {
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return []float64{x}
	}

	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")

	x, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return nil
	}

	suffix := strings.TrimSpace(text[len(digits):])
	out := times(x, suffix)

	return append(out, sizes(x, suffix)...)
}

// sizes reads K, Ki, KB and so on, both in steps of 1,024 and of 1,000.
func sizes(x float64, suffix string) []float64 {
	suffix = strings.TrimSuffix(strings.TrimSuffix(suffix, "B"), "b")
	binary := strings.HasSuffix(suffix, "i")
	suffix = strings.TrimSuffix(suffix, "i")

	if suffix == "" {
		return []float64{x}
	}

	n := strings.Index("KMGTPE", strings.ToUpper(suffix))
	if n < 0 || len(suffix) != 1 {
		return nil
	}

	iec, si := x, x
	for range n + 1 {
		iec, si = iec*1024, si*1000
	}

	if binary {
		return []float64{iec}
	}

	return []float64{iec, si}
}

// times reads durations, in seconds and, for options that count so, in milliseconds.
func times(x float64, suffix string) []float64 {
	seconds := map[string]float64{
		"s": 1, "sec": 1, "second": 1, "seconds": 1, "m": 60, "min": 60, "minute": 60, "minutes": 60, "h": 3600, "hr": 3600, "hour": 3600, "hours": 3600,
		"d": 86400, "day": 86400, "days": 86400, "w": 604800, "week": 604800, "weeks": 604800, "mo": 2592000, "month": 2592000, "months": 2592000,
		"y": 31536000, "year": 31536000, "years": 31536000,
	}

	per, ok := seconds[strings.ToLower(suffix)]
	if !ok {
		return nil
	}

	return []float64{x * per, x * per * 1000}
}

func truth(s string) string {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return "true"
	case "false", "no", "off", "0":
		return "false"
	default:
		return ""
	}
}
