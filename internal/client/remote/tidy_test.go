// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// A write that is given up leaves nothing of the secret.
func TestWriteFile_givenUp(t *testing.T) {
	t.Parallel()

	data := bytes.Repeat([]byte("geheim"), 10<<20)

	cases := map[string]struct {
		change func(*remote.Config)
		owner  string
	}{
		"with SFTP":     {func(*remote.Config) {}, ""},
		"with a script": {func(*remote.Config) {}, "root"},
		"with sudo":     {as(sudoer, true), ""},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := open(t, sshd(t).config(c.change))
			dir := t.TempDir()

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()

			begun := make(chan bool, 1)

			go func() {
				defer cancel()

				for ctx.Err() == nil {
					if all, _ := filepath.Glob(dir + "/.secret.metal3-*"); len(all) > 0 {
						if info, err := os.Stat(all[0]); err == nil && info.Size() > 0 {
							begun <- true

							return
						}
					}

					time.Sleep(time.Millisecond)
				}
			}()

			err := h.WriteFile(ctx, dir+"/secret", data, c.owner, 0o600)
			if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "may still") || len(begun) == 0 {
				t.Errorf("begun: %d, error %v", len(begun), err)
			}

			// On a busy machine the whole file may be in its place before the writing is given up.
			whole, _ := os.ReadFile(dir + "/secret")
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 && (len(left) > 1 || !bytes.Equal(whole, data)) {
				t.Errorf("left %v, %v", left, err)
			}

			if err := h.WriteFile(t.Context(), dir+"/secret", []byte("x"), c.owner, 0o600); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}
