// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kubetest

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Server is an API server with a memory. Its methods may be called at any time.
type Server struct {
	t    testing.TB
	opts options

	mu      sync.Mutex
	now     func() time.Time
	version [3]string
	devices map[string]string // version by kind of resource.k8s.io
	rev     int
	objects map[string]map[string]object // by kind, then by namespace/name
	owners  map[string]owned             // field managers, by kind/namespace/name
	blocks  map[string]*block            // by namespace/name of a Pod
	linger  map[string]int               // how often a Pod that is being deleted is still shown
	ready   string                       // what /readyz says is missing; "" means ready
	faults  []*fault
	log     []Request

	ca      *authority
	serving *tls.Certificate
	server  *http.Server
	address string
	pipes   *pipes
}

// object is what the API server keeps: JSON.
type object = map[string]any

type options struct {
	address  string
	ca       *authority
	inMemory bool
	names    []string
	err      error
}

// Option changes how a Server is made.
type Option func(*options)

// WithCA has the server use an authority that is given as PEM, as a control plane does that
// finds one on its disk.
func WithCA(cert, key []byte) Option {
	return func(o *options) { o.ca, o.err = authorityOf(cert, key) }
}

// WithAddress has the server listen on a given address; otherwise it is one of 127.0.0.1.
func WithAddress(address string) Option { return func(o *options) { o.address = address } }

// WithNames adds names and addresses to the server's certificate.
func WithNames(names ...string) Option {
	return func(o *options) { o.names = append(o.names, names...) }
}

// InMemory has the server answer on pipes, reached by [Server.Dial]: so it works in a bubble of synctest.
func InMemory() Option { return func(o *options) { o.inMemory = true } }

// New starts a server that ends with the test. It has the namespaces and the version of a new
// cluster, and no Node.
func New(tb testing.TB, opts ...Option) *Server {
	tb.Helper()

	s := &Server{
		t: tb, now: time.Now, version: [3]string{"1", "37", "v1.37.2"},
		devices: map[string]string{"resourceslices": "v1"},
		objects: map[string]map[string]object{}, owners: map[string]owned{}, blocks: map[string]*block{}, linger: map[string]int{},
	}

	for _, opt := range opts {
		opt(&s.opts)
	}

	if s.opts.err != nil {
		tb.Fatal(s.opts.err)
	}

	if s.ca = s.opts.ca; s.ca == nil {
		s.ca = newAuthority(tb, "kubernetes")
	}

	for _, namespace := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		s.put("namespaces", object{"metadata": object{"name": namespace}})
	}

	s.start()

	return s
}

// start listens and serves until the test ends.
func (s *Server) start() {
	var listener net.Listener

	if s.opts.inMemory {
		s.pipes = newPipes()
		listener, s.address = s.pipes, "kube.test:6443"
	} else {
		address := s.opts.address
		if address == "" {
			address = "127.0.0.1:0"
		}

		tcp, err := net.Listen("tcp", address) //nolint:noctx // of a test
		if err != nil {
			s.t.Fatal(err)
		}

		listener, s.address = tcp, tcp.Addr().String()
	}

	s.serving = s.ca.serving(s.t, s.names(), time.Now().Add(365*24*time.Hour))
	s.server = &http.Server{
		Handler:           http.HandlerFunc(s.handle),
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0), // broken connections are what tests ask for
	}
	conf := &tls.Config{
		MinVersion:             tls.VersionTLS12,
		ClientAuth:             tls.RequestClientCert,
		NextProtos:             []string{"http/1.1"},
		SessionTicketsDisabled: true,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			s.mu.Lock()
			defer s.mu.Unlock()

			return s.serving, nil
		},
	}

	go func() { _ = s.server.Serve(tls.NewListener(listener, conf)) }() // ends with Close

	s.t.Cleanup(func() { _ = s.server.Close() })
}

func (s *Server) names() []string {
	host, _, _ := net.SplitHostPort(s.address)

	return append([]string{host, "localhost"}, s.opts.names...)
}

// Close ends the server before the test ends, as a control plane that is powered off.
func (s *Server) Close() { _ = s.server.Close() }

// URL is the server's address, https://host:port.
func (s *Server) URL() string { return "https://" + s.address }

// Address is the server's host:port.
func (s *Server) Address() string { return s.address }

// CA is the authority's certificate as PEM.
func (s *Server) CA() []byte { return s.ca.pem }

// Kubeconfig is one for an administrator with a client certificate.
func (s *Server) Kubeconfig() []byte {
	cert, key := s.ca.client(s.t, "kubernetes-admin", "system:masters")
	code := base64.StdEncoding.EncodeToString

	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: test
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: admin
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: admin@test
  context: {cluster: test, user: admin}
current-context: admin@test
`, s.URL(), code(s.ca.pem), code(cert), code(key))
}
