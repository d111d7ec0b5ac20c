// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Pod is a Pod as far as a drain is about it.
type Pod struct {
	Namespace, Name, UID, Node, Phase string
	Labels, Annotations               map[string]string
	Owners                            []Owner
	Mirror                            bool // of a static Pod: the kubelet's own, it cannot be evicted
	Deleting                          bool
	Ready                             bool
	Tolerations                       []Toleration
	Limits                            map[string]string // of all containers together
	ResourceClaims                    []string          // names of ResourceClaims in its namespace
}

// Owner is what a Pod belongs to.
type Owner struct{ Kind, Name string }

// Toleration lets a Pod stay in spite of a taint.
type Toleration struct{ Key, Operator, Value, Effect string }

// Tolerates reports whether the toleration is for a taint.
func (t Toleration) Tolerates(taint Taint) bool {
	if (t.Effect != "" && t.Effect != taint.Effect) || (t.Key != "" && t.Key != taint.Key) {
		return false
	}

	switch t.Operator {
	case "Exists":
		return true
	case "", "Equal":
		return t.Key != "" && t.Value == taint.Value
	default:
		return false
	}
}

// PodsOn lists the Pods of a Node, in all namespaces.
func (c *Client) PodsOn(ctx context.Context, node string) ([]Pod, error) {
	pods, err := c.pods(ctx, "list the Pods of the Node "+node, "/api/v1/pods", url.Values{"fieldSelector": {"spec.nodeName=" + node}})

	// Somebody who does not honour the selector must not have the Pods of other Nodes evicted.
	return slices.DeleteFunc(pods, func(p Pod) bool { return p.Node != node }), err
}

// Pods lists the Pods of a namespace ("" means all) whose labels match a selector ("" means all).
func (c *Client) Pods(ctx context.Context, namespace, labelSelector string) ([]Pod, error) {
	path, op := "/api/v1/pods", "list the Pods"
	if namespace != "" {
		path, op = podsPath(namespace), "list the Pods of the namespace "+namespace
	}

	query := url.Values{}
	if labelSelector != "" {
		query.Set("labelSelector", labelSelector)
	}

	return c.pods(ctx, op, path, query)
}

func (c *Client) pods(ctx context.Context, op, path string, query url.Values) ([]Pod, error) {
	items, err := c.list(ctx, op, path, query)
	if err != nil {
		return nil, err
	}

	pods := make([]Pod, 0, len(items))
	for _, item := range items {
		pods = append(pods, podOf(item))
	}

	return pods, nil
}

func podsPath(namespace string) string {
	return "/api/v1/namespaces/" + segment(namespace) + "/pods"
}

// Evict asks the API server to end a Pod, as far as disruption budgets allow it; a [BlockedError]
// says that they do not, for now. A Pod that is not there is evicted. It never waits.
func (c *Client) Evict(ctx context.Context, namespace, name string) error {
	return c.EvictPod(ctx, Pod{Namespace: namespace, Name: name})
}

// EvictPod is [Client.Evict] for a Pod that was seen: a new one of the same name, which a
// StatefulSet makes on another Node, is left alone.
func (c *Client) EvictPod(ctx context.Context, pod Pod) error {
	options := object{}
	if pod.UID != "" {
		options["preconditions"] = object{"uid": pod.UID}
	}

	_, err := c.do(ctx, call{
		op:     "evict the Pod " + pod.Namespace + "/" + pod.Name,
		method: http.MethodPost,
		path:   podsPath(pod.Namespace) + "/" + segment(pod.Name) + "/eviction",
		body: object{
			"apiVersion": "policy/v1", "kind": "Eviction", "deleteOptions": options,
			"metadata": object{"name": pod.Name, "namespace": pod.Namespace},
		},
	})

	var refused *RequestError

	switch {
	case err == nil, errors.Is(err, ErrNotFound):
		return nil
	case !errors.As(err, &refused):
		return err
	case refused.Status == http.StatusConflict && pod.UID != "":
		return c.goneIfOther(ctx, pod, err)
	case blocked(refused):
		after := wait.RetryAfter(err)

		return wait.TransientAfter(&BlockedError{Namespace: pod.Namespace, Pod: pod.Name, Reason: budgets(refused), RetryAfter: after}, after)
	default:
		return err
	}
}

// goneIfOther finds out whether an eviction was refused because the name is another Pod's now.
func (c *Client) goneIfOther(ctx context.Context, pod Pod, refused error) error {
	o, err := c.object(ctx, call{op: "read the Pod " + pod.Namespace + "/" + pod.Name, method: http.MethodGet, path: podsPath(pod.Namespace) + "/" + segment(pod.Name)})

	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	case o.str("metadata", "uid") != pod.UID:
		return nil
	default:
		return refused
	}
}

// blocked tells a disruption budget's refusal from an overload, which has no words of a Status. A
// Pod with two budgets is refused with 500 for ever; the words alone tell it from a failure.
func blocked(e *RequestError) bool {
	switch e.Status {
	case http.StatusTooManyRequests:
		return e.Reason == "TooManyRequests"
	case http.StatusInternalServerError:
		return strings.Contains(e.Text, "more than one PodDisruptionBudget")
	default:
		return false
	}
}

// budgets are the words of a refused eviction. Only the causes name the disruption budget.
func budgets(e *RequestError) string {
	text := e.Text

	for _, cause := range e.Causes {
		if cause.Message != "" && !strings.Contains(text, cause.Message) {
			text += " " + cause.Message
		}
	}

	return text
}

// DeletePod deletes a Pod, whatever disruption budgets say. One that is not there is deleted.
func (c *Client) DeletePod(ctx context.Context, namespace, name string) error {
	return c.remove(ctx, "delete the Pod "+namespace+"/"+name, podsPath(namespace)+"/"+segment(name))
}

func podOf(o object) Pod {
	p := Pod{
		Namespace:   o.str("metadata", "namespace"),
		Name:        o.str("metadata", "name"),
		UID:         o.str("metadata", "uid"),
		Node:        o.str("spec", "nodeName"),
		Phase:       o.str("status", "phase"),
		Labels:      o.texts("metadata", "labels"),
		Annotations: o.texts("metadata", "annotations"),
		Deleting:    o.str("metadata", "deletionTimestamp") != "",
	}

	_, p.Mirror = p.Annotations["kubernetes.io/config.mirror"]

	for _, owner := range o.list("metadata", "ownerReferences") {
		p.Owners = append(p.Owners, Owner{owner.str("kind"), owner.str("name")})
	}

	for _, condition := range o.list("status", "conditions") {
		if condition.str("type") == "Ready" {
			p.Ready = condition.str("status") == "True"
		}
	}

	for _, t := range o.list("spec", "tolerations") {
		p.Tolerations = append(p.Tolerations, Toleration{t.str("key"), t.str("operator"), t.str("value"), t.str("effect")})
	}

	p.Limits = limitsOf(o)
	p.ResourceClaims = claimsOf(o)

	return p
}

// limitsOf adds up the limits of the containers that run side by side: init containers that are
// restarted always are among them.
func limitsOf(o object) map[string]string {
	sums := map[string]resource.Quantity{}

	add := func(container object) {
		for name, text := range container.texts("resources", "limits") {
			amount, err := resource.ParseQuantity(text)
			if err != nil {
				continue
			}

			sum := sums[name]
			sum.Add(amount)
			sums[name] = sum
		}
	}

	for _, container := range o.list("spec", "containers") {
		add(container)
	}

	for _, container := range o.list("spec", "initContainers") {
		if container.str("restartPolicy") == "Always" {
			add(container)
		}
	}

	limits := make(map[string]string, len(sums))
	for name, sum := range sums {
		limits[name] = sum.String()
	}

	return limits
}

// claimsOf names the claims of a Pod: those that were made for it have their name in its status.
func claimsOf(o object) []string {
	made := map[string]string{}
	for _, status := range o.list("status", "resourceClaimStatuses") {
		made[status.str("name")] = status.str("resourceClaimName")
	}

	var names []string

	for _, claim := range o.list("spec", "resourceClaims") {
		name := claim.str("resourceClaimName")
		if name == "" {
			name = made[claim.str("name")]
		}

		if name != "" {
			names = append(names, name)
		}
	}

	return names
}
