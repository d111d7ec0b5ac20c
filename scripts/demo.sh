#!/usr/bin/env bash
# make demo: three machines from a BMC address to running, and two GPUs, on this machine alone.
#
#   demo.sh up       sets up what is missing, builds the provider, applies
#                    examples/scenarios/quickstart and shows that a second plan is empty
#   demo.sh down     destroys it and removes what the demo wrote
set -euo pipefail
. "$(dirname "$0")/lib.sh"
scenario=${METAL3_DEMO_SCENARIO:-$top/examples/scenarios/quickstart}
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
	unset METAL3_LAB IRONIC_ENDPOINT OS_CLOUD
}
build() { (cd "$top" && CGO_ENABLED=0 go build -buildvcs=false -o "$work/terraform-provider-metal3" .); }
# the remark that overrides are in use is no news here
quiet_about_overrides() {
	awk '/Warning: Provider development overrides are in effect/ { skip = 12 }
		skip > 0 { skip = /releases\.$/ ? 0 : skip - 1; next }
		{ print; fflush() }'
}

up() {
	local t0 applied planned rc=0
	t0=$(date +%s)
	is_root || say "Without root the demo is the same for now: it needs none. (make test leaves out the real Ironic.)"
	"$top/scripts/setup.sh" cli
	cli=$(terraform_cli)
	configure
	say "Building the provider"
	build
	say "Applying $scenario with $(basename "$cli") (a lab inside the provider plays Ironic, BMCs, machines and a fabric of GPUs)"
	applied=$(date +%s)
	"$cli" -chdir="$scenario" apply -auto-approve -no-color | quiet_about_overrides
	applied=$(($(date +%s) - applied))
	say "What stands now"
	"$cli" -chdir="$scenario" state list -no-color
	"$cli" -chdir="$scenario" output -no-color
	say "A second plan must be empty"
	planned=$(date +%s)
	"$cli" -chdir="$scenario" plan -detailed-exitcode -no-color >"$work/plan.txt" 2>&1 || rc=$?
	planned=$(($(date +%s) - planned))
	if [ $rc != 0 ]; then
		quiet_about_overrides <"$work/plan.txt"
		die "the second plan is not empty (exit code $rc)"
	fi
	grep -m1 'No changes' "$work/plan.txt"
	cat <<-END

		Done in $(($(date +%s) - t0)) s: apply took $applied s, the empty plan $planned s.
		  configuration     ${scenario#"$top/"}/*.tf
		  the lab's memory  ${scenario#"$top/"}/.metal3-lab
		  the provider      ${work#"$top/"}/terraform-provider-metal3
		To go on by hand:
		  export TF_CLI_CONFIG_FILE=$work/cli.tfrc
		  cd $scenario && $(basename "$cli") plan
		METAL3_LAB_TRACE=FILE writes down every request that the provider sends.
		make demo-destroy takes the machines through power-off and delete, and removes all of this.
	END
}

down() {
	if [ ! -e "$scenario/terraform.tfstate" ]; then
		say "There is no demo to destroy"
		rm -rf "$work"
		return
	fi
	cli=$(terraform_cli) || die "the terraform or tofu that made the demo is gone"
	configure
	[ -x "$work/terraform-provider-metal3" ] || build
	"$cli" -chdir="$scenario" destroy -auto-approve -no-color | quiet_about_overrides
	rm -rf "$work" "$scenario/.metal3-lab" "$scenario/.terraform"
	rm -f "$scenario"/terraform.tfstate* "$scenario/.terraform.lock.hcl"
	say "All of it is gone"
}

case ${1:-} in
up | down) "$1" ;;
*)
	sed -n '2,7p' "$0"
	exit 2
	;;
esac
