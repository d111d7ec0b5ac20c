// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"bytes"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

// Handler serves the images and their checksum files.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")

		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)

			return
		}

		switch image, algorithm := single(name); {
		case sumFiles[name] != "":
			serve(w, r, name, sums(sumFiles[name]))
		case Exists(name):
			serve(w, r, name, Bytes(name))
		case image != "":
			serve(w, r, name, fmt.Appendf(nil, "%s  %s\n", Sum(image, algorithm), image))
		default:
			http.NotFound(w, r)
		}
	})
}

// serve answers ranges and HEAD too; no time of change, so nothing is cached.
func serve(w http.ResponseWriter, r *http.Request, name string, content []byte) {
	if !Exists(name) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	} else {
		w.Header().Set("Content-Type", "application/octet-stream")
	}

	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}

// single splits the name of a file that holds the checksum of one image: live.iso.sha256sum.
func single(name string) (image, algorithm string) {
	algorithm, ok := strings.CutSuffix(strings.TrimPrefix(path.Ext(name), "."), "sum")
	image = strings.TrimSuffix(name, path.Ext(name))

	if !ok || !Exists(image) || Sum(image, algorithm) == "" {
		return "", ""
	}

	return image, algorithm
}

func sums(algorithm string) []byte {
	var b []byte
	for _, name := range Names() {
		b = fmt.Appendf(b, "%s  %s\n", Sum(name, algorithm), name)
	}

	return b
}
