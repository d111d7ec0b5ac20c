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
func (l *sshLink) transfer(ctx context.Context, f func(*sftp.Client) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, fileLimit, errLimit)
	defer cancel()

	s, err := l.open(ctx, l.slots)
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

	err := l.transfer(ctx, func(c *sftp.Client) error {
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
	return l.transfer(ctx, func(c *sftp.Client) error {
		err := writeBeside(c, temporary, data, mode)
		if err == nil {
			err = c.PosixRename(temporary, name)
		}

		if err != nil {
			_ = c.Remove(temporary)
		}

		return err
	})
}

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
