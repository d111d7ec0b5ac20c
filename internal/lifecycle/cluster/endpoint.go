// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// defaultAPITimeout is how long a machine may take from its deployment to an API server that is ready.
const defaultAPITimeout = 30 * time.Minute

// slow is the rhythm in which a machine that boots is asked.
var slow = wait.Cadence{First: 500 * time.Millisecond, Factor: 1.5, Max: 5 * time.Second, Jitter: 0.1}

// Address is the endpoint as it is dialled.
func (e Endpoint) Address() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// awaitEndpoint waits until the cluster's endpoint is as far as the apply waits.
func (w *worker) awaitEndpoint(ctx context.Context) error {
	level := w.Wanted.Wait.Level
	if !level.reaches(LevelReachable) {
		return nil
	}

	limit := cmp.Or(w.Wanted.Wait.APITimeout, defaultAPITimeout)

	w.log(ctx, "waiting for the endpoint "+w.Wanted.Endpoint.Address())

	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	err := wait.Until(bounded, slow, func(ctx context.Context) (wait.Verdict, string, error) {
		if !level.reaches(LevelAPI) || !w.reachable() {
			return w.knock(ctx)
		}

		return w.askReady(ctx)
	})
	if err != nil {
		return fmt.Errorf("the endpoint %s: %w. Nothing here makes the endpoint: see that the address is on a machine of the control plane (kube-vip, keepalived) or on a load balancer in front of them",
			w.Wanted.Endpoint.Address(), err)
	}

	return nil
}

// knock opens a connection and closes it again.
func (w *worker) knock(ctx context.Context) (wait.Verdict, string, error) {
	const patience = 5 * time.Second

	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	dial := w.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}

	conn, err := dial(ctx, "tcp", w.Wanted.Endpoint.Address())
	if err != nil {
		return wait.Again, "it takes no connections: " + err.Error(), nil
	}

	_ = conn.Close()

	return wait.Done, "", nil
}

// askReady asks the API server behind the endpoint. One that shows the certificate of another CA is
// another cluster's, and no time mends that.
func (w *worker) askReady(ctx context.Context) (wait.Verdict, string, error) {
	api, err := w.connect(ctx)
	if err != nil {
		return wait.Again, err.Error(), nil //nolint:nilerr // a kubeconfig that only a running machine has
	}

	err = api.Ready(ctx)

	var foreign *kube.ForeignCAError

	switch {
	case err == nil:
		w.mu.Lock()
		w.api = nodes.NewHub(api)
		w.mu.Unlock()

		return wait.Done, "", nil
	case errors.As(err, &foreign):
		return wait.Again, "", err
	default:
		return wait.Again, "its API server is not ready: " + err.Error(), nil
	}
}

// workload is the cluster's own API, once it answers.
func (w *worker) workload(ctx context.Context) (nodes.Workload, error) {
	w.mu.Lock()
	api := w.api
	w.mu.Unlock()

	if api != nil {
		return api, nil
	}

	api, err := w.connect(ctx)
	if err != nil {
		return nil, err
	}

	w.mu.Lock()
	defer w.mu.Unlock()

	if w.api == nil {
		w.api = nodes.NewHub(api) // machines that wait share their looks
	}

	return w.api, nil
}
