// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
)

// lifeTick is the unit in which the fabric of these lives is late.
const lifeTick = 5 * time.Second

// life is one resource on a fabric that loses answers, driven by a user who applies again
// whatever happens, and by processes that are killed.
type life struct {
	*pool

	r     *rand.Rand
	loss  float64
	kills float64
	notes *shared
	state []device.Record // as Terraform has it
}

func newLife(seed uint64, loss, kills float64) *life {
	l := &life{pool: newPool(1, 8), r: rand.New(rand.NewPCG(seed, 7)), loss: loss, kills: kills, notes: newShared()}
	l.put("u07") // somebody else's, of another kind for us: it must stay
	l.devices[7].Model = "L40S"
	l.onAttach = l.fate
	l.onDetach = l.fate
	l.lostRead = func() bool { return chance(l.r, l.loss/4) }

	return l
}

// fate: of the lost answers one third are of orders that were not carried out, the others
// are carried out up to eleven ticks late.
func (l *life) fate(string, int) fate {
	f := fate{quietly: chance(l.r, 0.5)}

	if chance(l.r, l.loss) {
		f.err = lost()
		f.never = chance(l.r, 1.0/3)
		f.after = time.Duration(l.r.IntN(12)) * lifeTick
	} else if chance(l.r, 0.3) {
		f.after, f.quietly = time.Duration(l.r.IntN(12))*lifeTick, false
	}

	f.kill = chance(l.r, l.kills)

	return f
}

// apply runs one verb as a new process. A process that was killed leaves the state as it was.
func (l *life) apply(t *testing.T, verb func(*device.Run, []device.Record) device.Result, size int) error {
	t.Helper()

	l.mu.Lock()
	l.dead = false
	l.run++
	l.mu.Unlock()

	desk := device.NewDesk(l.pool, journal{l.notes, fmt.Sprint(l.run), func() bool { l.mu.Lock(); defer l.mu.Unlock(); return l.dead }})

	// The refresh before every apply.
	for range 20 {
		seen, err := desk.Refresh(t.Context(), device.Reading{Type: "gpu", Model: "A100", Machines: []string{"m0"}, Devices: l.state})
		if err == nil {
			l.state = seen.Devices

			break
		}
	}

	w := wants(size, "m0")
	w.OnPartial = device.PartialKeep
	res := verb(&device.Run{Desk: desk, Wanted: w}, l.state)

	l.mu.Lock()
	defer l.mu.Unlock()

	if l.dead || chance(l.r, l.kills) {
		return errDead // before Terraform could write
	}

	l.state = res.Devices

	return res.Err()
}

// reach applies until it succeeds.
func (l *life) reach(t *testing.T, size int) error {
	t.Helper()

	verb := func(r *device.Run, have []device.Record) device.Result {
		if len(have) == 0 {
			return r.Create(t.Context())
		}

		return r.Update(t.Context(), have)
	}

	var err error

	for range 40 {
		if err = l.apply(t, verb, size); err == nil {
			break
		}
	}

	if on := l.on("m0"); err != nil || len(on) != size || len(l.state) != size {
		return fmt.Errorf("wanted %d: on the machine %v, in the state %d, %w", size, on, len(l.state), err)
	}

	return nil
}

// live attaches four, changes the size twice, and detaches all.
func (l *life) live(t *testing.T) error {
	t.Helper()

	for _, size := range []int{4, l.r.IntN(6), 1 + l.r.IntN(5)} {
		if err := l.reach(t, size); err != nil {
			return err
		}
	}

	var err error

	for range 40 {
		err = l.apply(t, func(r *device.Run, have []device.Record) device.Result { return r.Delete(t.Context(), have) }, 0)
		if err == nil {
			break
		}
	}

	switch on := l.on("m0"); {
	case err != nil || len(on) != 0 || len(l.state) != 0:
		return fmt.Errorf("destroyed: on the machine %v, in the state %d, %w", on, len(l.state), err)
	case l.overlaps != 0:
		return fmt.Errorf("%d orders overlapped", l.overlaps)
	case l.devices[7].MachineID != "m0":
		return fmt.Errorf("somebody else's device was detached")
	case len(l.notes.all) != 0:
		return fmt.Errorf("%d notes are left in the journal", len(l.notes.all))
	}

	return nil
}

// TestLives_neitherLeakNorDuplicate is the model of section "lost answers": whatever share
// of the answers is lost, and whoever is killed when, no device leaks and none comes twice.
func TestLives_neitherLeakNorDuplicate(t *testing.T) {
	t.Parallel()

	lives := 20_000
	if testing.Short() {
		lives = 1_000
	}

	for name, c := range map[string]struct{ loss, kills float64 }{
		"every answer arrives":                   {0, 0},
		"60 % are lost":                          {0.6, 0},
		"90 % are lost":                          {0.9, 0},
		"90 % are lost and processes are killed": {0.9, 0.02},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			start := time.Now()
			n := lives / 4

			var (
				next   atomic.Int64
				failed atomic.Int64
				wg     sync.WaitGroup
			)

			for range runtime.GOMAXPROCS(0) {
				wg.Go(func() {
					for i := next.Add(1); int(i) <= n && failed.Load() < 5; i = next.Add(1) {
						synctest.Test(t, func(t *testing.T) {
							if err := newLife(uint64(i), c.loss, c.kills).live(t); err != nil {
								failed.Add(1)
								t.Errorf("life %d: %v", i, err)
							}
						})
					}
				})
			}

			wg.Wait()
			t.Logf("%d lives in %s", n, time.Since(start).Round(time.Millisecond))
		})
	}
}
