// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package wait_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func TestTwice(t *testing.T) {
	t.Parallel()

	const (
		yes  = "yes"
		no   = "no"
		lost = "lost"
	)

	for name, c := range map[string]struct {
		says  []string
		looks int
	}{
		"two in a row are enough":     {[]string{yes, yes, yes}, 2},
		"a no between them counts":    {[]string{yes, no, yes, yes}, 4},
		"an error between them, too":  {[]string{yes, lost, yes, yes}, 4},
		"what came before does not":   {[]string{no, lost, no, yes, yes}, 5},
		"one at a time is not enough": {[]string{yes, no, yes, lost, yes, yes}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				looks := 0

				err := wait.Until(t.Context(), steady, wait.Twice(func(context.Context) (wait.Verdict, string, error) {
					looks++

					switch c.says[looks-1] {
					case yes:
						return wait.Done, yes, nil
					case no:
						return wait.Again, no, nil
					default:
						return wait.Again, "", wait.Transient(errors.New(lost))
					}
				}))
				if err != nil || looks != c.looks {
					t.Errorf("%d looks, %v", looks, err)
				}
			})
		})
	}
}
