// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

func TestQuiet_onlyWhereNobodyAskedForLogs(t *testing.T) {
	for name, c := range map[string]struct {
		environment []string
		want        string
	}{
		"nothing asked":         {[]string{"PATH=/bin"}, "OFF"},
		"an empty variable":     {[]string{"TF_LOG="}, "OFF"},
		"all logs asked":        {[]string{"TF_LOG=DEBUG"}, ""},
		"provider logs asked":   {[]string{"TF_LOG_PROVIDER=INFO"}, ""},
		"the SDK's logs asked":  {[]string{"TF_LOG_SDK=TRACE"}, ""},
		"another tool's switch": {[]string{"TF_LOGICAL=1", "TF_INPUT=0"}, "OFF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TF_LOG_SDK", "")
			provider.Quiet(c.environment)

			if got := os.Getenv("TF_LOG_SDK"); got != c.want {
				t.Errorf("TF_LOG_SDK is %q, want %q", got, c.want)
			}
		})
	}
}

func TestLeave_onlyWhenTerraformIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var parent, code atomic.Int64
		parent.Store(4711)
		code.Store(-1)

		go provider.Leave(t.Context(), func() int { return int(parent.Load()) }, func(c int) { code.Store(int64(c)) })

		time.Sleep(time.Hour)
		synctest.Wait()

		if code.Load() != -1 {
			t.Fatalf("ended with %d although Terraform is there", code.Load())
		}

		parent.Store(1)

		time.Sleep(3 * time.Second)
		synctest.Wait()

		if code.Load() != 1 {
			t.Errorf("code %d although Terraform is gone", code.Load())
		}
	})
}
