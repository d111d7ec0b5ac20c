// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// derived is a key that depends on nothing but its purpose. It protects nothing: whoever
// reaches a lab may use it.
func derived(purpose string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("metal3 lab " + purpose))

	return ed25519.NewKeyFromSeed(seed[:])
}

// hostKey is the host key of a machine, of a generation: 0 is the one that the lab tells.
func hostKey(name string, generation int) ssh.Signer {
	key, err := ssh.NewSignerFromSigner(derived(fmt.Sprintf("host key %s %d", name, generation)))
	if err != nil {
		panic(err) // an ed25519 key is a key
	}

	return key
}

// HostKey is a machine's public host key as a line of authorized_keys: "ssh-ed25519 AAAA…".
func HostKey(name string) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(hostKey(name, 0).PublicKey())))
}

// ClientKey is a private key that all machines take. They take any other as well.
func ClientKey() string {
	block, err := ssh.MarshalPrivateKey(derived("client key"), "metal3 lab")
	if err != nil {
		panic(err) // an ed25519 key is a key
	}

	return string(pem.EncodeToMemory(block))
}
