// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

// Decode reads an answer in all the ways of the package, for its fuzz test.
func Decode(body []byte) {
	o, _ := parse(body)
	_, _, _ = nodeOf(o), podOf(o), sliceOf(o, "")
	_, _ = statusIn(body)
	_ = causesIn(o)

	for _, item := range o.list("items") {
		_, _, _ = nodeOf(item), podOf(item), sliceOf(item, item.str("spec", "nodeName"))
	}
}
