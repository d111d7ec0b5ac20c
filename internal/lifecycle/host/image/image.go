// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package image turns an image and root device hints into Ironic's words, and back.
//
// It is pure: nothing is downloaded, not even a checksum file. What the deploy ramdisk
// can find out is left to it.
package image

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// Image is what is put onto a machine's disk, or booted as it is.
type Image struct {
	URL          string
	Checksum     string // digits, or the URL of a file of checksums
	ChecksumType string // md5, sha256, sha512; auto and "" leave it to length or file
	Format       string // raw, qcow2, vdi, vmdk, live-iso; "" leaves it to Ironic
}

// Formats and checksum types that need a word of their own.
const (
	LiveISO = "live-iso" // booted from virtual media, never written to a disk
	Auto    = "auto"
)

// Formats are the formats of an image.
var Formats = []string{"raw", "qcow2", "vdi", "vmdk", LiveISO}

// ChecksumTypes are the types of a checksum.
var ChecksumTypes = []string{"md5", "sha256", "sha512", Auto}

// Problem is one thing that is wrong with a value, and where.
type Problem struct {
	Path string // name of the attribute below the object
	Text string // a sentence for people
}

// digits is the length of each kind of checksum in hexadecimal digits.
var digits = map[string]int{"md5": 32, "sha256": 64, "sha512": 128}

// Keys of Ironic's instance_info.
const (
	keySource   = "image_source"
	keyFormat   = "image_disk_format"
	keyChecksum = "image_checksum"
	keyAlgo     = "image_os_hash_algo"
	keyValue    = "image_os_hash_value"
	keySecret   = "image_pull_secret" //nolint:gosec // the name of a key
	keyISO      = "boot_iso"
)

// ChecksumType names the kind of a literal checksum by its length.
func ChecksumType(sum string) (string, error) {
	sum = strings.TrimSpace(sum)
	if !isHex(sum) {
		return "", errors.New("a checksum consists of hexadecimal digits only")
	}

	for kind, length := range digits {
		if len(sum) == length {
			return kind, nil
		}
	}

	return "", fmt.Errorf("a checksum of %d digits is of no known type: md5 has 32, sha256 has 64, sha512 has 128", len(sum))
}

func isHex(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) })
}

// IsOCI reports whether the image comes from an OCI registry, which has its own checksums.
func (i Image) IsOCI() bool { return len(i.URL) >= 6 && strings.EqualFold(i.URL[:6], "oci://") }

// IsLiveISO reports whether the image is booted instead of written.
func (i Image) IsLiveISO() bool { return i.Format == LiveISO }

// Validate returns what is wrong with the image. It never repeats a URL, which may hold a token.
func (i Image) Validate() []Problem {
	problems := i.validateURL()

	if i.Format != "" && !slices.Contains(Formats, i.Format) {
		problems = append(problems, Problem{"format", fmt.Sprintf("the format %q is not one of %s", i.Format, strings.Join(Formats, ", "))})
	}

	if i.ChecksumType != "" && !slices.Contains(ChecksumTypes, i.ChecksumType) {
		problems = append(problems, Problem{"checksum_type", fmt.Sprintf("the checksum type %q is not one of %s", i.ChecksumType, strings.Join(ChecksumTypes, ", "))})
	}

	switch {
	case i.IsLiveISO():
		return problems // Ironic checks no checksum of an ISO image
	case i.IsOCI():
		if i.Checksum != "" {
			problems = append(problems, Problem{"checksum", "an image from an OCI registry takes no checksum: its manifest holds one"})
		}

		return problems
	case strings.TrimSpace(i.Checksum) == "":
		return append(problems, Problem{"checksum", "an image needs a checksum: digits of md5, sha256 or sha512, or the URL of a file of checksums " +
			`(only oci:// and format = "live-iso" need none)`})
	}

	return append(problems, i.validateChecksum()...)
}

func (i Image) validateURL() []Problem {
	u, err := url.ParseRequestURI(i.URL)

	switch {
	case i.URL == "":
		return []Problem{{"url", "an image needs a URL"}}
	case err != nil || u.Scheme == "":
		return []Problem{{"url", "this is not an absolute URL"}}
	}

	switch u.Scheme {
	case "http", "https", "oci":
		if u.Host == "" {
			return []Problem{{"url", "the URL names no host"}}
		}
	case "file": // a file of the conductor
	default:
		return []Problem{{"url", fmt.Sprintf("Ironic cannot fetch images by %q: use http, https, oci or file", u.Scheme)}}
	}

	return nil
}

func (i Image) validateChecksum() []Problem {
	if isURL(i.Checksum) {
		u, err := url.Parse(i.Checksum)
		if err != nil || !slices.Contains([]string{"http", "https", "file"}, strings.ToLower(u.Scheme)) {
			return []Problem{{"checksum", "the URL of a file of checksums must be one of http, https or file"}}
		}

		return nil
	}

	kind, err := ChecksumType(i.Checksum)
	if err != nil {
		return []Problem{{"checksum", err.Error()}}
	}

	if want, explicit := digits[i.ChecksumType]; explicit && kind != i.ChecksumType {
		return []Problem{{"checksum", fmt.Sprintf("a checksum of type %s has %d digits, this one has the %d of %s",
			i.ChecksumType, want, digits[kind], kind)}}
	}

	return nil
}

func isURL(s string) bool { return strings.Contains(s, "://") }

// InstanceInfo returns the keys of instance_info to set for the image, and those to remove.
//
// The pull secret of an OCI image is not here: it is a secret, the caller sets or removes it.
func (i Image) InstanceInfo() (set map[string]any, remove []string) {
	set = map[string]any{}
	all := []string{keySource, keyFormat, keyChecksum, keyAlgo, keyValue, keySecret, keyISO}

	switch {
	case i.IsLiveISO():
		set[keyISO] = i.URL
	default:
		set[keySource] = i.URL

		if i.Format != "" {
			set[keyFormat] = i.Format
		}

		maps.Copy(set, i.checksum())
	}

	for _, key := range all {
		_, there := set[key]
		if !there && (key != keySecret || !i.IsOCI()) {
			remove = append(remove, key)
		}
	}

	return set, remove
}

// checksum returns the keys for the checksum.
//
// There is never an algorithm without a value, nor md5 where nobody said so. A file goes
// out as it is: Ironic finds the line of the image in it, and the type by its length.
func (i Image) checksum() map[string]any {
	sum := strings.TrimSpace(i.Checksum)

	switch {
	case sum == "" || i.IsOCI():
		return nil
	case isURL(sum):
		return map[string]any{keyChecksum: sum}
	}

	sum = strings.ToLower(sum) // the ramdisk compares with lower-case digits

	kind, err := ChecksumType(sum)
	if err != nil || kind == "md5" {
		return map[string]any{keyChecksum: sum}
	}

	return map[string]any{keyAlgo: kind, keyValue: sum}
}

// FromInstanceInfo reads an image from a node, and says whether there was one.
func FromInstanceInfo(info map[string]any) (Image, bool) {
	text := func(key string) string {
		s, _ := info[key].(string)

		return s
	}

	if iso := text(keyISO); iso != "" {
		return Image{URL: iso, Format: LiveISO}, true
	}

	i := Image{URL: text(keySource), Format: text(keyFormat)}
	if i.URL == "" {
		return Image{}, false
	}

	switch value, algo := text(keyValue), text(keyAlgo); {
	case i.IsOCI():
	case value != "":
		i.Checksum, i.ChecksumType = value, algo
	default:
		i.Checksum = text(keyChecksum)
		if kind, err := ChecksumType(i.Checksum); err == nil {
			i.ChecksumType = kind
		}
	}

	return i, true
}

// Same reports whether two images mean the same to Ironic, however they are written.
func Same(a, b Image) bool {
	x, _ := a.InstanceInfo()
	y, _ := b.InstanceInfo()

	return reflect.DeepEqual(x, y)
}
