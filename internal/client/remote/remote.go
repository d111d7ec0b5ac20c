// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package remote runs commands and moves files on a host: over SSH, or on this machine.
//
// Every command is bounded, by its context and by a limit of its own, and is ended with
// everything that it started. Secrets go through standard input, never through arguments.
package remote

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"time"
)

// The kinds of connections.
const (
	SSH   = "ssh"
	Local = "local"
)

// What counts where a connection says nothing.
const (
	DefaultPort    = 22
	DefaultUser    = "root"
	DefaultTimeout = 30 * time.Second // to connect and log in
	DefaultLimit   = 2 * time.Minute  // of one command
)

// The kinds of failure that a caller can tell apart with errors.Is. ErrUnreachable is the only
// one that says that a host may be gone: with all others something of it answered, or nothing
// is known of it.
var (
	ErrUnreachable = errors.New("host not reached")         // nobody answers: refused, no route, no such name, no answer in time
	ErrBastion     = errors.New("bastion leads nowhere")    // it is not reached, was lost, or leads nobody on
	ErrHandshake   = errors.New("no SSH connection")        // the host answers: no common algorithm, or it hung up
	ErrHostKey     = errors.New("host key not as expected") // somebody else answers, or the host was installed anew
	ErrAuth        = errors.New("login refused")            // no key or password was taken
	ErrRefused     = errors.New("server runs no command")   // it refuses sessions or commands; nothing was run
	ErrSudo        = errors.New("sudo asks for a password") // sudo -n said no
	ErrTimeout     = errors.New("command took too long")    // it was ended with all that it started
	ErrLost        = errors.New("connection lost")          // after the login: what a command did is not known
	ErrTooLong     = errors.New("output too long")          // more than Command.MaxOutput
	ErrConfig      = errors.New("wrong connection")         // the configuration cannot work
	ErrNotFound    = errors.New("no such file on the host") // ReadFile, and the folder of WriteFile
)

// Config says how to reach a host.
type Config struct {
	Type string // SSH or Local; empty means SSH
	Host string
	Port int
	User string

	PrivateKey     string // PEM
	PrivateKeyFile string
	Passphrase     string // of the private key
	Password       string
	Agent          bool // ask the SSH agent of SSH_AUTH_SOCK

	HostKey         string // one or more lines as in known_hosts or authorized_keys
	KnownHostsFile  string // empty: ~/.ssh/known_hosts
	InsecureHostKey bool   // take any host key

	Bastion *Config // through which the host is reached
	Sudo    bool    // run everything with sudo -n, unless the user is root
	Timeout time.Duration

	// Dial replaces the network (lab, tests).
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Command is one command on a host.
type Command struct {
	// Args are the program and its arguments, each passed as it is: nothing is expanded.
	Args []string
	// Script is a POSIX shell script. It counts where Args is empty, and Params are its
	// positional parameters $1, $2, … All users of the host can read Args, Script and Params:
	// they are not for secrets.
	Script string
	Params []string
	// Stdin is what the command reads; the place for secrets.
	Stdin []byte
	// Env are variables in addition; LC_ALL=C is always set. Not for secrets.
	Env []string
	// Limit bounds the command; 0 means DefaultLimit.
	Limit time.Duration
	// MaxOutput bounds standard output and error each; 0 means 8 MiB.
	MaxOutput int
	// Detach starts a daemon: the program gets a session of its own and none of our
	// descriptors, and what it leaves behind is not ended with the command, nor with this
	// process or its terminal. The result is that of the program that was started, which ends
	// once the daemon is on its way.
	Detach bool
}

// Session is a program on a host that is spoken to while it runs. Read gives its standard
// output, Write its standard input.
type Session interface {
	io.ReadWriteCloser // Close ends the program with all that it started
	// Stderr returns the last part of its standard error so far.
	Stderr() string
}

// Result is what a command left. An exit status other than 0 is no error: it is a fact.
type Result struct {
	Stdout []byte
	Stderr []byte
	Exit   int
}

// Host runs commands and moves files on one host. It is safe for concurrent use, connects
// at the first need, and connects again after a connection was lost.
type Host interface {
	// Name is how people know the host: user@host:port, or "this machine".
	Name() string
	// Run runs one command to its end. The error says that there is no result to rely on.
	Run(ctx context.Context, cmd Command) (Result, error)
	// Open starts a program that is spoken to while it runs. The context bounds the start and the
	// session; Command.Stdin is written first, Limit does not count.
	Open(ctx context.Context, cmd Command) (Session, error)
	// ReadFile reads a whole file of at most 64 MiB.
	ReadFile(ctx context.Context, path string) ([]byte, error)
	// WriteFile replaces a file in one step (write beside it, sync, rename), with owner
	// ("user:group", empty: the one who writes) and mode.
	WriteFile(ctx context.Context, path string, data []byte, owner string, mode fs.FileMode) error
	// Close ends the connection.
	Close() error
}
