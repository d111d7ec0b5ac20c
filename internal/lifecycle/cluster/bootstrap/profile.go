// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"time"
)

// ProfileKubeadm is the kind of profile that kubeadm's is.
const ProfileKubeadm = "kubeadm"

// For gives what a template of user data needs to make a machine one of the cluster: the same as
// [Kubeadm.Init], [Kubeadm.JoinControlPlane] and [Kubeadm.JoinWorker] write into a cloud-config.
// The lifetime counts for the machine that begins the cluster alone.
func (k Kubeadm) For(v Vars, controlPlane bool, pki PKI, t Token, ttl time.Duration) (Profile, error) {
	var (
		p   Profile
		err error
	)

	switch {
	case controlPlane && v.Machine.First:
		_, p, err = k.initProfile(v, pki, t, ttl)
	case controlPlane:
		_, p, err = k.joinProfile(v, pki, t)
	default:
		var hash string

		if hash, err = pki.CAHash(); err != nil {
			return Profile{}, err
		}

		_, p, err = k.workerProfile(v, hash, t)
	}

	if err == nil {
		p.CACertificate = pki.CA.Certificate
	}

	return p, err
}

func (k Kubeadm) initProfile(v Vars, pki PKI, t Token, ttl time.Duration) (*render, Profile, error) {
	r, err := k.begin(v, true, true)
	if err != nil {
		return nil, Profile{}, err
	}

	hash, err := pki.CAHash()
	if err != nil {
		return nil, Profile{}, err
	}

	config, err := r.initYAML(t, ttl)
	if err != nil {
		return nil, Profile{}, err
	}

	command := "kubeadm init --config " + initPath
	if r.borrowsSuperAdmin() {
		command += " && " + returnSuperAdmin
	}

	return r, r.profile(pki, t, hash, string(config), initPath, command), nil
}

func (k Kubeadm) joinProfile(v Vars, pki PKI, t Token) (*render, Profile, error) {
	r, err := k.begin(v, true, false)
	if err != nil {
		return nil, Profile{}, err
	}

	hash, err := pki.CAHash()
	if err != nil {
		return nil, Profile{}, err
	}

	config, err := r.joinYAML(t, hash)
	if err != nil {
		return nil, Profile{}, err
	}

	return r, r.profile(pki, t, hash, string(config), joinPath, "kubeadm join --config "+joinPath), nil
}

func (k Kubeadm) workerProfile(v Vars, caHash string, t Token) (*render, Profile, error) {
	r, err := k.begin(v, false, false)
	if err != nil {
		return nil, Profile{}, err
	}

	config, err := r.joinYAML(t, caHash)
	if err != nil {
		return nil, Profile{}, err
	}

	return r, r.profile(PKI{}, t, caHash, string(config), joinPath, "kubeadm join --config "+joinPath), nil
}

func (r *render) profile(pki PKI, t Token, hash, config, path, command string) Profile {
	p := Profile{
		Kind: ProfileKubeadm, Version: r.version.String(), Token: t.Reveal(), CAHash: hash, CACertificate: pki.CA.Certificate,
		Config: config, ConfigPath: path, Command: command,
	}

	if !r.controlPlane {
		p.Files = filesOf(r.k.Files, RoleWorker)

		return p
	}

	p.Files = append(pki.files(), r.endpointFiles()...)
	p.Files = append(p.Files, filesOf(r.k.Files, RoleControlPlane)...)

	return p
}

// files are the key pairs where kubeadm looks for them, which it then uses instead of making its own.
func (p PKI) files() []File {
	const folder = "/etc/kubernetes/pki/"

	var out []File

	add := func(name, content, mode string) {
		out = append(out, File{Path: folder + name, Content: content, Owner: ownerRoot, Permissions: mode})
	}

	for _, pair := range []struct {
		name string
		of   Pair
	}{{"ca", p.CA}, {"etcd/ca", p.EtcdCA}, {"front-proxy-ca", p.FrontProxyCA}} {
		add(pair.name+".crt", pair.of.Certificate, modeConfig)
		add(pair.name+".key", pair.of.Key, modePrivate)
	}

	add("sa.pub", p.ServiceAccount.Certificate, modeConfig)
	add("sa.key", p.ServiceAccount.Key, modePrivate)

	return out
}
