// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package rados_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/rados"
)

// coded is an error of go-ceph's.
type coded int

func (coded) Error() string    { return "rados: ret" }
func (c coded) ErrorCode() int { return int(c) }

// theirs is a commander of go-ceph's that says who was asked, and what.
type theirs struct {
	err  error
	hang chan struct{}
}

func (f *theirs) say(who string, cmd, in []byte) ([]byte, string, error) {
	if f.hang != nil {
		<-f.hang
	}

	return append(append([]byte{}, cmd...), in...), who, f.err
}

func (f *theirs) MonCommand(cmd []byte) ([]byte, string, error) { return f.say("mon", cmd, nil) }
func (f *theirs) MonCommandWithInputBuffer(cmd, in []byte) ([]byte, string, error) {
	return f.say("mon", cmd, in)
}

func (f *theirs) MgrCommand(cmd [][]byte) ([]byte, string, error) { return f.say("mgr", cmd[0], nil) }

func (f *theirs) MgrCommandWithInputBuffer(cmd [][]byte, in []byte) ([]byte, string, error) {
	return f.say("mgr", cmd[0], in)
}

// The whole way: a commander of theirs, made ours, made theirs.
func TestAdapt_andBack(t *testing.T) {
	t.Parallel()

	far := &theirs{}
	c := rados.AsRados(t.Context(), rados.Adapt(far), 0)
	cmd := []byte(`{"prefix":"osd purge"}`)

	for range 2 {
		for who, send := range map[string]func() ([]byte, string, error){
			"mon": func() ([]byte, string, error) { return c.MonCommandWithInputBuffer(cmd, []byte("in")) },
			"mgr": func() ([]byte, string, error) { return c.MgrCommandWithInputBuffer([][]byte{cmd}, []byte("in")) },
		} {
			out, status, err := send()
			if string(out) != string(cmd)+"in" || status != who || (err == nil) != (far.err == nil) {
				t.Errorf("%q %q %v", out, status, err)
			}
		}

		out, status, _ := c.MonCommand(cmd)
		if string(out) != string(cmd) || status != "mon" {
			t.Errorf("%q %q", out, status)
		}

		_, status, err := c.MgrCommand([][]byte{cmd})
		if status != "mgr" {
			t.Errorf("%q", status)
		}

		if far.err != nil {
			var e interface{ ErrorCode() int }
			if !errors.Is(err, api.ErrBusy) || !errors.As(err, &e) || e.ErrorCode() != -16 {
				t.Error(err)
			}
		}

		far.err = coded(-16)
	}

	far.err = errors.New("not connected")
	if _, _, err := c.MonCommand(cmd); !errors.Is(err, far.err) {
		t.Error(err)
	}
}

func TestAdapt_aCallThatDoesNotEnd(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		far := &theirs{hang: make(chan struct{})}
		c := rados.Adapt(far)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()

		begun := time.Now()

		_, _, err := c.MonCommand(ctx, []byte(`{"prefix":"x"}`))
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, api.ErrLost) || time.Since(begun) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}

		if _, _, err := c.MonCommand(ctx, nil); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, api.ErrLost) {
			t.Error("nothing was sent:", err)
		}

		_, _, err = rados.AsRados(t.Context(), c, time.Minute).MonCommand(nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 61*time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}

		close(far.hang)

		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOpen_inThisBuild(t *testing.T) {
	t.Parallel()

	if c, err := rados.Open(t.Context(), rados.Config{Conf: "/no/such/ceph.conf"}); err == nil {
		_ = c.Close()

		t.Error("no file, and no error")
	} else if rados.Linked != errors.Is(err, api.ErrNotFound) {
		t.Error(err)
	}
}
