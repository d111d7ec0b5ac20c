// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cloudinit asks Debian's cloud-init what it makes of what machines are given: of user
// data, and of network data. It is unpacked by scripts/lab/cloud-init.sh and never installed.
package cloudinit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// command returns the command that runs cloud-init. It skips where there is none, and in a short run.
func command(t *testing.T) string {
	t.Helper()

	if testing.Short() {
		t.Skip("this is the short run")
	}

	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache")
	}

	program := filepath.Join(cache, "terraform-provider-metal3", "cloud-init", "cloud-init")
	if _, err := os.Stat(program); err != nil {
		acctest.Missing(t, "cloud-init (scripts/setup.sh cloudinit)")
	}

	return program
}

// Schema fails the test where user data, cloud-config without a template's header, do not pass
// cloud-init's own schema.
func Schema(t *testing.T, userData []byte) {
	t.Helper()

	if err := CheckSchema(t, userData); err != nil {
		t.Errorf("%v\nof these user data:\n%s", err, userData)
	}
}

// CheckSchema is [Schema] that returns what cloud-init objects to.
func CheckSchema(t *testing.T, userData []byte) error {
	t.Helper()

	return run(t, "schema", "--config-file", write(t, "user_data", userData))
}

// Convert returns the netplan that cloud-init makes of network data (network_data.json), on a
// machine that has the network cards which the data speak of. It fails the test where there is none.
func Convert(t *testing.T, networkData []byte) string {
	t.Helper()

	plan, err := ConvertOn(t, networkData, cards(t, networkData))
	if err != nil {
		t.Fatalf("%v\nof these network data:\n%s", err, networkData)
	}

	return plan
}

// ConvertOn is [Convert] for a machine with these network cards, MAC addresses by name, that
// returns what cloud-init stumbles over.
func ConvertOn(t *testing.T, networkData []byte, nics map[string]string) (string, error) {
	t.Helper()

	out := t.TempDir()
	args := []string{"devel", "net-convert", "-p", write(t, "network_data.json", networkData), "-k", "network_data.json", "-d", out, "-D", "debian", "-O", "netplan"}

	for name, mac := range nics {
		args = append(args, "-m", name+","+strings.ToLower(mac))
	}

	if err := run(t, args...); err != nil {
		return "", err
	}

	plan, err := os.ReadFile(filepath.Join(out, "etc", "netplan", "50-cloud-init.yaml"))
	if err != nil {
		return "", fmt.Errorf("cloud-init wrote no netplan: %w", err)
	}

	return string(plan), nil
}

// cards returns the network cards that network data speak of: with the name that they give, else nic0, nic1 and so on.
func cards(t *testing.T, networkData []byte) map[string]string {
	t.Helper()

	var data struct {
		Links []struct {
			Type string `json:"type"`
			Name string `json:"name"`
			MAC  string `json:"ethernet_mac_address"`
		} `json:"links"`
	}

	if err := json.Unmarshal(networkData, &data); err != nil {
		t.Fatalf("network data: %v", err)
	}

	all := map[string]string{}

	for i, link := range data.Links {
		if link.Type == "bond" || link.Type == "vlan" || link.MAC == "" {
			continue
		}

		if link.Name == "" {
			link.Name = fmt.Sprintf("nic%d", i)
		}

		all[link.Name] = link.MAC
	}

	return all
}

func run(t *testing.T, args ...string) error {
	t.Helper()

	var said bytes.Buffer

	cmd := exec.CommandContext(t.Context(), command(t), args...)
	cmd.Stdout, cmd.Stderr = &said, &said

	if err := cmd.Run(); err != nil {
		return errors.New("cloud-init " + args[0] + ": " + err.Error() + ": " + strings.TrimSpace(said.String()))
	}

	return nil
}

func write(t *testing.T, name string, content []byte) string {
	t.Helper()

	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}

	return file
}
