// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package gpus holds the acceptance list of metal3_composable_gpu: the whole provider over its
// real clients, HTTP and SSH, against the lab's fabric managers and machines, in virtual time.
// The number of a subtest is the number of its sentence in that list; the tests whose names
// begin with TestOGPU are cases of the corpus.
package gpus
