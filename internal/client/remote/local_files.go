// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package remote

import (
	"context"
	"io/fs"
	"os"
)

func (*localLink) readFile(_ context.Context, name string) ([]byte, error) {
	file, err := os.Open(name) //nolint:gosec // the caller names the file
	if err != nil {
		return nil, err
	}
	defer file.Close()

	return readAll(file)
}

func (*localLink) writeFile(_ context.Context, temporary, name string, data []byte, mode fs.FileMode) error {
	err := writeLocal(temporary, data, mode)
	if err == nil {
		err = os.Rename(temporary, name)
	}

	if err != nil {
		_ = os.Remove(temporary)
	}

	return err
}

func writeLocal(name string, data []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the caller names the file
	if err != nil {
		return err
	}
	defer file.Close()

	if _, err := file.Write(data); err != nil {
		return err
	}

	if err := file.Chmod(mode.Perm()); err != nil { // whatever the umask is
		return err
	}

	if err := file.Sync(); err != nil {
		return err
	}

	return file.Close()
}
