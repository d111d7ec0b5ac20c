// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package figures_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// raw passes messages of gRPC on as they are.
type raw struct{}

func (raw) Marshal(any) ([]byte, error) { return nil, nil }
func (raw) Name() string                { return "proto" }

func (raw) Unmarshal(data []byte, v any) error {
	if b, ok := v.(*[]byte); ok {
		*b = append([]byte(nil), data...)
	}

	return nil
}

// TestFigures_start measures from the start of the process to the answer with the schema.
func TestFigures_start(t *testing.T) {
	needed(t)

	bin := acctest.Binary(t)

	var times []time.Duration
	for range 5 * rounds {
		times = append(times, startOnce(t, bin))
	}

	figure(t, "start of the provider, to the first answer with the schema", float64(median(times).Milliseconds()), 150, "ms", "median of 15 starts in a row: process, handshake, GetProviderSchema")
}

func startOnce(t *testing.T, bin string) time.Duration {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	cmd := exec.CommandContext(ctx, bin)
	cmd.Env = append(os.Environ(), "TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2", "PLUGIN_PROTOCOL_VERSIONS=6")

	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	start := time.Now()

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()

	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}

	parts := strings.Split(strings.TrimSpace(line), "|")
	if len(parts) < 4 {
		t.Fatalf("handshake: %q", line)
	}

	conn, err := grpc.NewClient("unix://"+parts[3], grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	var schema []byte
	if err := conn.Invoke(ctx, "/tfplugin6.Provider/GetProviderSchema", nil, &schema); err != nil {
		t.Fatal(err)
	}

	took := time.Since(start)

	if len(schema) < 1000 {
		t.Fatalf("the schema has %d bytes", len(schema))
	}

	return took
}
