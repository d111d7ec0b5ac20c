// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// fileJournal keeps one file an intent. Each is written whole under another name and renamed,
// so that neither a crash nor another process ever sees half of one, and no lock is needed.
type fileJournal struct {
	dir string
	run string
}

// NewJournal returns a journal in a directory, which is made when the first intent is written.
func NewJournal(dir string) Journal { return &fileJournal{dir: dir, run: uuid.NewString()} }

// Run implements [Journal].
func (j *fileJournal) Run() string { return j.run }

// Put implements [Journal].
func (j *fileJournal) Put(i Intent) error {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return fmt.Errorf("fabric journal: %w", err)
	}

	if i.PID == os.Getpid() {
		i.Began, i.Host = processBegan(i.PID), hostID()
	}

	raw, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return fmt.Errorf("fabric journal: %w", err)
	}

	f, err := os.CreateTemp(j.dir, "."+i.ID+"-*")
	if err != nil {
		return fmt.Errorf("fabric journal: %w", err)
	}

	_, err = f.Write(append(raw, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())

	if err == nil {
		err = os.Rename(f.Name(), j.path(i.ID))
	}

	if err != nil {
		return fmt.Errorf("fabric journal: %w", errors.Join(err, os.Remove(f.Name())))
	}

	return nil
}

// Drop implements [Journal].
func (j *fileJournal) Drop(id string) error {
	if err := os.Remove(j.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("fabric journal: %w", err)
	}

	return nil
}

// Of implements [Journal].
func (j *fileJournal) Of(fabric, machine string) ([]Intent, error) {
	entries, err := os.ReadDir(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}

	if err != nil {
		return nil, fmt.Errorf("fabric journal: %w", err)
	}

	var out []Intent

	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}

		raw, err := os.ReadFile(filepath.Join(j.dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // another run has just dropped it
		}

		if err != nil {
			return nil, fmt.Errorf("fabric journal: %w", err)
		}

		i, err := decodeIntent(raw)
		if err != nil {
			return nil, fmt.Errorf("fabric journal: %s: %w; look at what it says of the machine, then remove the file", filepath.Join(j.dir, e.Name()), err)
		}

		if i.Fabric == fabric && SameMachine(i.Machine, machine) {
			out = append(out, i)
		}
	}

	slices.SortFunc(out, func(a, b Intent) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })

	return out, nil
}

func decodeIntent(raw []byte) (Intent, error) {
	var i Intent
	if err := json.Unmarshal(raw, &i); err != nil {
		return Intent{}, err
	}

	if i.ID == "" || i.Machine == "" || i.Type == "" || i.Model == "" {
		return Intent{}, errors.New("not an intent")
	}

	return i, nil
}

// foreignAge is how long a run on another system counts as alive: nobody here can tell. It is
// longer than an attach may take unless somebody set a longer limit.
const foreignAge = 20 * time.Minute

// Live implements [Journal]. Where the system does not tell when processes began, a number that
// was given to another process makes an intent look alive; its run then says so, and orders nothing.
func (j *fileJournal) Live(i Intent) bool {
	switch {
	case i.Run == j.run:
		return true
	case i.Host != "" && i.Host != hostID():
		return time.Since(i.At) < foreignAge
	case i.PID == os.Getpid() || i.PID <= 0:
		return false
	default:
		return alive(i.PID, i.Began)
	}
}

func (j *fileJournal) path(id string) string {
	return filepath.Join(j.dir, filepath.Base(id)+".json")
}
