#!/usr/bin/env bash
# Unpacks Debian's cloud-init, once, and prints the command that runs it. It is never installed: its services would
# run at the next boot. What it needs of Python is.
#
#   cloud-init.sh
#   $(cloud-init.sh) schema --config-file FILE
#   $(cloud-init.sh) devel net-convert -p FILE -k network_data.json -d FOLDER -D debian -O netplan -m NAME,MAC
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || { sed -n '2,7p' "$0"; exit 2; }
dir=$cache/cloud-init

mkdir -p "$cache"
exec 8>"$dir.lock"
flock 8
if [ ! -x "$dir/cloud-init" ]; then
	install_packages python3 python3-configobj python3-jinja2 python3-jsonpatch python3-jsonschema python3-netifaces \
		python3-oauthlib python3-requests python3-serial python3-yaml
	# an unfinished folder never counts: it is made beside its place and moved there
	new=$dir.new
	rm -rf --one-file-system "$new" "$dir"
	mkdir -p "$new"
	(
		cd "$new"
		fetch() { apt-get -o APT::Sandbox::User=root -qq download cloud-init >&2; }
		fetch || { apt_get update >&2 && fetch; }
		dpkg -x cloud-init_*.deb root
		rm -f cloud-init_*.deb
	) || die "Debian's cloud-init could not be fetched"
	cat >"$new/cloud-init" <<-END
		#!/bin/sh
		PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$dir/root/usr/lib/python3/dist-packages exec /usr/bin/python3 -m cloudinit.cmd.main "\$@"
	END
	chmod 755 "$new/cloud-init"
	mv "$new" "$dir"
fi
version=$("$dir/cloud-init" --version 2>&1)
say "cloud-init ${version##* } in $dir"
echo "$dir/cloud-init"
