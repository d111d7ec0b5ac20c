// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// VolumeAttachment is a volume that is, or is to be, attached to a Node.
type VolumeAttachment struct {
	Name, Node string
	Attached   bool
}

// VolumeAttachments lists all attachments of volumes.
func (c *Client) VolumeAttachments(ctx context.Context) ([]VolumeAttachment, error) {
	items, err := c.list(ctx, "list the VolumeAttachments", "/apis/storage.k8s.io/v1/volumeattachments", nil)
	if err != nil {
		return nil, err
	}

	attachments := make([]VolumeAttachment, 0, len(items))
	for _, o := range items {
		attachments = append(attachments, VolumeAttachment{o.str("metadata", "name"), o.str("spec", "nodeName"), o.truth("status", "attached")})
	}

	return attachments, nil
}

// ConfigMap reads the data of a ConfigMap.
func (c *Client) ConfigMap(ctx context.Context, namespace, name string) (map[string]string, error) {
	o, err := c.object(ctx, call{
		op:     "read the ConfigMap " + namespace + "/" + name,
		method: http.MethodGet,
		path:   "/api/v1/namespaces/" + segment(namespace) + "/configmaps/" + segment(name),
	})
	if err != nil {
		return nil, err
	}

	return o.texts("data"), nil
}

// Token is a bootstrap token, with which a machine joins.
type Token struct {
	ID          string // six characters
	Secret      string // sixteen characters
	Description string
}

// String is the token without its secret.
func (t Token) String() string { return t.ID + ".***" }

// GoString is String, so that no verb of fmt prints the secret.
func (t Token) GoString() string { return t.String() }

const tokensPath = "/api/v1/namespaces/kube-system/secrets" //nolint:gosec // a path, not a secret

func tokenName(id string) string { return "bootstrap-token-" + id }

// EnsureToken makes a bootstrap token, or prolongs the one that is there.
func (c *Client) EnsureToken(ctx context.Context, token Token, expires time.Time) error {
	data := object{}

	for key, value := range map[string]string{
		"token-id":                       token.ID,
		"token-secret":                   token.Secret,
		"description":                    token.Description,
		"expiration":                     expires.UTC().Format(time.RFC3339),
		"usage-bootstrap-signing":        "true",
		"usage-bootstrap-authentication": "true",
		"auth-extra-groups":              "system:bootstrappers:kubeadm:default-node-token",
	} {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}

	k := call{
		op:      "make the bootstrap token " + token.ID,
		method:  http.MethodPost,
		path:    tokensPath,
		query:   url.Values{"fieldManager": {Manager}},
		passing: []string{token.Secret},
		body: object{
			"apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token", "data": data,
			"metadata": object{"name": tokenName(token.ID), "namespace": "kube-system"},
		},
	}

	_, err := c.do(ctx, k)
	if !errors.Is(err, ErrConflict) {
		return err
	}

	// A merge patch, so that it has no version to be late with.
	k.op, k.method, k.path, k.kind = "prolong the bootstrap token "+token.ID, http.MethodPatch, tokensPath+"/"+tokenName(token.ID), mergePatch
	k.body = object{"data": data}

	_, err = c.do(ctx, k)

	return err
}

// DeleteToken deletes a bootstrap token. One that is not there is deleted.
func (c *Client) DeleteToken(ctx context.Context, id string) error {
	return c.remove(ctx, "delete the bootstrap token "+id, tokensPath+"/"+tokenName(id))
}
