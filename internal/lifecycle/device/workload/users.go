// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
)

// gpuResource is what a device plug-in calls GPUs; parts and shared ones have names beside it.
const gpuResource = "nvidia.com/gpu"

// shown is how many names an error lists.
const shown = 10

// InUseError says which pods use a GPU that was to be taken away. It is [ErrInUse]. Nothing was
// changed, or what was changed was put back; else it comes with [ErrNotUndone].
type InUseError struct {
	GPU, Node string
	Users     []string
	Counted   bool // the API does not tell which pod has which GPU
}

// Error implements error.
func (e *InUseError) Error() string {
	users := e.Users
	if more := len(users) - shown; more > 0 {
		users = append(slices.Clone(users[:shown]), fmt.Sprintf("and %d more", more))
	}

	if e.Counted {
		return fmt.Sprintf("pods of node %s have GPUs, and a device plug-in does not tell which pod has GPU %s: %s", e.Node, e.GPU, strings.Join(users, ", "))
	}

	return fmt.Sprintf("GPU %s of node %s is in use by %s", e.GPU, e.Node, strings.Join(users, ", "))
}

// Unwrap returns [ErrInUse].
func (e *InUseError) Unwrap() error { return ErrInUse }

// holders are those who were given one of some devices. A claim that no pod uses any more is one
// until it is given back.
func holders(claims []kube.ResourceClaim, of func(kube.ClaimedDevice) bool) []string {
	var out []string

	for _, c := range claims {
		if !slices.ContainsFunc(c.Devices, func(d kube.ClaimedDevice) bool { return !d.Admin && of(d) }) {
			continue
		}

		claim := "ResourceClaim " + c.Namespace + "/" + c.Name
		if len(c.Pods) == 0 {
			out = append(out, claim)
		}

		for _, pod := range c.Pods {
			out = append(out, fmt.Sprintf("pod %s/%s (%s)", c.Namespace, pod, claim))
		}
	}

	slices.Sort(out)

	return out
}

// among reports whether a claim was given one of some devices.
func among(found []offered) func(kube.ClaimedDevice) bool {
	return func(d kube.ClaimedDevice) bool {
		return slices.ContainsFunc(found, func(o offered) bool { return o.is(d) })
	}
}

// takers are the pods of a node that a device plug-in gave GPUs or parts of them, and how many
// whole GPUs that is; exact is false where that is not told in whole GPUs.
func takers(pods []kube.Pod) (names []string, gpus int64, exact bool) {
	exact = true

	for _, p := range pods {
		if p.Phase == "Succeeded" || p.Phase == "Failed" {
			continue
		}

		takes := false

		for resource, amount := range p.Limits {
			n, whole := quantity(amount)

			switch {
			case whole && n == 0:
			case resource == gpuResource:
				takes, gpus, exact = true, gpus+n, exact && whole
			case strings.HasPrefix(resource, gpuResource+".") || strings.HasPrefix(resource, "nvidia.com/mig-"):
				takes, exact = true, false
			}
		}

		if takes {
			names = append(names, "pod "+p.Namespace+"/"+p.Name)
		}
	}

	slices.Sort(names)

	return names, gpus, exact
}

// quantity reads a number of devices; they are whole.
func quantity(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)

	return n, err == nil && n >= 0
}
