// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fm is the fabric manager (FM) of the lab's fabric: machines, and the orders that
// attach a device to one and detach it again.
package fm

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/token"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// The codes of the lab's refusals. No list of the vendor's is public.
const (
	CodeInvalid   = "E020400"
	CodeTenant    = "E020403"
	CodeMachine   = "E020404"
	CodeDevice    = "E020405"
	CodeBusy      = "E020409"
	CodeUnbuilt   = "E020410"
	CodeState     = "E020411"
	CodeCapacity  = "E020507"
	CodeHardware  = "E020001" // of a link that does not come up; the one code of a public sample, with status 500
	maxBody       = 1 << 20
	base          = "/fabric_manager/api/v1"
	tenantOfQuery = "tenant_uuid"
)

// New returns the face below /fabric_manager.
func New(e *face.Env) http.Handler {
	s := service{e}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+base+"/machines", s.allowed(s.list))
	mux.HandleFunc("GET "+base+"/machines/{mach}", s.allowed(s.get))
	mux.HandleFunc("PATCH "+base+"/machines/{mach}/update", s.allowed(s.attach))
	mux.HandleFunc("DELETE "+base+"/machines/{mach}/update", s.allowed(s.detach))
	mux.HandleFunc("GET "+base+"/machines/{mach}/available-reserved-resources", s.allowed(s.available))
	mux.HandleFunc("GET "+base+"/tenants/{tenant}", s.allowed(s.tenant))

	return mux
}

type service struct{ env *face.Env }

// allowed lets requests through that carry a good token, and ask for the token's tenant.
func (s service) allowed(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !token.Check(s.env, w, r) {
			return
		}

		if r.URL.Query().Get(tenantOfQuery) != hardware.Tenant {
			face.Fail(w, face.Refuse(http.StatusForbidden, CodeTenant, "no rights in this tenant"))

			return
		}

		next(w, r)
	}
}

func (s service) tenant(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("tenant") != hardware.Tenant {
		face.Fail(w, face.Refuse(http.StatusNotFound, CodeTenant, "no such tenant"))

		return
	}

	face.JSON(w, http.StatusOK, map[string]any{
		"data": map[string]any{"tenants": []any{map[string]any{tenantOfQuery: hardware.Tenant, "tenant_name": "lab"}}},
	})
}

func (s service) list(w http.ResponseWriter, _ *http.Request) {
	var docs []any

	err := s.env.View(func(tx store.Tx, now time.Time) error {
		all, err := hardware.Machines(tx, now)

		docs = []any{}
		for _, m := range all {
			if m.Tenant == hardware.Tenant {
				docs = append(docs, s.machine(m, m.Devices))
			}
		}

		return err
	})
	s.answer(w, http.StatusOK, docs, err)
}

func (s service) get(w http.ResponseWriter, r *http.Request) {
	doc, err := s.load(r.PathValue("mach"))
	s.answer(w, http.StatusOK, []any{doc}, err)
}

func (s service) load(id string) (doc map[string]any, err error) {
	err = s.env.View(func(tx store.Tx, now time.Time) error {
		m, err := find(tx, now, id)
		doc = s.machine(m, m.Devices)

		return err
	})

	return doc, err
}

func (s service) answer(w http.ResponseWriter, status int, docs []any, err error) {
	if err != nil {
		face.Fail(w, err)

		return
	}

	if status == http.StatusNoContent {
		w.WriteHeader(status)

		return
	}

	face.JSON(w, status, map[string]any{"data": map[string]any{"machines": docs}})
}

func find(tx store.Tx, now time.Time, id string) (hardware.Machine, error) {
	m, ok, err := hardware.MachineByID(tx, now, id)
	if err == nil && (!ok || m.Tenant != hardware.Tenant) {
		err = face.Refuse(http.StatusNotFound, CodeMachine, "machine not found")
	}

	return m, err
}

// available tells how many devices of a model are free in the machine's fabric.
func (s service) available(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()

	var c condition
	if err := face.Body(strings.NewReader(query.Get("condition")), &c); err != nil {
		face.Fail(w, face.Refuse(http.StatusBadRequest, CodeInvalid, "condition: "+err.Error()))

		return
	}

	typ := query.Get("res_type")
	if !known(typ) || !c.valid(s.env.Tuned().ModelColumn) {
		face.Fail(w, face.Refuse(http.StatusBadRequest, CodeInvalid, "res_type or condition"))

		return
	}

	free := 0

	err := s.env.View(func(tx store.Tx, now time.Time) error {
		m, err := find(tx, now, r.PathValue("mach"))
		if err != nil {
			return err
		}

		all, err := hardware.All(tx, now)

		for _, d := range all {
			if d.Free() && d.Fabric == m.Fabric && d.Type == typ && d.Model == c.Value {
				free++
			}
		}

		return err
	})
	if err != nil {
		face.Fail(w, err)

		return
	}

	face.JSON(w, http.StatusOK, map[string]any{"reserved_res_num_per_fabric": free})
}

// read reads an order.
func read(r *http.Request, parse func([]byte) (Order, error)) (Order, error) {
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		return Order{}, face.Refuse(http.StatusUnsupportedMediaType, CodeInvalid, "Content-Type "+kind)
	}

	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return Order{}, face.Refuse(http.StatusBadRequest, CodeInvalid, err.Error())
	}

	o, err := parse(raw)
	if err != nil {
		return Order{}, face.Refuse(http.StatusBadRequest, CodeInvalid, err.Error())
	}

	if !strings.EqualFold(o.Machine, r.PathValue("mach")) {
		return Order{}, face.Refuse(http.StatusBadRequest, CodeInvalid, "the machine of the body is another one")
	}

	return o, nil
}

// takes tells whether a machine takes an order now. A refusal because it is busy is written
// down: whoever orders must not let that happen.
func takes(tx store.Tx, now time.Time, id string) (hardware.Machine, error) {
	m, err := find(tx, now, id)
	if err != nil {
		return m, err
	}

	switch code := m.Code(); {
	case m.Deleted:
		return m, face.Refuse(http.StatusNotFound, CodeUnbuilt, "the machine is unbuilt")
	case code == hardware.Broken:
		return m, face.Refuse(http.StatusInternalServerError, CodeState, "the machine is in an error state")
	case m.Busy():
		return m, errBusy
	default:
		return m, nil
	}
}

var errBusy = errors.New("busy")

// refuseBusy turns errBusy into its answer. It is a transaction of its own: an error undoes
// the one that it came from.
func (s service) refuseBusy(id string, err error) error {
	if !errors.Is(err, errBusy) {
		return err
	}

	err = s.env.Update(func(tx store.Tx, now time.Time) error {
		m, err := find(tx, now, id)
		if err != nil {
			return err
		}

		return hardware.Refuse(tx, now, m.Name)
	})

	return errors.Join(face.Refuse(http.StatusConflict, CodeBusy, "another operation on the machine is running"), err)
}
