// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// New returns a host. Nothing is connected before the first command.
func New(cfg Config) (Host, error) {
	cfg, err := cfg.normal()
	if err != nil {
		return nil, err
	}

	if cfg.Type == Local {
		l, err := newLocal(cfg)
		if err != nil {
			return nil, err
		}

		return &host{link: l, sudo: cfg.Sudo && os.Geteuid() != 0}, nil
	}

	return &host{link: newSSH(cfg), sudo: cfg.Sudo && cfg.User != DefaultUser}, nil
}

// normal is the configuration with what it leaves open.
func (c Config) normal() (Config, error) {
	switch c.Type {
	case "", SSH:
		c.Type = SSH
	case Local:
		return c, nil
	default:
		return c, fmt.Errorf("%w: type %q is neither %q nor %q", ErrConfig, c.Type, SSH, Local)
	}

	c.Host = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(c.Host), "["), "]")

	switch {
	case c.Host == "":
		return c, fmt.Errorf("%w: no host", ErrConfig)
	case strings.ContainsAny(c.Host, "/@ \t\n"):
		return c, fmt.Errorf("%w: host %q is not a name or an address", ErrConfig, c.Host)
	case c.Port < 0 || c.Port > 65535:
		return c, fmt.Errorf("%w: port %d", ErrConfig, c.Port)
	case c.Timeout < 0:
		return c, fmt.Errorf("%w: timeout %s", ErrConfig, c.Timeout)
	}

	if c.Port == 0 {
		c.Port = DefaultPort
	}

	if c.User == "" {
		c.User = DefaultUser
	}

	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}

	if c.Bastion == nil {
		return c, nil
	}

	b, err := c.Bastion.normal()
	if err != nil {
		return c, fmt.Errorf("bastion: %w", err)
	}

	if b.Type != SSH {
		return c, fmt.Errorf("%w: a bastion is reached over SSH", ErrConfig)
	}

	if b.Dial == nil {
		b.Dial = c.Dial // the same network
	}

	c.Bastion = &b

	return c, nil
}

func (c Config) addr() string { return net.JoinHostPort(c.Host, strconv.Itoa(c.Port)) }

func (c Config) name() string { return c.User + "@" + c.addr() }

// home spells out a leading ~.
func home(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}

	dir, err := os.UserHomeDir()
	if err != nil {
		return path
	}

	return filepath.Join(dir, rest)
}
