// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	maxFile   = 64 << 20
	fileLimit = 10 * time.Minute // 64 MiB over a slow line
)

// errNoFiles says that a link has no way of its own to move files.
var errNoFiles = errors.New("no file transfer")

// mover is a link that moves files by itself, as the user who logged in.
type mover interface {
	readFile(ctx context.Context, path string) ([]byte, error)
	writeFile(ctx context.Context, temporary, path string, data []byte, mode fs.FileMode) error
}

// ReadFile reads a whole file; see Host.
func (h *host) ReadFile(ctx context.Context, name string) ([]byte, error) {
	data, err := h.readFile(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: read %s: %w", h.Name(), name, err)
	}

	return data, nil
}

func (h *host) readFile(ctx context.Context, name string) ([]byte, error) {
	if m, ok := h.link.(mover); ok && !h.sudo {
		data, err := m.readFile(ctx, name)

		switch {
		case errors.Is(err, errNoFiles):
		case errors.Is(err, fs.ErrNotExist):
			return nil, ErrNotFound
		default:
			return data, err
		}
	}

	r, err := h.Run(ctx, Command{Args: []string{"cat", "--", name}, Limit: fileLimit, MaxOutput: maxFile})

	switch {
	case err != nil:
		return nil, err
	case r.Exit == 0:
		return r.Stdout, nil
	case bytes.Contains(r.Stderr, []byte("No such file or directory")):
		return nil, ErrNotFound
	default:
		return nil, failed(r)
	}
}

// writeScript replaces a file: $1 is the temporary file beside it, $2 the file, $3 its owner,
// $4 its mode, $5 the length. An input that ended early must not become the file.
const writeScript = `# metal3: write-file
set -e
umask 077
trap 'rm -f -- "$1"' EXIT
trap 'exit 143' TERM HUP INT
[ ! -d "$2" ] || { echo "it is a directory" >&2; exit 1; }
cat >"$1"
n=$(wc -c <"$1")
[ "$n" -eq "$5" ] || { echo "$n of $5 bytes came" >&2; exit 1; }
[ -z "$3" ] || chown -- "$3" "$1"
chmod -- "$4" "$1"
sync -- "$1" 2>/dev/null || sync
mv -f -- "$1" "$2"
trap - EXIT
`

var ownerPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@-]*(:[A-Za-z0-9_][A-Za-z0-9_.@-]*)?$`)

// WriteFile replaces a file in one step; see Host.
func (h *host) WriteFile(ctx context.Context, name string, data []byte, owner string, mode fs.FileMode) error {
	if err := h.writeFile(ctx, name, data, owner, mode); err != nil {
		return fmt.Errorf("%s: write %s: %w", h.Name(), name, err)
	}

	return nil
}

func (h *host) writeFile(ctx context.Context, name string, data []byte, owner string, mode fs.FileMode) error {
	switch {
	case len(data) > maxFile:
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLong, len(data), maxFile)
	case owner != "" && !ownerPattern.MatchString(owner):
		return fmt.Errorf("%w: owner %q is not user or user:group", ErrConfig, owner)
	case name == "" || strings.HasSuffix(name, "/"):
		return fmt.Errorf("%w: %q is not the name of a file", ErrConfig, name)
	}

	temporary := path.Join(path.Dir(name), "."+path.Base(name)+".metal3-"+newToken()[:8])

	if m, ok := h.link.(mover); ok && !h.sudo && owner == "" {
		err := m.writeFile(ctx, temporary, name, data, mode)

		switch {
		case errors.Is(err, errNoFiles):
		case errors.Is(err, fs.ErrNotExist):
			return ErrNotFound // the directory
		default:
			return err
		}
	}

	r, err := h.Run(ctx, Command{
		Script: writeScript,
		Params: []string{temporary, name, owner, fmt.Sprintf("%04o", mode.Perm()), strconv.Itoa(len(data))},
		Stdin:  data, Limit: fileLimit,
	})

	switch {
	case err != nil:
		return also(err, h.tidy(ctx, temporary, err))
	case r.Exit == 0:
		return nil
	case bytes.Contains(r.Stderr, []byte("No such file or directory")), bytes.Contains(r.Stderr, []byte("nonexistent")):
		return ErrNotFound
	default:
		return failed(r)
	}
}

// tidy removes what a write left that was ended or lost, where it may have begun: it may hold
// a secret.
func (h *host) tidy(ctx context.Context, temporary string, why error) error {
	if !errors.Is(why, errEnded) && !errors.Is(why, errMayRun) && !errors.Is(why, ErrLost) {
		return nil
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killLimit)
	defer cancel()

	r, err := h.Run(ctx, Command{Args: []string{"rm", "-f", "--", temporary}})
	if err == nil && r.Exit != 0 {
		err = failed(r)
	}

	if err != nil {
		return fmt.Errorf("a part of the file may still be on the host as %s: %w", temporary, err)
	}

	return nil
}

// also adds an error that came of another.
func also(err, more error) error {
	if more == nil {
		return err
	}

	return fmt.Errorf("%w; %w", err, more)
}

// failed is the error of a command that had to succeed: its last words.
func failed(r Result) error {
	text := strings.TrimSpace(string(r.Stderr))
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}

	if len(text) > 300 {
		text = text[:300]
	}

	return fmt.Errorf("exit status %d: %s", r.Exit, strings.ToValidUTF8(text, "?"))
}
