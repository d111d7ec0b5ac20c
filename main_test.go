// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"
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
			quiet(c.environment)

			if got := os.Getenv("TF_LOG_SDK"); got != c.want {
				t.Errorf("TF_LOG_SDK is %q, want %q", got, c.want)
			}
		})
	}
}
