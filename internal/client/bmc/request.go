// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/stmcginnis/gofish"
)

// answer is a success of the BMC.
type answer struct {
	status int
	header http.Header
	doc    document
}

// request is what is asked of the BMC.
type request struct {
	op      string // for errors: "read the system …"
	method  string
	path    string
	payload any
	header  map[string]string
}

// do sends a request once. A session that the BMC no longer takes is renewed once: the
// answer 401 says that nothing was done.
func (c *Client) do(ctx context.Context, r request) (answer, error) {
	for renewed := false; ; renewed = true {
		cred, err := c.credential(ctx)
		if err != nil {
			return answer{}, err
		}

		ctx := withCredential(ctx, cred)

		api, err := c.connect(ctx)
		if err != nil {
			return answer{}, err
		}

		response, err := send(api, r)
		if err == nil {
			return read(response)
		}

		err = c.sort(ctx, r.op, err)

		var failed *RequestError
		if renewed || cred.token == "" || !errors.As(err, &failed) || failed.Status != http.StatusUnauthorized {
			return answer{}, err
		}

		c.forget(cred)
		c.logout(ctx, cred) // where 401 meant something else, the session is still open
	}
}

func send(api *gofish.APIClient, r request) (*http.Response, error) {
	switch r.method {
	case http.MethodPost:
		return api.PostWithHeaders(r.path, r.payload, r.header)
	case http.MethodPatch:
		return api.PatchWithHeaders(r.path, r.payload, r.header)
	default:
		return api.GetWithHeaders(r.path, r.header)
	}
}

// read takes the answer over. A body that is no object is an empty one: many answers have
// none, and what is missing from a document is the reader's business.
func read(response *http.Response) (answer, error) {
	defer response.Body.Close() // it is in memory: nothing can go wrong

	a := answer{status: response.StatusCode, header: response.Header}

	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return a, fmt.Errorf("read the answer: %w", err)
	}

	if json.Unmarshal(raw, &a.doc) != nil {
		a.doc = nil
	}

	return a, nil
}

// get reads a resource.
func (c *Client) get(ctx context.Context, what, path string) (answer, error) {
	a, err := c.do(ctx, request{op: "read " + what + " " + path, method: http.MethodGet, path: path})
	if err == nil && a.status == http.StatusOK && a.doc == nil {
		return a, &RequestError{Op: "read " + what + " " + path, Text: "the answer is no JSON object"}
	}

	return a, err
}

// document is a JSON object of a BMC. Its readers take what fits and pass over the rest.
type document map[string]any

func (d document) text(key string) string {
	s, _ := d[key].(string)

	return strings.TrimSpace(s)
}

func (d document) object(key string) document {
	m, _ := d[key].(map[string]any)

	return m
}

// link returns the path of another resource.
func (d document) link(key string) string { return local(d.object(key).text("@odata.id")) }

// objects returns the objects of a list.
func (d document) objects(key string) []document {
	list, _ := d[key].([]any)

	var found []document

	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			found = append(found, m)
		}
	}

	return found
}

func (d document) texts(key string) []string {
	list, _ := d[key].([]any)

	var found []string

	for _, v := range list {
		if s, ok := v.(string); ok {
			found = append(found, s)
		}
	}

	return found
}

// local returns path and query of a reference. Where a BMC names a host, it is its own
// idea of its name: the credentials go nowhere but to the configured address.
func local(reference string) string {
	u, err := url.Parse(reference)
	if err != nil || u.Path == "" {
		return ""
	}

	return u.RequestURI()
}
