#!/usr/bin/env bash
# make demo: three machines from a BMC address to running, two GPUs, a cluster of three machines, and a real Ceph, on
# this machine alone.
#
#   demo.sh up       sets up what is missing, builds the provider, applies examples/scenarios/quickstart
#                    and examples/scenarios/ceph, shows that second plans are empty, and writes and reads an object
#   demo.sh down     destroys them and removes what the demo wrote
#
# METAL3_DEMO_SCENARIO=FOLDER: that one and no other.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
scenarios=${METAL3_DEMO_SCENARIO:-$top/examples/scenarios/quickstart $top/examples/scenarios/ceph}
work=$top/bin/demo
say() { printf '\n%s %s\n' "$(date +%T)" "$*"; }

# The CLI finds the provider that was just built, whatever it is configured to
# use otherwise. The address is the short one: Terraform and OpenTofu each
# complete it with their own registry, and neither is asked.
configure() {
	mkdir -p "$work"
	cat >"$work/cli.tfrc" <<-TFRC
		provider_installation {
		  dev_overrides {
		    "terraform-metal3/metal3" = "$work"
		  }
		  direct {}
		}
	TFRC
	export TF_CLI_CONFIG_FILE=$work/cli.tfrc CHECKPOINT_DISABLE=1 TF_IN_AUTOMATION=1 TF_INPUT=0
	TF_VAR_host=$(uname -n)
	export TF_VAR_host
	unset METAL3_LAB IRONIC_ENDPOINT OS_CLOUD
}
has_ceph() { have ceph-mon && have ceph-mgr && have ceph-osd && have rados; }
build() { (cd "$top" && CGO_ENABLED=0 go build -buildvcs=false -o "$work/terraform-provider-metal3" .); }
# the remark that overrides are in use is no news here
quiet_about_overrides() {
	awk '/Warning: Provider development overrides are in effect/ { skip = 12 }
		skip > 0 { skip = /releases\.$/ ? 0 : skip - 1; next }
		{ print; fflush() }'
}

up() {
	local t0 scenario
	t0=$(date +%s)
	"$top/scripts/setup.sh" cli ceph
	cli=$(terraform_cli)
	configure
	say "Building the provider"
	build
	for scenario in $scenarios; do
		if [ "$(basename "$scenario")" = ceph ] && ! has_ceph; then
			say "Without Ceph's programs, which only root can install, its part of the demo is left out"
			continue
		fi
		one "$scenario"
	done
	cat <<-END

		Done in $(($(date +%s) - t0)) s.
		  configurations    $(for scenario in $scenarios; do printf '%s/*.tf ' "${scenario#"$top/"}"; done)
		  the lab's memory  examples/scenarios/quickstart/.metal3-lab
		  the provider      ${work#"$top/"}/terraform-provider-metal3
		To go on by hand:
		  export TF_CLI_CONFIG_FILE=$work/cli.tfrc TF_VAR_host=$TF_VAR_host
		  cd ${scenarios%% *} && $(basename "$cli") plan
		METAL3_LAB_TRACE=FILE writes down every request that the provider sends.
		make demo-destroy takes the machines through power-off and delete, ends Ceph's daemons, and removes all of this.
	END
}

# one SCENARIO: applies it, shows what stands, and that nothing is left to do
one() {
	local scenario=$1 applied planned rc=0 log=$work/plan.txt
	case $(basename "$scenario") in
	quickstart) say "Applying quickstart with $(basename "$cli") (a lab inside the provider plays Ironic, BMCs, machines and a fabric of GPUs)" ;;
	ceph) say "Applying ceph with $(basename "$cli") (its daemons are real, and run on this machine)" ;;
	*) say "Applying $scenario with $(basename "$cli")" ;;
	esac
	applied=$(date +%s)
	"$cli" -chdir="$scenario" apply -auto-approve -no-color | quiet_about_overrides
	applied=$(($(date +%s) - applied))
	say "What stands now"
	"$cli" -chdir="$scenario" state list -no-color
	"$cli" -chdir="$scenario" output -no-color
	[ "$(basename "$scenario")" != ceph ] || object "$scenario"
	say "A second plan must be empty"
	planned=$(date +%s)
	"$cli" -chdir="$scenario" plan -detailed-exitcode -no-color >"$log" 2>&1 || rc=$?
	planned=$(($(date +%s) - planned))
	if [ $rc != 0 ]; then
		quiet_about_overrides <"$log"
		die "the second plan is not empty (exit code $rc)"
	fi
	grep -m1 'No changes' "$log"
	echo "apply took $applied s, the empty plan $planned s"
}

# object SCENARIO: what is written into the cluster comes out of it
object() {
	local conf pool
	conf=$("$cli" -chdir="$1" output -raw conf)
	pool=$("$cli" -chdir="$1" output -raw pool)
	rados() { command rados --conf "$conf" --keyring "$(dirname "$conf")/ceph.client.admin.keyring" --pool "$pool" "$@"; }
	say "Writing and reading an object"
	echo "written $(date +%T) by make demo" >"$work/written"
	timeout 60 bash -c "$(declare -f rados); conf=$conf pool=$pool; rados put greeting '$work/written' && rados get greeting '$work/read'"
	cmp "$work/written" "$work/read" || die "what was read is not what was written"
	cat "$work/read"
	rados ls
}

down() {
	local scenario conf backwards="" any=0
	for scenario in $scenarios; do
		backwards="$scenario $backwards"
		[ ! -e "$scenario/terraform.tfstate" ] || any=1
	done
	if [ $any = 0 ]; then
		say "There is no demo to destroy"
		rm -rf "$work"
		return
	fi
	cli=$(terraform_cli) || die "the terraform or tofu that made the demo is gone"
	configure
	[ -x "$work/terraform-provider-metal3" ] || build
	for scenario in $backwards; do
		[ -e "$scenario/terraform.tfstate" ] || continue
		say "Destroying $(basename "$scenario")"
		conf=$("$cli" -chdir="$scenario" output -raw conf 2>/dev/null) || conf=
		"$cli" -chdir="$scenario" destroy -auto-approve -no-color | quiet_about_overrides
		case $conf in */ceph/ceph.conf) rmdir "${conf%/ceph/ceph.conf}" 2>/dev/null || true ;; esac
		rm -rf "$scenario/.metal3-lab" "$scenario/.terraform"
		rm -f "$scenario"/terraform.tfstate* "$scenario/.terraform.lock.hcl"
	done
	rm -rf "$work"
	say "All of it is gone"
}

case ${1:-} in
up | down) "$1" ;;
*)
	sed -n '2,9p' "$0"
	exit 2
	;;
esac
