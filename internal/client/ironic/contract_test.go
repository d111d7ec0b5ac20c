// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// realIronic makes a client on the Ironic that METAL3_TEST_IRONIC names. In CI it must be
// there. With METAL3_TEST_IRONIC_USERNAME and _PASSWORD it logs in; _CA_CERT_FILE is its CA.
func realIronic(t *testing.T, change ...func(*ironic.Config)) *ironic.Client {
	t.Helper()

	endpoint := os.Getenv("METAL3_TEST_IRONIC")

	switch {
	case endpoint != "":
	case os.Getenv("CI") == "true":
		t.Fatal("METAL3_TEST_IRONIC names no Ironic: CI must prove the client on a real one")
	default:
		t.Skip("METAL3_TEST_IRONIC names no Ironic, for example http://127.0.0.1:6385")
	}

	cfg := ironic.Config{Endpoint: endpoint, UserAgent: "client-test", CACertFile: os.Getenv("METAL3_TEST_IRONIC_CA_CERT_FILE")}
	if name := os.Getenv("METAL3_TEST_IRONIC_USERNAME"); name != "" {
		cfg.Auth, cfg.Username, cfg.Password = ironic.HTTPBasic, name, os.Getenv("METAL3_TEST_IRONIC_PASSWORD")
	}

	for _, f := range change {
		f(&cfg)
	}

	c, err := ironic.New(cfg)
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// enroll makes a node of the fake hardware type and removes it in the end.
func enroll(t *testing.T, c *ironic.Client, extra map[string]any) ironic.Node {
	t.Helper()

	id := uuid.NewString()

	n, err := c.CreateNode(t.Context(), ironic.Create{
		UUID: id, Name: "client-test-" + id[:8], Driver: "fake-hardware", ResourceClass: "client-test", Extra: extra,
		DriverInfo: map[string]any{"fake_password": secret},
	})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()

		if err := c.SetMaintenance(ctx, id, "the test is over"); err != nil && !ironic.IsGone(err) {
			t.Error(err)
		}

		if err := c.DeleteNode(ctx, id); err != nil && !ironic.IsGone(err) {
			t.Error(err)
		}
	})

	return n
}

// reach sends a verb and waits for a state.
func reach(t *testing.T, c *ironic.Client, hub *ironic.Hub, id string, p ironic.Provision, want ironic.State) {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	if err := c.Provision(ctx, id, p); err != nil {
		t.Fatal(err)
	}

	for {
		g, err := hub.Next(ctx, id, 300*time.Millisecond)
		if err != nil {
			t.Fatalf("%s never reached %q: %v", id, want, err)
		}

		if g.ProvisionState == want && g.TargetProvisionState == "" && g.Reservation == "" {
			return
		}
	}
}

func TestContract_life(t *testing.T) {
	t.Parallel()

	c := realIronic(t)
	hub := ironic.NewHub(c)
	ctx := t.Context()

	minor, err := c.Version(ctx)
	if err != nil || minor < 81 {
		t.Fatalf("got %d, %v", minor, err)
	}

	drivers, err := c.Drivers(ctx)
	if err != nil || !strings.Contains(strings.Join(drivers, " "), "fake-hardware") {
		t.Fatalf("got %v, %v", drivers, err)
	}

	n := enroll(t, c, map[string]any{"metal3": map[string]any{"v": 1}})
	if n.ProvisionState != ironic.Enroll || n.ResourceClass != "client-test" || n.Interfaces["boot"] != "fake" || n.DriverInfo["fake_password"] != "******" {
		t.Errorf("got %+v", n)
	}

	if byName, err := c.Node(ctx, n.Name); err != nil || byName.UUID != n.UUID {
		t.Errorf("got %v, %v", byName, err)
	}

	reach(t, c, hub, n.UUID, ironic.Provision{Target: ironic.VerbManage}, ironic.Manageable)

	changed, err := c.PatchNode(ctx, n.UUID, []ironic.Patch{
		{Op: "add", Path: "/extra/metal3", Value: map[string]any{"v": 1, "phase": "available"}}, {Op: "add", Path: "/automated_clean", Value: false}, {Op: "remove", Path: "/resource_class"},
	})
	if err != nil || changed.ResourceClass != "" || changed.AutomatedClean == nil || *changed.AutomatedClean {
		t.Errorf("got %+v, %v", changed, err)
	}

	if checks, err := c.Validate(ctx, n.UUID); err != nil || !checks["boot"].Result {
		t.Errorf("got %v, %v", checks, err)
	}

	reach(t, c, hub, n.UUID, ironic.Provision{Target: ironic.VerbProvide}, ironic.Available)
	reach(t, c, hub, n.UUID, ironic.Provision{Target: ironic.VerbActive, ConfigDrive: map[string]any{"meta_data": map[string]any{"name": "n"}}}, ironic.Active)

	if err := c.SetPower(ctx, n.UUID, ironic.PowerOn, 0); err != nil {
		t.Error(err)
	}

	reach(t, c, hub, n.UUID, ironic.Provision{Target: ironic.VerbDeleted}, ironic.Available)

	if err := c.DeleteNode(ctx, n.UUID); err != nil {
		t.Error(err)
	}

	if _, err := c.Node(ctx, n.UUID); !ironic.IsGone(err) {
		t.Errorf("got %v", err)
	}
}

func TestContract_wrongPassword(t *testing.T) {
	t.Parallel()

	if os.Getenv("METAL3_TEST_IRONIC_USERNAME") == "" {
		t.Skip("METAL3_TEST_IRONIC_USERNAME is not set: this Ironic asks for no password")
	}

	c := realIronic(t, func(cfg *ironic.Config) { cfg.Password = secret })
	if _, err := c.Version(t.Context()); err != nil {
		t.Errorf("the version needs no password: %v", err)
	}

	if _, err := c.Drivers(t.Context()); !errors.Is(err, ironic.ErrAuth) || leaks(err.Error()) {
		t.Errorf("got %v", err)
	}
}

func TestContract_errors(t *testing.T) {
	t.Parallel()

	c := realIronic(t)
	ctx := t.Context()
	n := enroll(t, c, nil)

	for name, tc := range map[string]struct {
		do   func() error
		kind error
	}{
		"a node that is not there": {func() error { _, err := c.Node(ctx, uuid.NewString()); return err }, ironic.ErrNotFound},
		"a UUID that is taken": {func() error {
			_, err := c.CreateNode(ctx, ironic.Create{UUID: n.UUID, Name: "client-test-other", Driver: "fake-hardware"})

			return err
		}, ironic.ErrConflict},
		"a name that is taken": {func() error {
			_, err := c.CreateNode(ctx, ironic.Create{Name: n.Name, Driver: "fake-hardware"})

			return err
		}, ironic.ErrConflict},
		"a verb that does not fit": {func() error { return c.Provision(ctx, n.UUID, ironic.Provision{Target: ironic.VerbActive}) }, ironic.ErrRefused},
		"an order to nobody":       {func() error { return c.SetPower(ctx, uuid.NewString(), ironic.PowerOn, 0) }, ironic.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tc.do(); !errors.Is(err, tc.kind) || wait.IsTransient(err) {
				t.Errorf("got %v", err)
			}
		})
	}

	var missing *ironic.NotFoundError
	if _, err := c.Inventory(ctx, n.UUID); !errors.As(err, &missing) || missing.What != "inventory" {
		t.Errorf("got %v", err)
	}

	if _, err := c.Inventory(ctx, uuid.NewString()); !ironic.IsGone(err) {
		t.Errorf("got %v", err)
	}

	if _, err := c.PortByMAC(ctx, "52:54:00:fe:fe:fe"); !errors.As(err, &missing) || missing.What != "port" {
		t.Errorf("got %v", err)
	}

	_, err := c.CreateNode(ctx, ironic.Create{Name: "client-test-nope", Driver: "nope", DriverInfo: map[string]any{"nope_password": secret}})

	var refused *ironic.RequestError
	if !errors.As(err, &refused) || refused.Status != 400 || !strings.Contains(err.Error(), "nope") || leaks(err.Error()) {
		t.Errorf("got %v", err)
	}

	if err := c.Require(ctx, 999, "everything"); err == nil {
		t.Error("API 1.999 is there")
	}
}

func TestContract_protectedAndMaintenance(t *testing.T) {
	t.Parallel()

	c := realIronic(t)
	hub := ironic.NewHub(c)
	n := enroll(t, c, nil)

	reach(t, c, hub, n.UUID, ironic.Provision{Target: ironic.VerbManage}, ironic.Manageable)
	reach(t, c, hub, n.UUID, ironic.Provision{Target: ironic.VerbProvide}, ironic.Available)
	reach(t, c, hub, n.UUID, ironic.Provision{Target: ironic.VerbActive}, ironic.Active)

	protect := func(on bool) {
		if _, err := c.PatchNode(t.Context(), n.UUID, []ironic.Patch{{Op: "add", Path: "/protected", Value: on}}); err != nil {
			t.Fatal(err)
		}
	}

	protect(true)

	if err := c.Provision(t.Context(), n.UUID, ironic.Provision{Target: ironic.VerbDeleted}); !errors.Is(err, ironic.ErrProtected) {
		t.Errorf("got %v", err)
	}

	protect(false)

	if err := c.SetMaintenance(t.Context(), n.UUID, "because"); err != nil {
		t.Error(err)
	}

	if err := c.Provision(t.Context(), n.UUID, ironic.Provision{Target: ironic.VerbRebuild}); !errors.Is(err, ironic.ErrRefused) {
		t.Errorf("in maintenance: %v", err)
	}

	if err := c.UnsetMaintenance(t.Context(), n.UUID); err != nil {
		t.Error(err)
	}

	if err := c.DeleteNode(t.Context(), n.UUID); !errors.Is(err, ironic.ErrConflict) {
		t.Errorf("an active node: %v", err)
	}
}

func TestContract_portsTraitsAndTheRest(t *testing.T) {
	t.Parallel()

	c := realIronic(t)
	ctx := t.Context()
	n := enroll(t, c, nil)
	mac := fmt.Sprintf("52:54:00:%s:%s:%s", n.UUID[0:2], n.UUID[2:4], n.UUID[4:6])

	p, err := c.CreatePort(ctx, ironic.Port{NodeUUID: n.UUID, Address: strings.ToUpper(mac), PXEEnabled: true, PhysicalNetwork: "physnet1", LocalLink: map[string]string{"switch_id": "52:54:00:aa:bb:cc", "port_id": "Ethernet1/1"}})
	if err != nil || p.Address != mac || !p.PXEEnabled || p.PhysicalNetwork != "physnet1" || p.LocalLink["port_id"] != "Ethernet1/1" {
		t.Fatalf("got %+v, %v", p, err)
	}

	if _, err := c.CreatePort(ctx, ironic.Port{NodeUUID: n.UUID, Address: mac}); !errors.Is(err, ironic.ErrConflict) {
		t.Errorf("got %v", err)
	}

	if own, err := c.NodePorts(ctx, n.UUID); err != nil || len(own) != 1 || own[0].UUID != p.UUID {
		t.Errorf("got %v, %v", own, err)
	}

	if q, err := c.PatchPort(ctx, p.UUID, []ironic.Patch{{Op: "add", Path: "/pxe_enabled", Value: false}}); err != nil || q.PXEEnabled {
		t.Errorf("got %v, %v", q, err)
	}

	if q, err := c.PortByMAC(ctx, mac); err != nil || q.NodeUUID != n.UUID {
		t.Errorf("got %v, %v", q, err)
	}

	if err := c.SetTraits(ctx, n.UUID, []string{"CUSTOM_B", "CUSTOM_A"}); err != nil {
		t.Error(err)
	}

	if traits, err := c.Traits(ctx, n.UUID); err != nil || strings.Join(traits, ",") != "CUSTOM_A,CUSTOM_B" {
		t.Errorf("got %v, %v", traits, err)
	}

	if events, err := c.History(ctx, n.UUID); err != nil || len(events) != 0 {
		t.Errorf("got %v, %v", events, err)
	}

	if _, _, err := c.BootMode(ctx, n.UUID); err != nil {
		t.Error(err)
	}

	if err := c.SetMaintenance(ctx, n.UUID, "because"); err != nil {
		t.Error(err)
	}

	if g, err := c.Node(ctx, n.UUID); err != nil || !g.Maintenance || g.MaintenanceReason != "because" {
		t.Errorf("got %v, %v", g, err)
	}

	if err := c.UnsetMaintenance(ctx, n.UUID); err != nil {
		t.Error(err)
	}

	if err := c.DeletePort(ctx, p.UUID); err != nil {
		t.Error(err)
	}

	var missing *ironic.NotFoundError
	if err := c.DeletePort(ctx, p.UUID); !errors.As(err, &missing) || missing.What != "port" {
		t.Errorf("got %v", err)
	}
}

// TestContract_manyAtOnce sends verbs to nodes that are locked by the verbs before them.
func TestContract_manyAtOnce(t *testing.T) {
	t.Parallel()

	c := realIronic(t)
	hub := ironic.NewHub(c)
	fleet := ironic.NewFleet(c, 0)

	var ids []string
	for range 6 {
		ids = append(ids, enroll(t, c, nil).UUID)
	}

	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() { reach(t, c, hub, id, ironic.Provision{Target: ironic.VerbManage}, ironic.Manageable) })
		all.Go(func() {
			if n, _, err := fleet.Node(t.Context(), id); err != nil || n.UUID != id {
				t.Errorf("got %v, %v", n, err)
			}
		})
		all.Go(func() { // in the way of the verb, or behind it: the lock decides
			if err := c.SetPower(t.Context(), id, ironic.PowerOn, 0); err != nil && !errors.Is(err, ironic.ErrRefused) {
				t.Errorf("got %v", err)
			}
		})
	}
	all.Wait()

	list, err := c.Glances(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	seen := map[string]ironic.Glance{}
	for _, s := range list {
		seen[s.UUID] = s
	}

	for _, id := range ids {
		if s := seen[id]; s.ProvisionState != ironic.Manageable || s.BootInterface != "fake" {
			t.Errorf("got %+v", s)
		}
	}
}
