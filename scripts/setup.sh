#!/usr/bin/env bash
# Sets up what is missing, and only that.
#
#   setup.sh cli        terraform or tofu; where there is neither, tofu is built once
#   setup.sh ironic     packages and Debian roots for the real Ironic, IPMI simulators
#   setup.sh ssh        an SSH server (not started) and sudo, for the tests of remote hosts
#   setup.sh ceph       Ceph's daemons and tools (not started), and librados to link with
#   setup.sh ceph18     a Debian root with a newer Ceph, for hosts that are upgraded
#   setup.sh cloudinit  Debian's cloud-init, unpacked and never installed: it judges what machines are given
#   setup.sh kube       Kubernetes' own servers, for the tests of workload clusters, once
#   setup.sh lint       the linter, once
#   setup.sh            all of it
#
# Needs Go, git and make; packages and Debian roots need root. All that is
# built goes to ${XDG_CACHE_HOME:-~/.cache}/terraform-provider-metal3.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
have go || die "Go is missing (1.26 or newer)"

setup_cli() {
	if cli=$(terraform_cli); then
		say "uses $cli ($(TF_CLI_CONFIG_FILE=/dev/null "$cli" version | head -1))"
		return
	fi
	say "there is no terraform or tofu of 1.11 or newer: OpenTofu is built from source, once"
	timed "building OpenTofu" -- "$top/scripts/tool.sh" tofu >/dev/null
}

setup_ironic() {
	if ! is_root; then
		say "without root there is no real Ironic here: tests that need one are skipped"
		return
	fi
	install_packages curl jq openssl python3 openipmi ipmitool
	timed "root of the current Ironic" -- "$top/scripts/lab/root.sh" "${METAL3_MAIN_SUITE:-trixie}" >/dev/null
	if [ "$(old_suite)" = host ]; then
		timed "packages of the oldest Ironic" -- install_packages python3-ironic ipmitool sqlite3 qemu-utils genisoimage
	else
		timed "root of the oldest Ironic" -- "$top/scripts/lab/root.sh" "$(old_suite)" >/dev/null
	fi
}

setup_ssh() {
	if ! is_root; then
		say "without root there is no SSH server of Debian here: tests that need one are skipped"
		return
	fi
	# The tests start their own servers, with their own keys: the package must not start one.
	RUNLEVEL=1 install_packages openssh-server openssh-client sudo
}

# Ceph of this machine's distribution: tests start daemons of their own. udev names
# disks, and iproute2, openssh-server and util-linux make hosts (scripts/lab/ceph-hosts.sh).
setup_ceph() {
	if ! is_root && ! { have ceph-mon && have ceph-mgr && have ceph-osd; }; then
		say "without root no Ceph can be installed here: tests that need its daemons are skipped"
		return
	fi
	! is_root || RUNLEVEL=1 install_packages ceph-mon ceph-mgr ceph-osd ceph-mds ceph-common python3-rados librados-dev gcc libc6-dev \
		uuid-runtime iproute2 procps openssh-server openssh-client udev util-linux
	say "$(ceph --version)"
}

setup_ceph18() {
	if ! is_root; then
		say "without root there is no second Ceph here: tests of upgrades are skipped"
		return
	fi
	timed "root of the newer Ceph" -- "$top/scripts/lab/ceph-root.sh" >/dev/null
}

setup_cloudinit() {
	if ! have apt-get || ! have dpkg; then
		say "without Debian's packages there is no cloud-init here: tests that need it are skipped"
		return
	fi
	timed "cloud-init" -- "$top/scripts/lab/cloud-init.sh" >/dev/null
}

# Not in test-real.sh's way: they are plain programs that each test starts for itself.
setup_kube() { timed "Kubernetes' servers" -- "$top/scripts/lab/kube.sh" >/dev/null; }

setup_lint() { "$top/scripts/tool.sh" golangci-lint >/dev/null; }

[ $# -gt 0 ] || set -- cli ironic ssh ceph ceph18 cloudinit kube lint
for what in "$@"; do
	case $what in
	cli | ironic | ssh | ceph | ceph18 | cloudinit | kube | lint) "setup_$what" ;;
	*)
		sed -n '2,14p' "$0"
		exit 2
		;;
	esac
done
