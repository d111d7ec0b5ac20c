// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()

	now := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)

	for value, want := range map[string]time.Duration{
		"":                              0,
		"7":                             7 * time.Second,
		" 7 ":                           7 * time.Second,
		"-7":                            0,
		"7.5":                           0,
		"soon":                          0,
		"9223372036854775807":           9223372036 * time.Second,
		"Sat, 03 Feb 2001 04:06:06 GMT": time.Minute,
		"Sat, 03 Feb 2001 04:04:06 GMT": 0,
	} {
		if got := transport.RetryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q: got %s, want %s", value, got, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "7", "-7", "99999999999999999999", "Sat, 03 Feb 2001 04:06:06 GMT"} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, value string) {
		if got := transport.RetryAfter(http.Header{"Retry-After": {value}}, time.Unix(0, 0)); got < 0 {
			t.Errorf("%q: %s", value, got)
		}
	})
}

func TestSpellings(t *testing.T) {
	t.Parallel()

	if got := transport.Spellings(""); len(got) != 0 {
		t.Errorf("nothing is no secret: %q", got)
	}

	got := transport.Spellings(`a "b/+`)
	for _, want := range []string{`a "b/+`, `a \"b/+`, "a+%22b%2F%2B", "a%20%22b%2F+", "YSAiYi8r"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}

	forms := []string{"bb", "a", "cccc", "dd"}
	transport.LongestFirst(forms)

	if !slices.Equal(forms, []string{"cccc", "bb", "dd", "a"}) {
		t.Errorf("sorted %q", forms)
	}
}

// attempt is what a try of a read says, and how long it takes.
type attempt struct {
	err  error
	took time.Duration
}

func TestRepeat(t *testing.T) {
	t.Parallel()

	var (
		rhythm  = wait.Cadence{First: time.Second, Errors: 3}
		passing = wait.Transient(errors.New("for the moment"))
		final   = errors.New("for good")
		login   = fmt.Errorf("log in: %w", passing)
	)

	for name, tt := range map[string]struct {
		tries []attempt // the last one again and again
		count int
		err   error
	}{
		"a success is the end":                        {[]attempt{{}}, 1, nil},
		"what passes is tried again":                  {[]attempt{{err: passing}, {err: passing}, {}}, 3, nil},
		"so many failures and no more":                {[]attempt{{err: passing}}, 4, passing},
		"what does not pass is the end":               {[]attempt{{err: passing}, {err: final}}, 2, final},
		"what the caller does not repeat is the end":  {[]attempt{{err: login}}, 1, login},
		"after its patience a slow failure is enough": {[]attempt{{err: passing, took: 6 * time.Second}}, 2, passing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				count := 0
				got, err := transport.Repeat(t.Context(), rhythm, 10*time.Second, func(context.Context) (int, error) {
					a := tt.tries[min(count, len(tt.tries)-1)]
					count++

					time.Sleep(a.took)

					return count, a.err
				}, func(err error) bool { return wait.IsTransient(err) && !strings.HasPrefix(err.Error(), "log in") })

				if got != tt.count || count != tt.count || !errors.Is(err, tt.err) || wait.IsTransient(err) != wait.IsTransient(tt.err) {
					t.Errorf("got %d of %d tries, %v", got, count, err)
				}
			})
		})
	}
}

func TestRepeat_endsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()

		_, err := transport.Repeat(ctx, wait.Cadence{First: time.Second}, time.Minute, func(context.Context) (int, error) {
			return 0, wait.Transient(io.EOF)
		}, wait.IsTransient)

		if !errors.Is(err, io.EOF) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
