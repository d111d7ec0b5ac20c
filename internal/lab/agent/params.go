// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// Kernel parameters that Ironic gives to its ramdisk.
const (
	paramAPI      = "ipa-api-url"
	paramToken    = "ipa-agent-token"
	paramCallback = "ipa-inspection-callback-url"
	paramNode     = "ipa-node-uuid" // not sent by Ironic; handy for tests
)

const (
	maxMedium  = 256 << 20
	maxConfig  = 1 << 20
	fetchTries = 3
)

var errNoNetboot = errors.New("nobody answers the network boot")

// bootParams finds the kernel parameters in what a machine boots; nil: there is no agent in it.
func (w *watcher) bootParams(m machine.Machine) (map[string]string, error) {
	switch {
	case m.Booted == "Pxe":
		return w.netbootParams(m.MACs)
	case m.Source == "":
		return nil, nil // the disk: there is nothing to find, and nothing wrong
	}

	image, err := w.fetch(m.Source, maxMedium)
	if err != nil {
		return nil, err
	}

	return Params(image), nil
}

// netbootParams reads what Ironic's PXE or iPXE boot interface wrote for one of the MACs.
func (w *watcher) netbootParams(macs []string) (map[string]string, error) {
	if w.o.Netboot == "" {
		return nil, errNoNetboot
	}

	for _, mac := range macs {
		config, err := w.get(w.o.Netboot+"/pxelinux.cfg/"+strings.ReplaceAll(mac, ":", "-"), maxConfig)
		if err == nil {
			return Params(config), nil
		}
	}

	return nil, errNoNetboot
}

// Params finds the kernel command line of a deployment ramdisk in a boot configuration or in a
// whole image: boot loader configurations are stored uncompressed in an ISO 9660 image. It
// returns nil where there is none.
func Params(image []byte) map[string]string {
	at := bytes.Index(image, []byte(paramAPI+"="))
	if at < 0 { // an inspection ramdisk is told nothing but the call-back URL
		at = bytes.Index(image, []byte(paramCallback+"="))
	}

	if at < 0 {
		return nil
	}

	start := bytes.LastIndexAny(image[:at], "\n\x00") + 1

	end := bytes.IndexAny(image[at:], "\n\x00")
	if end < 0 {
		end = len(image) - at
	}

	return parse(string(image[start : at+end]))
}

// parse splits key=value words; a value may be in double quotes and then hold spaces.
func parse(line string) map[string]string {
	params := map[string]string{}

	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeftFunc(line, unicode.IsSpace) {
		quoted := false
		end := strings.IndexFunc(line, func(c rune) bool {
			if c == '"' {
				quoted = !quoted
			}

			return unicode.IsSpace(c) && !quoted
		})

		if end < 0 {
			end = len(line)
		}

		if key, value, ok := strings.Cut(line[:end], "="); ok {
			params[key] = strings.Trim(value, `"`)
		}

		line = line[end:]
	}

	return params
}

// shown is the agent's parameters for people: without the token.
func shown(params map[string]string) string {
	var words []string

	for key, value := range params {
		if key == paramToken {
			value = "***"
		}

		if strings.HasPrefix(key, "ipa-") {
			words = append(words, key+"="+value)
		}
	}

	slices.Sort(words)

	return strings.Join(words, " ")
}

// fetch gets a URL, with patience: when many machines boot at once the server drops some.
func (w *watcher) fetch(url string, limit int64) ([]byte, error) {
	var err error

	for range fetchTries {
		var b []byte
		if b, err = w.get(url, limit); err == nil {
			return b, nil
		}

		if !pause(w.ctx, time.Second) {
			break
		}
	}

	return nil, err
}

func (w *watcher) get(url string, limit int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(w.ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("boot: %w", err)
	}

	resp, err := w.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("boot: %w", err)
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("boot: %s: %s", url, resp.Status)
	}

	b, err := io.ReadAll(io.LimitReader(resp.Body, limit))
	if err != nil {
		return nil, fmt.Errorf("boot: %s: %w", url, err)
	}

	return b, nil
}
