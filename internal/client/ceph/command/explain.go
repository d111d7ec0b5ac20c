// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// AskManager asks the monitors whether there is an active manager.
const AskManager = `{"prefix":"mgr stat","format":"json"}`

// Explain says why a command had no answer in time. Commands that a manager answers never
// return without one, whoever is asked (16.2.15: "osd ok-to-stop", "osd df", "pg stat"), so that
// the monitors are asked for it. ask sends AskManager with little patience. Other errors
// are left as they are.
//
// For half a minute after the last manager ended the monitors say that there is one; then the
// error stays as it is, too.
func Explain(ctx context.Context, err error, ask func(ctx context.Context, cmd []byte) ([]byte, error)) error {
	if !errors.Is(err, api.ErrTimedOut) || errors.Is(err, api.ErrNoQuorum) || ctx.Err() != nil {
		return err
	}

	out, why := ask(ctx, []byte(AskManager))

	switch {
	case ctx.Err() != nil:
		return err
	case errors.Is(why, api.ErrTimedOut), errors.Is(why, api.ErrNoQuorum):
		return fmt.Errorf("%w: %w", api.ErrNoQuorum, err)
	case why == nil && noManager(out):
		return fmt.Errorf("%w: %w", api.ErrNoManager, err)
	}

	return err
}

func noManager(out []byte) bool {
	var stat struct {
		Available *bool `json:"available"`
	}

	return json.Unmarshal(out, &stat) == nil && stat.Available != nil && !*stat.Available
}
