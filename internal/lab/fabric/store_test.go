// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
)

// Two processes of one Terraform command have two services on one file.
func TestStore_anAttachOutlivesItsProcess(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()

	synctest.Test(t, func(t *testing.T) {
		o := longLived()
		o.Dir = dir

		first := newRig(t, o).login()
		first.Tune(func(t *face.Tuning) { t.AsyncStatus = http.StatusAccepted })
		first.do(http.StatusAccepted, http.MethodPatch, updatePath(0), attachBody(0, "A100"))

		if err := first.lab.Close(); err != nil {
			t.Error(err)
		}

		second := newRig(t, o)
		defer second.lab.Close()

		second.bearer = first.bearer // a token of one is good at the other

		if m := machines(t, second.do(http.StatusOK, http.MethodGet, machinePath(0, ""), ""))[0]; m["mach_status"] != 20.0 {
			t.Errorf("while it is added: %v", m)
		}

		time.Sleep(add)

		if got := resources(t, second.do(http.StatusOK, http.MethodGet, machinePath(0, ""), "")); len(got) != 1 {
			t.Errorf("it never came: %v", got)
		}

		if all, err := second.Effects(); err != nil || len(all) != 1 || all[0].Kind != hardware.KindAttach {
			t.Errorf("effects %v, %v", all, err)
		}
	})
}

func TestStore_twoProcessesOnePool(t *testing.T) {
	t.Parallel()

	o := lab.Options{Dir: filepath.Join(t.TempDir(), "lab")}
	rigs := []*rig{newRig(t, o), newRig(t, o)}

	for _, r := range rigs {
		defer r.lab.Close()

		r.login().Tune(func(t *face.Tuning) { t.AsyncStatus = http.StatusAccepted })
	}

	var (
		wg  sync.WaitGroup
		won atomic.Int32
	)

	for node := range 8 {
		wg.Go(func() {
			switch code, text, _ := rigs[node%2].try(http.MethodPatch, updatePath(node), attachBody(node, "A100")); code {
			case http.StatusAccepted:
				won.Add(1)
			case http.StatusNotFound:
			default:
				t.Errorf("status %d %s", code, text)
			}
		})
	}

	wg.Wait()

	if won.Load() != 4 {
		t.Errorf("%d of 4 devices were given out", won.Load())
	}
}
