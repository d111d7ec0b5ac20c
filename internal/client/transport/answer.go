// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrTooLong says that an answer is longer than its reader takes.
var ErrTooLong = errors.New("the answer is too long")

// ReadBody reads an answer up to a bound. What was read comes with the error, too.
func ReadBody(body io.Reader, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(body, limit+1))
	if int64(len(raw)) > limit {
		return raw[:limit], ErrTooLong
	}

	return raw, err // what it means depends on the request
}

// RetryAfter is how long the far side asks to wait, 0 where it does not ask.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	const longest = int(math.MaxInt64 / time.Second)

	value := strings.TrimSpace(h.Get("Retry-After"))

	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(max(seconds, 0), longest)) * time.Second
	}

	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0)
	}

	return 0
}
