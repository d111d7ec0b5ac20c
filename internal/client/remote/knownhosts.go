// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

const defaultKnownHosts = "~/.ssh/known_hosts"

// named is an address that is a name: a lab's connections have no other.
type named string

func (named) Network() string  { return "tcp" }
func (n named) String() string { return string(n) }

// knownFile is what a known_hosts file says of one host.
type knownFile struct {
	name        string
	addr        named
	check       ssh.HostKeyCallback
	keys        []ssh.PublicKey
	authorities []ssh.PublicKey // that sign the host's certificates: lines with @cert-authority
}

// knownKeys takes the keys of a known_hosts file. A file that is not there knows nobody.
func (c Config) knownKeys() (*keyCheck, error) {
	file := c.KnownHostsFile
	if file == "" {
		file = defaultKnownHosts
	}

	path := home(file)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && c.KnownHostsFile == "" {
		path = os.DevNull
	}

	raw, err := os.ReadFile(path) //nolint:gosec // the user names the file
	if err != nil {
		return nil, fmt.Errorf("%w: known_hosts: %w", ErrConfig, err)
	}

	check, err := knownhosts.New(path)
	if err != nil {
		return nil, fmt.Errorf("%w: known_hosts: %w", ErrConfig, err)
	}

	f := &knownFile{name: file, addr: named(c.addr()), check: check}
	f.authorities = slices.DeleteFunc(authorities(raw), func(key ssh.PublicKey) bool { return !f.signs(key) })
	f.keys = f.without(f.wanted())

	k := &keyCheck{judge: f.judge}

	// A host with several keys must show one that the file has. An authority's host may have a
	// certificate of any kind, which the SSH library asks for first where it may ask for all.
	if len(f.keys) > 0 {
		k.algorithms = algorithms(f.keys)

		if len(f.authorities) > 0 {
			k.algorithms = append(slices.Clone(certificates), k.algorithms...)
		}
	}

	return k, nil
}

// certificates are the kinds of host certificates.
var certificates = []string{
	ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01, ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01,
}

// authorities are the keys of all lines with @cert-authority.
func authorities(raw []byte) []ssh.PublicKey {
	var all []ssh.PublicKey

	for line := range bytes.Lines(raw) {
		marker, _, key, _, _, err := ssh.ParseKnownHosts(line)
		if err == nil && marker == "cert-authority" {
			all = append(all, key)
		}
	}

	return all
}

// signs tells whether an authority signs the certificates of the host: the file's refusal of a
// certificate that nobody signed has another reason then.
func (f *knownFile) signs(authority ssh.PublicKey) bool {
	unsigned := func(by ssh.PublicKey) string {
		return fmt.Sprint(f.certificate(&ssh.Certificate{CertType: ssh.HostCert, Key: authority, SignatureKey: by}))
	}

	return unsigned(authority) != unsigned(nobody{})
}

// certificate judges a certificate. As OpenSSH does, it looks for the host without its port,
// too: a line for "*" means all ports.
func (f *knownFile) certificate(cert *ssh.Certificate) error {
	err := f.check(string(f.addr), f.addr, cert)

	host, port, _ := net.SplitHostPort(string(f.addr))
	if err == nil || port == strconv.Itoa(DefaultPort) {
		return err
	}

	plain := named(net.JoinHostPort(host, strconv.Itoa(DefaultPort)))
	if second := f.check(string(plain), plain, cert); second == nil || strings.HasPrefix(err.Error(), noAuthority) {
		return second
	}

	return err
}

// noAuthority are the library's words for a certificate of an authority that the file does
// not have for a host.
const noAuthority = "ssh: no authorities for hostname: "

// wanted asks a known_hosts file which keys it has for an address: with a key that nobody has,
// the refusal lists them. Without this a host with several keys shows one the file lacks.
func (f *knownFile) wanted() []ssh.PublicKey {
	var other *knownhosts.KeyError
	if errors.As(f.check(string(f.addr), f.addr, nobody{}), &other) {
		return known(other)
	}

	return nil
}

// without leaves the authorities away: the library lists them with a host's keys.
func (f *knownFile) without(keys []ssh.PublicKey) []ssh.PublicKey {
	return slices.DeleteFunc(keys, func(k ssh.PublicKey) bool {
		return slices.ContainsFunc(f.authorities, func(a ssh.PublicKey) bool { return sameKey(a, k) })
	})
}

func (f *knownFile) judge(key ssh.PublicKey) error {
	cert, ok := key.(*ssh.Certificate)
	if !ok {
		return f.failure(f.check(string(f.addr), f.addr, key), key)
	}

	err := f.certificate(cert)

	switch {
	case err == nil:
		return nil
	// Nobody here knows the authority: what counts is the key, as for OpenSSH.
	case strings.HasPrefix(err.Error(), noAuthority):
		return f.failure(f.check(string(f.addr), f.addr, cert.Key), key)
	default:
		return fmt.Errorf("%w: the host shows %s: %w", ErrHostKey, fingerprint(key), err)
	}
}

// failure is what the refusal of a key means that no authority vouches for.
func (f *knownFile) failure(err error, key ssh.PublicKey) error {
	var (
		other   *knownhosts.KeyError
		revoked *knownhosts.RevokedError
	)

	switch {
	case err == nil:
		return nil
	case errors.As(err, &revoked):
		return fmt.Errorf("%w: the host shows %s, which %s says is revoked", ErrHostKey, fingerprint(key), f.name)
	case !errors.As(err, &other):
		return fmt.Errorf("%w: the host shows %s: %w", ErrHostKey, fingerprint(key), err)
	case len(f.keys) > 0 && len(other.Want) > 0:
		line := slices.IndexFunc(other.Want, func(k knownhosts.KnownKey) bool { return sameKey(k.Key, f.keys[0]) })
		where := fmt.Sprintf("%s:%d", f.name, other.Want[max(line, 0)].Line)

		return fmt.Errorf("%w: the host shows %s, and %s says %s: if the host was installed anew, remove the old line "+
			"(ssh-keygen -R) and add the new key; else somebody else answers in its place",
			ErrHostKey, fingerprint(key), where, fingerprints(f.keys))
	case len(f.authorities) > 0:
		return fmt.Errorf("%w: the host shows %s, and %s wants a certificate of the authority %s: sign the host's key (HostCertificate of its sshd), "+
			"or add the key there", ErrHostKey, fingerprint(key), f.name, fingerprints(f.authorities))
	default:
		return fmt.Errorf("%w: the host shows %s, and %s has no key of %s: compare it with the host's own "+
			"(ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub, on the host), then add it there or set host_key",
			ErrHostKey, fingerprint(key), f.name, string(f.addr))
	}
}

func known(e *knownhosts.KeyError) []ssh.PublicKey {
	keys := make([]ssh.PublicKey, 0, len(e.Want))
	for _, k := range e.Want {
		keys = append(keys, k.Key)
	}

	return keys
}

// nobody is a key that no host has.
type nobody struct{}

func (nobody) Type() string                        { return "nobody" }
func (nobody) Marshal() []byte                     { return []byte("nobody") }
func (nobody) Verify([]byte, *ssh.Signature) error { return errors.New("nobody's key") }
