// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The entities that a cluster begins with.
const (
	EntityMon   = "mon."
	EntityAdmin = "client.admin"
)

// NewFSID returns a random name for a new cluster.
func NewFSID() string { return uuid.NewString() }

// keyType is AES, the one kind of key that all releases take.
const keyType = 1

// NewKey makes a key for cephx: base64 of type, time of its making (seconds and nanoseconds),
// length, all little-endian, and 16 random bytes.
func NewKey(made time.Time) Secret {
	var random [16]byte

	_, _ = rand.Read(random[:]) // it never fails

	raw := binary.LittleEndian.AppendUint16(nil, keyType)
	raw = binary.LittleEndian.AppendUint32(raw, uint32(made.Unix()))       //nolint:gosec // the format ends in 2106
	raw = binary.LittleEndian.AppendUint32(raw, uint32(made.Nanosecond())) //nolint:gosec // less than 10^9
	raw = binary.LittleEndian.AppendUint16(raw, uint16(len(random)))
	raw = append(raw, random[:]...)

	return Secret(base64.StdEncoding.EncodeToString(raw))
}

// ValidKey tells whether a text is a key for cephx.
func ValidKey(s Secret) bool {
	raw, err := base64.StdEncoding.DecodeString(string(s))
	if err != nil || len(raw) < 12 {
		return false
	}

	return binary.LittleEndian.Uint16(raw) == keyType && int(binary.LittleEndian.Uint16(raw[10:])) == len(raw)-12
}

// Entry is one entity of a keyring.
type Entry struct {
	Entity string // mon., client.admin, osd.3
	Key    Secret
	Caps   map[string]string // mon, osd, mds, mgr
}

// Keyring is the text of a keyring file.
func Keyring(entries ...Entry) []byte {
	var b bytes.Buffer

	for _, e := range entries {
		b.WriteString("[" + e.Entity + "]\n\tkey = " + string(e.Key) + "\n")

		for _, daemon := range slices.Sorted(maps.Keys(e.Caps)) {
			b.WriteString("\tcaps " + daemon + " = \"" + e.Caps[daemon] + "\"\n")
		}
	}

	return b.Bytes()
}

// AdminKeyring is the keyring file of client.admin.
func AdminKeyring(admin Secret) []byte { return Keyring(adminEntry(admin)) }

// SeedKeyring is the keyring that the first monitors are made with: the secret that they share,
// and client.admin.
func SeedKeyring(mon, admin Secret) []byte {
	return Keyring(Entry{Entity: EntityMon, Key: mon, Caps: map[string]string{"mon": "allow *"}}, adminEntry(admin))
}

// DaemonKeyring is the keyring file of a daemon in its folder.
func DaemonKeyring(d Daemon, key Secret) []byte { return Keyring(Entry{Entity: d.String(), Key: key}) }

func adminEntry(key Secret) Entry {
	return Entry{Entity: EntityAdmin, Key: key, Caps: map[string]string{
		"mds": "allow *", "mgr": "allow *", "mon": "allow *", "osd": "allow *",
	}}
}

// ParseKeyring reads a keyring file. What it does not understand it leaves out.
func ParseKeyring(text []byte) []Entry {
	var all []Entry

	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			name, _, _ = strings.Cut(name, "]")
			all = append(all, Entry{Entity: strings.TrimSpace(name), Caps: map[string]string{}})

			continue
		}

		key, value, found := strings.Cut(line, "=")
		if !found || len(all) == 0 || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}

		key, value = strings.Join(strings.Fields(key), " "), strings.Trim(strings.TrimSpace(value), `"`)
		last := &all[len(all)-1]

		if daemon, ok := strings.CutPrefix(key, "caps "); ok {
			last.Caps[daemon] = value
		} else if key == "key" {
			last.Key = Secret(value)
		}
	}

	return all
}

// KeyOf returns the key of an entity in a keyring file; empty: it has none.
func KeyOf(keyring []byte, entity string) Secret {
	for _, e := range ParseKeyring(keyring) {
		if e.Entity == entity {
			return e.Key
		}
	}

	return ""
}
