// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package images is the lab's image server: small images whose bytes follow from their names,
// and the files of their checksums.
//
// Any name that ends in .qcow2, .raw or .iso exists, so that a configuration needs no upload;
// a name with "missing" in it does not, so that a test can ask for an image that is not there.
package images

import (
	"crypto/md5"  //nolint:gosec // what old checksum files hold
	"crypto/sha1" //nolint:gosec // what old checksum files hold
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Host is the name under which the lab serves images.
const Host = "images.lab"

// size of an image: enough to be no accident, little enough to be made on each request.
const size = 64 << 10

// ErrNotFound says that the server is there and has no such file.
var ErrNotFound = errors.New("got HTTP code 404 instead of 200 in response to HEAD request")

// ErrUnreachable says that nothing in the lab answers to the host of a URL.
var ErrUnreachable = errors.New("failed to establish a new connection")

// Exists tells whether the lab serves an image of that name (the last element of a path).
func Exists(name string) bool {
	return slices.Contains([]string{".qcow2", ".raw", ".iso"}, path.Ext(name)) &&
		!strings.HasPrefix(name, ".") && !strings.Contains(name, "/") && !strings.Contains(name, "missing")
}

// Bytes returns the content of an image: always the same for the same name.
func Bytes(name string) []byte {
	b := make([]byte, 0, size)
	for block := sha256.Sum256([]byte(name)); len(b) < size; block = sha256.Sum256(block[:]) {
		b = append(b, block[:]...)
	}

	if path.Ext(name) == ".qcow2" {
		copy(b, "QFI\xfb\x00\x00\x00\x03")
	}

	return b
}

// Sum returns the checksum of an image in hexadecimal digits; "" for an unknown algorithm.
func Sum(name, algorithm string) string {
	var h hash.Hash

	switch algorithm {
	case "md5":
		h = md5.New() //nolint:gosec // a checksum against accidents
	case "sha1":
		h = sha1.New() //nolint:gosec // a checksum against accidents
	case "sha256":
		h = sha256.New()
	case "sha512":
		h = sha512.New()
	default:
		return ""
	}

	h.Write(Bytes(name))

	return hex.EncodeToString(h.Sum(nil))
}

// sumFiles are the checksum files and their algorithms.
var sumFiles = map[string]string{
	"MD5SUMS": "md5", "SHA1SUMS": "sha1", "SHA256SUMS": "sha256", "SHA512SUMS": "sha512",
}

// Names lists the images that the checksum files name.
func Names() []string {
	var all []string

	for _, base := range []string{
		"debian-11", "debian-12", "debian-13", "ubuntu-22.04", "ubuntu-24.04", "ubuntu-26.04", "fedora-43", "fedora-44",
		"rocky-9", "rocky-10", "alma-9", "alma-10", "centos-stream-9", "centos-stream-10", "cirros", "image", "live", "node",
	} {
		all = append(all, base+".iso", base+".qcow2", base+".raw")
	}

	return all
}

// Resolve returns the name of the image that a URL means, as a conductor of the lab sees it:
// a host that is not in the lab is out of reach.
func Resolve(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", fmt.Errorf("invalid URL: %w", err)
	}

	if !serves(u) {
		return "", fmt.Errorf("%w: host %q", ErrUnreachable, u.Host)
	}

	name := strings.TrimPrefix(u.Path, "/")
	if !Exists(name) {
		return "", ErrNotFound
	}

	return name, nil
}

// ResolveSum returns the checksum of an image and its algorithm from the URL of a checksum file.
func ResolveSum(rawURL, image string) (sum, algorithm string, err error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", "", fmt.Errorf("invalid URL: %w", err)
	}

	if !serves(u) {
		return "", "", fmt.Errorf("%w: host %q", ErrUnreachable, u.Host)
	}

	name := path.Base(u.Path)

	algorithm, ok := sumFiles[name]
	if !ok { // <image>.<algorithm>sum, as some distributions publish
		algorithm, ok = strings.CutSuffix(strings.TrimPrefix(path.Ext(name), "."), "sum")
	}

	if !ok || Sum(image, algorithm) == "" {
		return "", "", ErrNotFound
	}

	return Sum(image, algorithm), algorithm, nil
}

// serves tells whether a URL means this server: by its name, or by whatever loopback address a
// lab that listens on a real port has.
func serves(u *url.URL) bool {
	if u.Scheme != "http" && u.Scheme != "https" {
		return false
	}

	ip := net.ParseIP(u.Hostname())

	return u.Hostname() == Host || strings.HasSuffix(u.Hostname(), "."+Host) || ip != nil && ip.IsLoopback()
}
