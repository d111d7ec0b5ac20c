// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

var errStub = errors.New("not there yet")

type AuthMode string

const (
	NoAuth    AuthMode = "noauth"
	HTTPBasic AuthMode = "http_basic"
	Keystone  AuthMode = "keystone"
)

type Config struct {
	Endpoint       string
	Auth           AuthMode
	Username       string
	Password       string
	Cloud          string
	CACertFile     string
	ClientCertFile string
	ClientKeyFile  string
	Insecure       bool
	Timeout        time.Duration
	Transport      http.RoundTripper
	UserAgent      string
	Trace          func(ctx context.Context, method, url string, status int, elapsed time.Duration)
}

type Client struct{}

type Slot struct {
	UUID          string
	State         State
	BootInterface string
}

var (
	ErrNotFound    = errors.New("not found")
	ErrAuth        = errors.New("not authorised")
	ErrBusy        = errors.New("locked")
	ErrTransition  = errors.New("in transition")
	ErrConflict    = errors.New("conflict")
	ErrProtected   = errors.New("protected")
	ErrRefused     = errors.New("refused")
	ErrNotIronic   = errors.New("not Ironic")
	ErrUnreachable = errors.New("unreachable")
)

type RequestError struct {
	Op          string
	Status      int
	Text        string
	Reservation string
}

func (e *RequestError) Error() string { return e.Text }

type NotFoundError struct{ What, ID, Text string }

func (e *NotFoundError) Error() string        { return e.Text }
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

type TooOldError struct {
	Feature      string
	Needs, Found int
}

func (e *TooOldError) Error() string { return e.Feature }

type NotReadyError struct{ Text string }

func (e *NotReadyError) Error() string { return e.Text }

func New(cfg Config) (*Client, error)                                          { return nil, errStub }
func (c *Client) Endpoint() string                                             { return "" }
func (c *Client) Version(ctx context.Context) (int, error)                     { return 0, errStub }
func (c *Client) Require(ctx context.Context, minor int, feature string) error { return errStub }
func (c *Client) Node(ctx context.Context, id string) (Node, error)            { return Node{}, errStub }
func (c *Client) Nodes(ctx context.Context) ([]Node, error)                    { return nil, errStub }
func (c *Client) Glances(ctx context.Context) ([]Glance, error)                { return nil, errStub }
func (c *Client) Glance(ctx context.Context, id string) (Glance, error)        { return Glance{}, errStub }
func (c *Client) Slots(ctx context.Context) ([]Slot, error)                    { return nil, errStub }
func (c *Client) CreateNode(ctx context.Context, create Create) (Node, error)  { return Node{}, errStub }
func (c *Client) PatchNode(ctx context.Context, id string, ops []Patch) (Node, error) {
	return Node{}, errStub
}
func (c *Client) DeleteNode(ctx context.Context, id string) error             { return errStub }
func (c *Client) Provision(ctx context.Context, id string, p Provision) error { return errStub }
func (c *Client) SetPower(ctx context.Context, id string, target Power, timeout time.Duration) error {
	return errStub
}
func (c *Client) SetMaintenance(ctx context.Context, id, reason string) error { return errStub }
func (c *Client) UnsetMaintenance(ctx context.Context, id string) error       { return errStub }
func (c *Client) Validate(ctx context.Context, id string) (map[string]Validation, error) {
	return nil, errStub
}
func (c *Client) Inventory(ctx context.Context, id string) (json.RawMessage, error) {
	return nil, errStub
}
func (c *Client) Ports(ctx context.Context) ([]Port, error) { return nil, errStub }
func (c *Client) NodePorts(ctx context.Context, nodeUUID string) ([]Port, error) {
	return nil, errStub
}
func (c *Client) PortByMAC(ctx context.Context, mac string) (Port, error) { return Port{}, errStub }
func (c *Client) CreatePort(ctx context.Context, port Port) (Port, error) { return Port{}, errStub }
func (c *Client) PatchPort(ctx context.Context, id string, ops []Patch) (Port, error) {
	return Port{}, errStub
}
func (c *Client) DeletePort(ctx context.Context, id string) error                 { return errStub }
func (c *Client) Traits(ctx context.Context, id string) ([]string, error)         { return nil, errStub }
func (c *Client) SetTraits(ctx context.Context, id string, traits []string) error { return errStub }
func (c *Client) History(ctx context.Context, id string) ([]Event, error)         { return nil, errStub }
func (c *Client) BootMode(ctx context.Context, id string) (string, *bool, error) {
	return "", nil, errStub
}
func (c *Client) Drivers(ctx context.Context) ([]string, error) { return nil, errStub }

type Fleet struct{}

func NewFleet(c *Client, maxAge time.Duration) *Fleet { return &Fleet{} }
func (f *Fleet) Node(ctx context.Context, uuid string) (Node, []Port, error) {
	return Node{}, nil, errStub
}
func (f *Fleet) All(ctx context.Context) ([]Node, error) { return nil, errStub }
func (f *Fleet) Missing() int                            { return 0 }
func (f *Fleet) Forget()                                 {}

type Hub struct{}

func NewHub(c *Client) *Hub { return &Hub{} }
func (h *Hub) Next(ctx context.Context, id string, d time.Duration) (Glance, error) {
	return Glance{}, errStub
}
