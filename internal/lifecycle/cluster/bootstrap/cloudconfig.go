// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// The roles that a file may be for.
const (
	RoleControlPlane = "control_plane"
	RoleWorker       = "worker"
)

// File is a file on a machine.
type File struct {
	Path        string `json:"path"`
	Content     string `json:"content,omitempty"`
	Encoding    string `json:"encoding,omitempty"`    // of the content: b64, gzip, gz+b64; empty: plain text
	Owner       string `json:"owner,omitempty"`       // USER:GROUP; empty: root:root
	Permissions string `json:"permissions,omitempty"` // octal; empty: 0644
	Append      bool   `json:"append,omitempty"`
	Role        string `json:"role,omitempty"` // the machines that get it; empty: all
}

// User is an account on a machine.
type User struct {
	Name              string   `json:"name"`
	SSHAuthorizedKeys []string `json:"ssh_authorized_keys,omitempty"`
	Sudo              string   `json:"sudo,omitempty"`
	Groups            []string `json:"groups,omitempty"`
	Shell             string   `json:"shell,omitempty"`
	PasswordHash      string   `json:"password_hash,omitempty"` // empty: no login with a password
}

var (
	permissionsPattern = regexp.MustCompile(`^0?[0-7]{3,4}$`)
	userPattern        = regexp.MustCompile(`^[a-z_][-a-z0-9_]{0,31}$`)
	encodings          = []string{"", "b64", "base64", "gz", "gzip", "gz+b64", "gz+base64", "gzip+b64", "gzip+base64"}
)

func (f File) check() error {
	switch {
	case !strings.HasPrefix(f.Path, "/"):
		return fmt.Errorf("%q is no absolute path", f.Path)
	case f.Permissions != "" && !permissionsPattern.MatchString(f.Permissions):
		return fmt.Errorf("%s: permissions are written as octal digits, such as 0640", f.Path)
	case !slices.Contains(encodings, f.Encoding):
		return fmt.Errorf("%s: cloud-init knows no encoding %q; write b64, gzip or gz+b64, or none", f.Path, f.Encoding)
	case !slices.Contains([]string{"", RoleControlPlane, RoleWorker}, f.Role):
		return fmt.Errorf("%s: role is %s or %s, or none for all machines", f.Path, RoleControlPlane, RoleWorker)
	default:
		return nil
	}
}

func (u User) check() error {
	if !userPattern.MatchString(u.Name) {
		return fmt.Errorf("%q is no name of a user", u.Name)
	}

	return nil
}

// filesOf are the files that machines of a role get.
func filesOf(all []File, role string) []File {
	return slices.DeleteFunc(slices.Clone(all), func(f File) bool { return f.Role != "" && f.Role != role })
}

// cloudConfig is the part of cloud-init's configuration that we write.
type cloudConfig struct {
	WriteFiles []cloudFile `json:"write_files,omitempty"`
	NTP        *cloudNTP   `json:"ntp,omitempty"`
	Users      []any       `json:"users,omitempty"`
	RunCmd     []string    `json:"runcmd"`
}

type cloudFile struct {
	Path        string `json:"path"`
	Owner       string `json:"owner"`
	Permissions string `json:"permissions"`
	Encoding    string `json:"encoding,omitempty"`
	Content     string `json:"content"`
	Append      bool   `json:"append,omitempty"`
	Defer       bool   `json:"defer,omitempty"`
}

type cloudNTP struct {
	Enabled bool     `json:"enabled"`
	Servers []string `json:"servers"`
}

type cloudUser struct {
	Name              string   `json:"name"`
	SSHAuthorizedKeys []string `json:"ssh_authorized_keys,omitempty"`
	Sudo              string   `json:"sudo,omitempty"`
	Groups            string   `json:"groups,omitempty"`
	Shell             string   `json:"shell,omitempty"`
	Passwd            string   `json:"passwd,omitempty"`
	LockPasswd        bool     `json:"lock_passwd"`
}

const (
	ownerRoot     = "root:root"
	modeDefault   = "0644"
	modeConfig    = "0640"
	modePrivate   = "0600"
	markerFolder  = "/run/cluster-api"
	successMarker = markerFolder + "/bootstrap-success.complete" // where images made for Cluster API look
)

// Init is the user data of the machine that begins the cluster.
func (k Kubeadm) Init(v Vars, pki PKI, t Token, ttl time.Duration) ([]byte, error) {
	r, p, err := k.initProfile(v, pki, t, ttl)
	if err != nil {
		return nil, err
	}

	return r.cloudConfig(p)
}

// JoinControlPlane is the user data of all other machines of the control plane. The token must
// be known to the cluster when the machine boots.
func (k Kubeadm) JoinControlPlane(v Vars, pki PKI, t Token) ([]byte, error) {
	r, p, err := k.joinProfile(v, pki, t)
	if err != nil {
		return nil, err
	}

	return r.cloudConfig(p)
}

// JoinWorker is the user data of a worker. It holds no key: of the cluster's CA it takes the
// hash ([PKI.CAHash]) and nothing else.
func (k Kubeadm) JoinWorker(v Vars, caHash string, t Token) ([]byte, error) {
	r, p, err := k.workerProfile(v, caHash, t)
	if err != nil {
		return nil, err
	}

	return r.cloudConfig(p)
}

func (r *render) cloudConfig(p Profile) ([]byte, error) {
	var c cloudConfig

	for _, f := range p.Files {
		c.WriteFiles = append(c.WriteFiles, f.cloud())
	}

	c.WriteFiles = append(c.WriteFiles, File{Path: p.ConfigPath, Content: p.Config, Permissions: modeConfig}.cloud())

	if len(r.k.NTP) > 0 {
		c.NTP = &cloudNTP{true, r.k.NTP}
	}

	c.Users = r.users()

	c.RunCmd = append(c.RunCmd, "mkdir -p "+markerFolder)
	c.RunCmd = append(c.RunCmd, r.k.PreCommands...)
	c.RunCmd = append(c.RunCmd, r.before()...)
	// cloud-init goes on after a command that failed: the marker must not.
	c.RunCmd = append(c.RunCmd, p.Command+" && echo success > "+successMarker)
	c.RunCmd = append(c.RunCmd, r.after()...)
	c.RunCmd = append(c.RunCmd, r.k.PostCommands...)

	// By marshalling, so that no text of a user is read as YAML; and without the header that
	// turns Jinja on, so that none is read as that either.
	text, err := yaml.Marshal(c)
	if err != nil {
		return nil, errors.New("the user data has no YAML form")
	}

	return append([]byte("#cloud-config\n"), text...), nil
}

func (f File) cloud() cloudFile {
	c := cloudFile{Path: f.Path, Owner: f.Owner, Permissions: f.Permissions, Encoding: f.Encoding, Content: f.Content, Append: f.Append}

	if c.Owner == "" {
		c.Owner = ownerRoot
	}

	if c.Permissions == "" {
		c.Permissions = modeDefault
	}

	// Files are written before users are made, but for those that wait.
	c.Defer = c.Owner != ownerRoot

	return c
}

// users are the image's own user and the configuration's.
func (r *render) users() []any {
	if len(r.k.Users) == 0 {
		return nil
	}

	out := []any{"default"}

	for _, u := range r.k.Users {
		out = append(out, cloudUser{
			Name: u.Name, SSHAuthorizedKeys: u.SSHAuthorizedKeys, Sudo: u.Sudo, Groups: strings.Join(u.Groups, ", "), Shell: u.Shell,
			Passwd: u.PasswordHash, LockPasswd: u.PasswordHash == "",
		})
	}

	return out
}
