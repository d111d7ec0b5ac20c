#!/usr/bin/env bash
# Builds Kubernetes' own servers for the tests of workload clusters, once, and
# prints the folder they are in.
#
#   kube.sh              etcd, kube-apiserver, kube-controller-manager, kubeadm
#   kube.sh --path       only says where they are or would be
#   kube.sh NAME…        only these
#
# They are what test/kube/go.mod says, static, without cgo. With an empty cache it
# takes ten minutes of CPU time, most of it for kube-apiserver; what is there is kept.
# KUBE_BUILD_JOBS (2) bounds how many packages are compiled at a time.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
version=$(awk '$1 == "require" && $2 == "k8s.io/kubernetes" { print $3 } $1 == "k8s.io/kubernetes" && $2 ~ /^v/ { print $2 }' "$top/test/kube/go.mod" | head -1)
[ -n "$version" ] || die "test/kube/go.mod names no version of k8s.io/kubernetes"
out=$cache/kube-$version
if [ "${1:-}" = --path ]; then
	echo "$out"
	exit 0
fi
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(etcd kube-apiserver kube-controller-manager kubeadm)

complete() {
	local n
	for n in "${names[@]}"; do [ -x "$out/$n" ] || return 1; done
}
package() {
	case $1 in
	etcd) echo go.etcd.io/etcd/server/v3 ;;
	kube-apiserver | kube-controller-manager | kubeadm) echo "k8s.io/kubernetes/cmd/$1" ;;
	*) die "kube.sh knows no $1" ;;
	esac
}

if ! complete; then
	mkdir -p "$out"
	# one build at a time, whoever asks: the second finds what the first made
	exec 9>"$out/lock"
	flock 9
	minor=${version#v1.}
	ldflags="-s -w"
	# without these the binaries call themselves v0.0.0-master, and kubeadm refuses that
	for p in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
		ldflags+=" -X $p.gitVersion=$version -X $p.gitMajor=1 -X $p.gitMinor=${minor%%.*} -X $p.gitTreeState=archive"
	done
	for n in "${names[@]}"; do
		[ ! -x "$out/$n" ] || continue
		say "building $n of Kubernetes $version, once"
		pkg=$(package "$n")
		timed "building $n" -- env -C "$top/test/kube" CGO_ENABLED=0 nice -n 19 \
			go build -p "${KUBE_BUILD_JOBS:-2}" -buildvcs=false -trimpath -ldflags "$ldflags" -o "$out/$n.new" "$pkg"
		mv "$out/$n.new" "$out/$n"
	done
fi
echo "$out"
