// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
)

var (
	md5    = strings.Repeat("a1", 16)
	sha256 = strings.Repeat("b2", 32)
	sha512 = strings.Repeat("c3", 64)
)

const sums = "http://images.example/SHA256SUMS"

func TestOBMH07_checksums(t *testing.T) {
	t.Parallel()

	type info = map[string]any

	cases := map[string]struct {
		sum, kind string
		want      info
		problem   string
	}{
		"sha256 by length":                      {sha256, "", info{"image_os_hash_algo": "sha256", "image_os_hash_value": sha256}, ""},
		"sha512 by length":                      {sha512, "", info{"image_os_hash_algo": "sha512", "image_os_hash_value": sha512}, ""},
		"auto is the same as nothing":           {sha512, "auto", info{"image_os_hash_algo": "sha512", "image_os_hash_value": sha512}, ""},
		"sha256 said aloud, in upper case":      {strings.ToUpper(sha256), "sha256", info{"image_os_hash_algo": "sha256", "image_os_hash_value": sha256}, ""},
		"md5 by length":                         {md5, "", info{"image_checksum": md5}, ""},
		"md5 said aloud":                        {md5, "md5", info{"image_checksum": md5}, ""},
		"a file without a type is left alone":   {sums, "", info{"image_checksum": sums}, ""},
		"a file of type auto is left alone":     {sums, "auto", info{"image_checksum": sums}, ""},
		"a file with a type sends no algorithm": {sums, "sha256", info{"image_checksum": sums}, ""},
		"md5 with 64 digits fails":              {sha256, "md5", nil, "checksum"},
		"sha256 with 128 digits fails":          {sha512, "sha256", nil, "checksum"},
		"63 digits fail":                        {sha256[1:], "", nil, "checksum"},
		"letters beyond f fail":                 {strings.Repeat("g", 64), "", nil, "checksum"},
		"a line of a file fails":                {sha256 + "  disk.qcow2", "", nil, "checksum"},
		"an unknown type fails":                 {sha256, "sha1", nil, "checksum_type"},
		"a file by FTP fails":                   {"ftp://h/SUMS", "", nil, "checksum"},
		"nothing fails":                         {"", "", nil, "checksum"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			i := image.Image{URL: "http://images.example/disk.qcow2", Checksum: tc.sum, ChecksumType: tc.kind}

			checkProblem(t, i.Validate(), tc.problem)

			if tc.want == nil {
				return
			}

			set, remove := i.InstanceInfo()
			tc.want["image_source"] = i.URL

			if !reflect.DeepEqual(set, tc.want) {
				t.Errorf("instance_info %v, want %v", set, tc.want)
			}

			for key := range set {
				if slices.Contains(remove, key) {
					t.Errorf("%s is both set and removed", key)
				}
			}

			if len(set)+len(remove) != 7 {
				t.Errorf("%d keys set and %v removed: some key keeps an old value", len(set), remove)
			}
		})
	}
}

// checkProblem checks that there is exactly one problem at a path, or none.
func checkProblem(t *testing.T, got []image.Problem, path string) {
	t.Helper()

	if path == "" && len(got) == 0 {
		return
	}

	if len(got) != 1 || got[0].Path != path || got[0].Text == "" {
		t.Errorf("problems %v, want one at %q", got, path)
	}
}

func TestImage_Validate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		image   image.Image
		problem string
	}{
		"a file of the conductor":          {image.Image{URL: "file:///images/a", Checksum: sha256}, ""},
		"live ISO needs no checksum":       {image.Image{URL: "https://h/a.iso", Format: "live-iso"}, ""},
		"live ISO ignores a checksum":      {image.Image{URL: "https://h/a.iso", Format: "live-iso", Checksum: "x"}, ""},
		"OCI needs no checksum":            {image.Image{URL: "OCI://registry/a:b"}, ""},
		"OCI takes no checksum":            {image.Image{URL: "oci://registry/a:b", Checksum: sha256}, "checksum"},
		"OCI has a host":                   {image.Image{URL: "oci:///a:b"}, "url"},
		"no URL":                           {image.Image{Checksum: sha256}, "url"},
		"a path is no URL":                 {image.Image{URL: "/images/a", Checksum: sha256}, "url"},
		"a word is no URL":                 {image.Image{URL: "disk.qcow2", Checksum: sha256}, "url"},
		"FTP is not fetched by Ironic":     {image.Image{URL: "ftp://h/a", Checksum: sha256}, "url"},
		"HTTP needs a host":                {image.Image{URL: "http:///a", Checksum: sha256}, "url"},
		"format raw":                       {image.Image{URL: "http://h/a", Checksum: sha256, Format: "raw"}, ""},
		"format iso is not one of ours":    {image.Image{URL: "http://h/a", Checksum: sha256, Format: "iso"}, "format"},
		"upper case is not the same":       {image.Image{URL: "http://h/a", Checksum: sha256, Format: "QCOW2"}, "format"},
		"the URL is not repeated to users": {image.Image{URL: "gopher://u:S3cret@h/a", Checksum: sha256}, "url"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			problems := tc.image.Validate()
			checkProblem(t, problems, tc.problem)

			for _, p := range problems {
				if strings.Contains(p.Text, "S3cret") {
					t.Errorf("the problem repeats a secret: %s", p.Text)
				}
			}
		})
	}
}

func TestImage_InstanceInfo(t *testing.T) {
	t.Parallel()

	iso := image.Image{URL: "https://h/a.iso", Format: "live-iso", Checksum: sha256}

	set, remove := iso.InstanceInfo()
	if !reflect.DeepEqual(set, map[string]any{"boot_iso": "https://h/a.iso"}) {
		t.Errorf("live ISO: %v, want boot_iso only", set)
	}

	for _, key := range []string{"image_source", "image_checksum", "image_os_hash_algo", "image_os_hash_value", "image_disk_format", "image_pull_secret"} {
		if !slices.Contains(remove, key) {
			t.Errorf("live ISO does not remove %s", key)
		}
	}

	set, remove = image.Image{URL: "oci://r/a:b", Format: "qcow2"}.InstanceInfo()
	if !reflect.DeepEqual(set, map[string]any{"image_source": "oci://r/a:b", "image_disk_format": "qcow2"}) {
		t.Errorf("OCI: %v, want source and format", set)
	}

	if slices.Contains(remove, "image_pull_secret") {
		t.Error("OCI removes the pull secret that the caller sets")
	}
}

func TestFromInstanceInfo_roundTrip(t *testing.T) {
	t.Parallel()

	for _, i := range []image.Image{
		{URL: "http://h/a", Checksum: sha256},
		{URL: "http://h/a", Checksum: strings.ToUpper(sha512), ChecksumType: "sha512", Format: "qcow2"},
		{URL: "http://h/a", Checksum: md5, ChecksumType: "md5"},
		{URL: "http://h/a", Checksum: sums, ChecksumType: "auto", Format: "raw"},
		{URL: "oci://r/a:b"},
		{URL: "http://h/a.iso", Format: "live-iso"},
	} {
		set, _ := i.InstanceInfo()
		before := maps.Clone(set)

		got, there := image.FromInstanceInfo(set)
		if !there || !image.Same(got, i) {
			t.Errorf("%v came back as %v (there: %v)", i, got, there)
		}

		if problems := got.Validate(); len(problems) > 0 {
			t.Errorf("%v came back with problems %v", i, problems)
		}

		if !reflect.DeepEqual(set, before) {
			t.Errorf("the map was changed to %v", set)
		}
	}

	for name, info := range map[string]map[string]any{
		"nothing":     nil,
		"other keys":  {"root_device": map[string]any{}},
		"wrong types": {"image_source": 5, "boot_iso": nil},
	} {
		if got, there := image.FromInstanceInfo(info); there {
			t.Errorf("%s gave the image %v", name, got)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()

	base := image.Image{URL: "http://h/a", Checksum: sha256}

	cases := map[string]struct {
		other image.Image
		same  bool
	}{
		"a type that the length gives anyway": {image.Image{URL: "http://h/a", Checksum: sha256, ChecksumType: "sha256"}, true},
		"another spelling of the digits":      {image.Image{URL: "http://h/a", Checksum: strings.ToUpper(sha256)}, true},
		"another URL":                         {image.Image{URL: "http://h/b", Checksum: sha256}, false},
		"another checksum":                    {image.Image{URL: "http://h/a", Checksum: sha512}, false},
		"another format":                      {image.Image{URL: "http://h/a", Checksum: sha256, Format: "raw"}, false},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if image.Same(base, tc.other) != tc.same {
				t.Errorf("Same(%v, %v) = %v", base, tc.other, !tc.same)
			}
		})
	}
}
