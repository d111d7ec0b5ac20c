#!/bin/sh
# The chassis of one simulated IPMI machine, as ipmi_sim calls it:
#   chassis.sh DIR I SIM MC get power|boot …
#   chassis.sh DIR I SIM MC set power|reset|shutdown|boot VALUE …
d=$1 i=$2 sim=$3
shift 4
op=$1
shift
echo "$op $*" >>"$d/$i.calls"

press() { # On|Off
	if [ "$sim" != - ]; then
		case $(cat "$d/$i.boot" 2>/dev/null || echo default) in
		pxe) t=Pxe ;;
		cdrom) t=Cd ;;
		*) t=Hdd ;;
		esac
		curl -s -m 5 -X PUT -d "{\"state\":\"$1\",\"boot\":\"$t\"}" "$sim/sim/machines/$i/power" >/dev/null
		[ "$1" = Off ] || echo default >"$d/$i.boot"
	fi
	[ "$1" = On ] && echo 1 >"$d/$i.power" || echo 0 >"$d/$i.power"
}
state() {
	if [ "$sim" = - ]; then
		cat "$d/$i.power" 2>/dev/null || echo 0
	elif [ "$(curl -s -m 5 "$sim/sim/machines/$i" | jq -r .power)" = On ]; then
		echo 1
	else
		echo 0
	fi
}

while [ $# -gt 0 ]; do
	case $op.$1 in
	get.power)
		echo "power:$(state)"
		shift
		;;
	get.boot)
		echo "boot:$(cat "$d/$i.boot" 2>/dev/null || echo default)"
		shift
		;;
	set.power)
		[ "$2" = 1 ] && press On || press Off
		shift 2
		;;
	set.boot)
		echo "$2" >"$d/$i.boot"
		shift 2
		;;
	set.reset)
		press Off
		press On
		shift 2
		;;
	set.shutdown)
		press Off
		shift 2
		;;
	check.*) shift ;;
	*) exit 1 ;;
	esac
done
