// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"slices"
	"strings"
)

// The reasons of conditions, with Rook's words.
const (
	ReasonCreated     = "ClusterCreated"
	ReasonConnected   = "ClusterConnected"
	ReasonProgressing = "ClusterProgressing"
	ReasonDeleting    = "ClusterDeleting"
	ReasonConnecting  = "ClusterConnecting"
	ReasonDependents  = "ObjectHasDependents"
)

// Messages of conditions, with Rook's words.
const (
	messageVersion    = "Detecting Ceph version"
	messageReady      = "Cluster created successfully"
	messageConnecting = "Attempting to connect to an external Ceph cluster"
	messageConnected  = "Cluster connected successfully"
	messageDeleting   = "Deleting the CephCluster"
)

// maxWords bounds the message of a condition: the whole error is in the diagnostics.
const maxWords = 1000

// say sets a condition. As with Rook, transient ones give way to each new one, and only what
// says that the cluster was created or connected, or is being deleted, stays.
func (w *worker) say(kind, status, reason, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if len(message) > maxWords {
		message = strings.ToValidUTF8(message[:maxWords], "") + "…"
	}

	w.said = slices.DeleteFunc(w.said, func(c Condition) bool {
		stays := c.Reason == ReasonCreated || c.Reason == ReasonConnected || c.Type == PhaseDeleting || c.Type == PhaseBlocked

		return !stays && c.Type != kind
	})

	for i, c := range w.said {
		if c.Type != kind {
			continue
		}

		if c.Status != status {
			w.said[i].LastTransition = w.now()
		}

		w.said[i].Status, w.said[i].Reason, w.said[i].Message = status, reason, message

		return
	}

	w.said = append(w.said, Condition{kind, status, reason, message, w.now()})
}

// sayReady ends what was said of a deletion, too: one that was cut short, or blocked, is over
// when somebody wants the cluster.
func (w *worker) sayReady() {
	w.mu.Lock()
	w.said = slices.DeleteFunc(w.said, func(c Condition) bool { return c.Type == PhaseDeleting || c.Type == PhaseBlocked })
	w.mu.Unlock()

	if w.External != nil {
		w.say(PhaseConnected, "True", ReasonConnected, messageConnected)
	} else {
		w.say(PhaseReady, "True", ReasonCreated, messageReady)
	}
}

func (w *worker) progress(step Step) {
	if step.Message != "" {
		w.say(PhaseProgressing, "True", ReasonProgressing, step.Message)
	}
}
