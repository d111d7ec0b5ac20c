#!/usr/bin/env bash
# The whole life of one machine on a real Ironic, without our provider: shows
# that the real parts themselves work.
#
#   test-real.sh lab/smoke.sh [main|basic|old]      (main)
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
case ${1:-main} in
main) name=METAL3_TEST_IRONIC bmc=${METAL3_TEST_BMC:?} ;;
basic) name=METAL3_TEST_IRONIC_BASIC bmc=${METAL3_TEST_BMC_BASIC:?} ;;
old) name=METAL3_TEST_IRONIC_OLD bmc=${METAL3_TEST_BMC_OLD:?} ;;
*) sed -n '2,6p' "$0"; exit 2 ;;
esac
of() { local v=$name$1; printf %s "${!v:-}"; }
v1=$(of '')/v1
ask=(curl -s -f)
[ -z "$(of _CA)" ] || ask+=(--cacert "$(of _CA)")
[ -z "$(of _USERNAME)" ] || ask+=(--netrc-file "$(dirname "$(of _PASSWORD_FILE)")/netrc")
version=$("${ask[@]}" "$v1/" | jq -r .version.version)
say "API $version"
api() {
	local method=$1 path=$2
	shift 2
	"${ask[@]}" -X "$method" -H "X-OpenStack-Ironic-API-Version: $version" -H 'Content-Type: application/json' ${1:+-d "$1"} "$v1$path"
}
wait_for() { # state seconds
	local t0 last='' seen
	t0=$(date +%s)
	while :; do
		seen=$(api GET '/nodes/smoke?fields=provision_state,target_provision_state,last_error' | jq -r '[.provision_state,.target_provision_state,.last_error]|@json')
		[ "$seen" = "$last" ] || say "  ${seen}"
		last=$seen
		case $seen in
		"[\"$1\",null,"*) return 0 ;;
		*failed* | '["error"'*) return 1 ;;
		esac
		[ $(($(date +%s) - t0)) -lt "$2" ] || return 1
		sleep 0.5
	done
}
to() { # verb state seconds
	say "$1"
	api PUT /nodes/smoke/states/provision "${4:-{\"target\":\"$1\"\}}"
	sleep 0.5
	wait_for "$2" "$3"
}

# in-band inspection came into Ironic itself with 1.84
inspect=agent
[ "${version#1.}" -ge 84 ] || inspect=redfish
api POST /nodes '{"name":"smoke","driver":"redfish","deploy_interface":"direct","boot_interface":"redfish-virtual-media","inspect_interface":"'$inspect'",
 "resource_class":"baremetal","properties":{"capabilities":"boot_mode:uefi"},"driver_info":{"redfish_address":"'"$bmc"'",
 "redfish_system_id":"/redfish/v1/Systems/6d6f636b-0000-4000-8000-000000000001","redfish_username":"admin","redfish_password":"password"}}' >/dev/null
to manage manageable 90
to inspect manageable 90
to provide available 90
head -c 1000000 /dev/urandom >"$(of _HTTP_DIR)/smoke.raw"
sum=$(sha256sum "$(of _HTTP_DIR)/smoke.raw" | cut -d' ' -f1)
api PATCH /nodes/smoke '[{"op":"add","path":"/instance_info/image_source","value":"'"$(of _HTTP)"'/smoke.raw"},{"op":"add","path":"/instance_info/image_os_hash_algo","value":"sha256"},
 {"op":"add","path":"/instance_info/image_os_hash_value","value":"'"$sum"'"},{"op":"add","path":"/instance_info/image_disk_format","value":"raw"}]' >/dev/null
to active active 180 '{"target":"active","configdrive":{"meta_data":{"name":"smoke"},"network_data":{},"user_data":"#cloud-config\n{}\n"}}'
to deleted available 90
api DELETE /nodes/smoke
say "a whole life is over"
