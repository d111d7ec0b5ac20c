// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// transfer runs f with an SFTP client on a session of its own. A server that has no SFTP is
// errNoFiles.
func (l *sshLink) transfer(ctx context.Context, places chan struct{}, f func(*sftp.Client) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, fileLimit, errLimit)
	defer cancel()

	s, err := l.open(ctx, places)
	if err != nil {
		return err
	}
	defer s.close()

	stop := context.AfterFunc(ctx, s.close)
	defer stop()

	err = overSFTP(s.Session, f)

	var status *sftp.StatusError

	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), errLimit):
		return fmt.Errorf("%w (%s)", ErrTimeout, fileLimit)
	case ctx.Err() != nil:
		return cancelled(ctx)
	case errors.Is(err, errNoFiles), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission),
		errors.Is(err, ErrTooLong), errors.As(err, &status):
		return err
	default:
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
}

func overSFTP(s *ssh.Session, f func(*sftp.Client) error) error {
	in, err := s.StdinPipe()
	if err != nil {
		return err
	}

	out, err := s.StdoutPipe()
	if err != nil {
		return err
	}

	if err := s.RequestSubsystem("sftp"); err != nil {
		return fmt.Errorf("%w: %w", errNoFiles, err)
	}

	client, err := sftp.NewClientPipe(out, in, sftp.UseConcurrentWrites(true))
	if err != nil {
		return err
	}
	defer client.Close()

	return f(client)
}

func (l *sshLink) readFile(ctx context.Context, name string) ([]byte, error) {
	var data []byte

	err := l.transfer(ctx, l.slots, func(c *sftp.Client) error {
		file, err := c.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()

		data, err = readAll(file)

		return err
	})
	if err != nil {
		return nil, err
	}

	return data, nil
}

// readAll reads to the end, not to the length that the system tells: files of /proc have none.
func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))

	switch {
	case err != nil:
		return nil, err
	case len(data) > maxFile:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLong, maxFile)
	default:
		return data, nil
	}
}

func (l *sshLink) writeFile(ctx context.Context, temporary, name string, data []byte, mode fs.FileMode) error {
	left := false // the temporary file

	err := l.transfer(ctx, l.slots, func(c *sftp.Client) error {
		left = true

		err := writeBeside(c, temporary, data, mode)
		if err == nil {
			err = c.PosixRename(temporary, name)
		}

		left = err != nil && !gone(c.Remove(temporary))

		return err
	})
	if left {
		return also(err, l.tidy(ctx, temporary))
	}

	return err
}

// tidy removes what a write left that was ended or lost: it may hold a secret. The session of
// the write is of no use any more, nor is its context.
func (l *sshLink) tidy(ctx context.Context, temporary string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killLimit)
	defer cancel()

	err := l.transfer(ctx, l.spares, func(c *sftp.Client) error { return c.Remove(temporary) })
	if gone(err) {
		return nil
	}

	return fmt.Errorf("a part of the file may still be on the host as %s: %w", temporary, err)
}

// gone tells whether a removal left nothing.
func gone(err error) bool { return err == nil || errors.Is(err, fs.ErrNotExist) }

func writeBeside(c *sftp.Client, name string, data []byte, mode fs.FileMode) error {
	file, err := c.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	defer file.Close()

	// The mode first: the file may hold a secret.
	if err := file.Chmod(mode.Perm()); err != nil {
		return err
	}

	if _, err := file.ReadFrom(bytes.NewReader(data)); err != nil {
		return err
	}

	// A server without fsync@openssh.com cannot be asked for more.
	if err := file.Sync(); err != nil && !unsupported(err) {
		return err
	}

	return file.Close()
}

func unsupported(err error) bool {
	var status *sftp.StatusError

	return errors.As(err, &status) && status.FxCode() == sftp.ErrSSHFxOpUnsupported
}
