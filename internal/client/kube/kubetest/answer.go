// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kubetest

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// problem is a refusal.
type problem struct {
	code    int
	reason  string
	message string
	causes  []cause
	after   int // seconds
	kind    string
	name    string
}

type cause struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Field   string `json:"field,omitempty"`
}

func (p *problem) Error() string { return p.message }

// refuse answers with a Status.
func refuse(w http.ResponseWriter, p problem) {
	if p.reason == "" {
		p.reason = map[int]string{
			400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 405: "MethodNotAllowed", 409: "Conflict", 410: "Expired",
			415: "UnsupportedMediaType", 422: "Invalid", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout",
		}[p.code]
	}

	details := object{"name": p.name, "kind": p.kind, "causes": p.causes}
	if p.after > 0 {
		details["retryAfterSeconds"] = p.after
		w.Header().Set("Retry-After", fmt.Sprint(p.after))
	}

	send(w, p.code, object{
		"kind": "Status", "apiVersion": "v1", "metadata": object{}, "status": "Failure",
		"message": p.message, "reason": p.reason, "details": details, "code": p.code,
	})
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// user says who asks; known is false for credentials that are not accepted.
func (s *Server) user(r *http.Request) (name string, known bool) {
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		roots := x509.NewCertPool()
		roots.AddCert(s.ca.cert)

		shown := r.TLS.PeerCertificates[0]
		if _, err := shown.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, CurrentTime: time.Now()}); err != nil {
			return "", false
		}

		for _, group := range shown.Subject.Organization {
			if group == "system:masters" || group == "kubeadm:cluster-admins" {
				return admin, true
			}
		}

		return shown.Subject.CommonName, true
	}

	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return anonymous, true
	}

	return s.userOf(token)
}

const (
	admin     = "kubernetes-admin"
	anonymous = "system:anonymous"
)

// AdminToken is a bearer token of an administrator.
const AdminToken = "admin-token-of-the-test"

// userOf looks a bearer token up: the administrator's, or a bootstrap token that has not expired.
func (s *Server) userOf(token string) (string, bool) {
	if token == AdminToken {
		return admin, true
	}

	id, secret, ok := strings.Cut(token, ".")
	data := s.Token(id)

	if !ok || data == nil || data["token-secret"] != secret || data["usage-bootstrap-authentication"] != "true" {
		return "", false
	}

	if end, err := time.Parse(time.RFC3339, data["expiration"]); err != nil || !time.Now().Before(end) {
		return "", false
	}

	return "system:bootstrap:" + id, true
}

// serve answers a request that has no fault.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte, user string, known bool) {
	if s.open(w, r) {
		return
	}

	switch {
	case !known:
		refuse(w, problem{code: http.StatusUnauthorized, message: "Unauthorized"})

		return
	case user != admin:
		refuse(w, problem{code: http.StatusForbidden, message: fmt.Sprintf("%s %s is forbidden: User %q cannot do that", r.Method, r.URL.Path, user)})

		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	if s.kinds(w, r) {
		return
	}

	t, ok := s.target(r.URL.Path)
	if !ok {
		w.WriteHeader(http.StatusNotFound) // as a real one answers an unknown path: without a Status
		_, _ = io.WriteString(w, "404 page not found\n")

		return
	}

	status, answer, p := s.act(r, t, body)
	if p != nil {
		refuse(w, *p)

		return
	}

	send(w, status, answer)
}

// open answers what needs no credentials.
func (s *Server) open(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	switch r.URL.Path {
	case "/version":
		send(w, http.StatusOK, object{"major": s.version[0], "minor": s.version[1], "gitVersion": s.version[2], "platform": "linux/amd64"})
	case "/readyz", "/livez", "/healthz":
		if s.ready != "" && r.URL.Path != "/livez" {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "[+]ping ok\n[-]"+s.ready+" failed: reason withheld\nreadyz check failed\n")

			return true
		}

		_, _ = io.WriteString(w, "ok")
	default:
		return false
	}

	return true
}

// kinds answers which versions and kinds of resource.k8s.io are served.
func (s *Server) kinds(w http.ResponseWriter, r *http.Request) bool {
	rest, ok := strings.CutPrefix(r.URL.Path, "/apis/resource.k8s.io")
	if !ok || len(s.devices) == 0 || strings.Count(rest, "/") > 1 {
		return false
	}

	byVersion := map[string][]object{}
	for kind, version := range s.devices {
		byVersion[version] = append(byVersion[version], object{"name": kind})
	}

	if rest == "" {
		var versions []object

		for _, version := range []string{"v1", "v1beta2", "v1beta1", "v1alpha3"} {
			if len(byVersion[version]) > 0 {
				versions = append(versions, object{"groupVersion": "resource.k8s.io/" + version, "version": version})
			}
		}

		send(w, http.StatusOK, object{"kind": "APIGroup", "apiVersion": "v1", "name": "resource.k8s.io", "versions": versions})

		return true
	}

	resources := byVersion[strings.TrimPrefix(rest, "/")]
	if resources == nil {
		return false
	}

	send(w, http.StatusOK, object{"kind": "APIResourceList", "groupVersion": "resource.k8s.io" + rest, "resources": resources})

	return true
}

// Token returns the data of a bootstrap token, nil where there is none.
func (s *Server) Token(id string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()

	secret, ok := s.objects["secrets"]["kube-system/bootstrap-token-"+id]
	if !ok || secret["type"] != "bootstrap.kubernetes.io/token" {
		return nil
	}

	data := map[string]string{}

	coded, _ := secret["data"].(object)
	for key, value := range coded {
		text, _ := value.(string)
		plain, _ := base64.StdEncoding.DecodeString(text)
		data[key] = string(plain)
	}

	return data
}
