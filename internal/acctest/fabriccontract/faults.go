// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabriccontract

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func faults() map[string]func(*rig) {
	suite := map[string]func(*rig){
		"a read that is answered with HTML is no machine (O-GPU-07)": htmlRead,
		"a read that is cut off is no machine":                       truncatedRead,
		"a read that is redirected is not followed":                  redirectedRead,
		"an order that is redirected is not followed":                redirectedOrder,
		"a refused login is told apart":                              refusedAlways,
		"a login that is refused once is done again":                 refusedOnce,
		"a full service takes no order":                              overloaded,
		"a caller who gives up knows nothing":                        givenUp,
		"an order that is carried out later than anybody waits":      lateOrder,
		"types that drift are read all the same":                     wrongTypes,
		"an answer that comes byte by byte is read":                  slowRead,
	}

	// An order whose answer is of no use: what happened is found out by looking.
	for name, c := range map[string]struct {
		fault func(match string) labfabric.Fault
		done  bool
	}{
		"lost":                           {labfabric.LostAnswer, true},
		"500 although the work is done":  {func(m string) labfabric.Fault { return labfabric.BrokenAfter(m, http.StatusInternalServerError) }, true},
		"502 of a proxy":                 {func(m string) labfabric.Fault { return labfabric.HTML(m, http.StatusBadGateway) }, true},
		"HTML with 200":                  {func(m string) labfabric.Fault { return labfabric.HTML(m, http.StatusOK) }, true},
		"cut off":                        {labfabric.Truncated, true},
		"not there: the request is lost": {labfabric.LostRequest, false},
		"500 and nothing is done": {
			func(m string) labfabric.Fault { return labfabric.Refusing(m, http.StatusInternalServerError, 1) }, false,
		},
	} {
		suite["an attach whose answer is "+name] = func(r *rig) { lostAttach(r, c.fault(r.Attach), c.done) }
		suite["a detach whose answer is "+name] = func(r *rig) { lostDetach(r, c.fault(r.Detach), c.done) }
	}

	return suite
}

func lostAttach(r *rig, fault labfabric.Fault, done bool) {
	r.read(0) // whatever a driver has to find out first
	r.far.Inject(fault)

	hint, err := r.order(0, model)
	if err != nil {
		r.fails("attach", err, fabric.ErrUnknown)
	} else if !done && hint.Task == "" {
		r.Error("nothing was done, and the order was taken")
	}

	if wait.IsTransient(err) {
		r.Errorf("an order may not be repeated without a look: %v", err)
	}

	want := 0
	if done {
		want = 1
	}

	r.agree(0, r.rest())

	if n := len(r.effects()); n != want {
		r.Errorf("%d effects, want %d", n, want)
	}

	r.sound()
}

func lostDetach(r *rig, fault labfabric.Fault, done bool) {
	d := r.attach(0, model)
	r.far.Inject(fault)

	if _, err := r.f.Detach(r.Context(), id(0), d); err != nil {
		r.fails("detach", err, fabric.ErrUnknown)
	}

	want := 1
	if done {
		want = 0
	}

	if m := r.rest(); len(attached(m)) != want {
		r.Errorf("the machine has %+v", m.Devices)
	}

	r.sound()
}

func htmlRead(r *rig) {
	r.read(0)
	r.far.Inject(labfabric.Fault{
		Match: r.Reads, Times: -1, Status: http.StatusOK, Header: map[string]string{"Content-Type": "text/html"},
		Body: "<html><head><title>Sign in</title></head></html>",
	})

	_, err := r.f.Machine(r.Context(), id(0))
	r.fails("read", err, fabric.ErrNotFabric)
	r.far.Heal()

	// the page of a proxy that knows nobody behind it
	r.far.Inject(labfabric.Fault{Match: "GET /**", Times: -1, Status: http.StatusNotFound, Body: "<html><title>404</title></html>"})

	_, err = r.f.Machine(r.Context(), id(0))
	r.fails("read", err, fabric.ErrNotFabric)
	r.far.Heal()
	r.read(0)
}

func truncatedRead(r *rig) {
	r.attach(0, model)

	f := labfabric.Truncated(r.Reads)
	f.Times = -1
	r.far.Inject(f)

	_, err := r.f.Machine(r.Context(), id(0))
	r.fails("read", err, fabric.ErrNotFabric)

	_, err = r.f.Machines(r.Context())
	if err == nil {
		r.far.Heal()
		r.sound() // the list is made of other requests, and is right
	}
}

func redirectedRead(r *rig) {
	r.read(0)

	f := labfabric.Redirect(r.Reads, lab.FabricEndpoint+"/elsewhere")
	f.Times = -1
	r.far.Inject(f)

	_, err := r.f.Machine(r.Context(), id(0))
	r.fails("read", err, fabric.ErrNotFabric)

	if n := r.far.Count("* /elsewhere"); n != 0 {
		r.Errorf("followed %d times", n)
	}
}

func redirectedOrder(r *rig) {
	r.read(0)
	r.far.Inject(labfabric.Redirect(r.Attach, lab.FabricEndpoint+"/elsewhere"))

	_, err := r.order(0, model)
	r.fails("attach", err, fabric.ErrNotFabric)

	if n := r.far.Count("* /elsewhere"); n != 0 || len(r.effects()) != 0 {
		r.Errorf("followed %d times", n)
	}
}

func refusedAlways(r *rig) {
	r.read(0)

	for _, match := range []string{r.Reads, r.Attach} {
		r.far.Inject(labfabric.Refusing(match, http.StatusUnauthorized, -1))
	}

	_, err := r.f.Machine(r.Context(), id(0))
	r.fails("read", err, fabric.ErrAuth)

	if n := r.far.Count(r.Reads); n > 10 {
		r.Errorf("%d requests", n)
	}
}

func refusedOnce(r *rig) {
	r.read(0)
	r.far.Inject(labfabric.Refusing(r.Reads, http.StatusUnauthorized, 1))

	_, err := r.f.Machine(r.Context(), id(0))

	if r.Open {
		r.fails("read", err, fabric.ErrAuth)

		return
	}

	if err != nil {
		r.Errorf("read: %v", err)
	}

	// an order, too: 401 says that nothing was done
	r.far.Inject(labfabric.Refusing(r.Attach, http.StatusUnauthorized, 1))

	if _, err := r.order(0, model); err != nil {
		r.Errorf("attach: %v", err)
	}

	r.until(0, 1)

	if n := len(r.effects()); n != 1 {
		r.Errorf("%d effects", n)
	}

	// a session that has ended long ago
	pause(24 * time.Hour)
	r.read(0)
	r.sound()
}

func overloaded(r *rig) {
	r.read(0)
	r.far.Inject(labfabric.Overloaded(r.Attach, 1, 7))

	_, err := r.order(0, model)
	r.fails("attach", err, fabric.ErrBusy)

	if !wait.IsTransient(err) || wait.RetryAfter(err) != 7*time.Second {
		r.Errorf("%v: may pass %t, after %s", err, wait.IsTransient(err), wait.RetryAfter(err))
	}

	if n := len(r.effects()); n != 0 {
		r.Errorf("%d effects", n)
	}
}

func givenUp(r *rig) {
	w, _, err := r.want(r.Context(), 0, model)
	if err != nil {
		r.Fatal(err)
	}

	r.far.Inject(labfabric.Slow(r.Attach, time.Hour))

	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
	defer cancel()

	_, err = r.f.Attach(ctx, id(0), w)
	r.fails("attach", err, fabric.ErrUnknown)
	r.agree(0, r.rest())

	if n := len(r.effects()); n != 1 {
		r.Errorf("%d effects", n)
	}

	cancel()

	_, err = r.f.Machine(ctx, id(0))
	r.fails("read", err, fabric.ErrUnsent, fabric.ErrUnknown)
}

func lateOrder(r *rig) {
	r.far.Tune(func(t *face.Tuning) { t.TokenLifetime = time.Hour }) // it is looked at late as well
	r.read(0)
	r.far.Inject(labfabric.Lagging(r.Attach, 2*fabric.DefaultMutateTimeout))

	_, err := r.order(0, model)
	r.fails("attach", err, fabric.ErrUnknown)

	if m := r.read(0); len(m.Devices) != 0 {
		r.Errorf("too early the machine has %+v", m.Devices)
	}

	pause(2 * fabric.DefaultMutateTimeout)
	r.agree(0, r.until(0, 1))
	r.sound()
}

func wrongTypes(r *rig) {
	r.attach(0, model)
	before := r.read(0)

	f := labfabric.Rewritten(r.Reads, labfabric.WrongTypes())
	f.Times = -1
	r.far.Inject(f)

	if m := r.read(0); !slices.Equal(m.Devices, before.Devices) || m.State != before.State || m.Status != before.Status {
		r.Errorf("before %+v, now %+v", before, m)
	}
}

func slowRead(r *rig) {
	r.attach(0, model)

	f := labfabric.Dripping(r.Reads, time.Millisecond)
	f.Times = -1
	r.far.Inject(f)
	r.agree(0, r.read(0))
}
