// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// scriptDisks is the section of the look that prints block devices. It is run in a subshell of
// its own with the variables dir (Layout.Dir), devices (1: all of them) and the positional
// parameters Ask.Paths. It prints what lsblk says between the lines "lsblk" and "lsblk end", then
// lines of facts, tab-separated:
//
//	link    /dev/disk/by-id/x  /dev/sda
//	mount   8:1  /srv  /dev/sda1        swap  /dev/sda2       holder  sda  dm-0
//	head    /dev/sda  UUID  role        label  /dev/sda  KEY  VALUE
//	sig     /dev/sda  ext4              busy   /dev/sda  reason
//	file    /srv/a  SIZE  1 (has content), 0
//	other   /srv (neither file nor device)     missing  /srv/b
//
// The columns of lsblk differ: MOUNTPOINTS came with 2.37, PATH and PTTYPE with 2.33. What lsblk
// says is not enough: without udev it knows no file system, and of a root file system on a
// device that has another name in /proc it knows no mount.
const scriptDisks = shLabel + `
base=NAME,KNAME,MAJ:MIN,TYPE,SIZE,ROTA,RO,RM,MODEL,SERIAL,WWN,FSTYPE,PARTTYPE,MOUNTPOINT
for c in "$base,PATH,PTTYPE,MOUNTPOINTS" "$base,PATH,PTTYPE" "$base"; do
  if j=$(lim lsblk --json -b -o "$c" 2>/dev/null) && [ -n "$j" ]; then printf 'lsblk\n%s\nlsblk end\n' "$j"; break; fi
done
for l in /dev/disk/by-*/* /dev/mapper/*; do
  [ -L "$l" ] && r=$(readlink -f "$l") && printf 'link\t%s\t%s\n' "$l" "$r"
done
while read -r x x mm x at rest; do
  s=${rest#* - } s=${s#* } s=${s%% *}
  case $mm in 0:*) case $s in /dev/*) ;; *) continue ;; esac ;; esac
  printf 'mount\t%s\t%s\t%s\n' "$mm" "$at" "$s"
done 2>/dev/null </proc/self/mountinfo
while read -r s x; do case $s in /*) printf 'swap\t%s\n' "$s" ;; esac; done 2>/dev/null </proc/swaps
all=
for b in /sys/class/block/*; do
  [ -e "$b/size" ] && read -r size <"$b/size" && [ "$size" != 0 ] || continue
  n=${b##*/} d=/dev/$(printf %s "${b##*/}" | tr '!' /)
  for x in "$b"/holders/*; do [ -e "$x" ] && printf 'holder\t%s\t%s\n' "$n" "${x##*/}"; done
  if [ "$devices" = 1 ] && [ -b "$d" ]; then all=$all$d$nl; fi
done
for p in "$@"; do
  r=$(readlink -f "$p" 2>/dev/null)
  if [ -b "$r" ]; then
    [ "$r" = "$p" ] || printf 'link\t%s\t%s\n' "$p" "$r"
    case $nl$all in *"$nl$r$nl"*) ;; *) all=$all$r$nl ;; esac
  elif [ -f "$p" ]; then
    printf 'file\t%s\t%s\t%s\n' "$p" "$(stat -L -c %s "$p")" "$(head -c 1048576 "$p" | tr -d '\000' | head -c 1 | wc -c | tr -d ' ')"
    all=$all$p$nl
  elif [ -e "$p" ]; then printf 'other\t%s\n' "$p"
  else printf 'missing\t%s\n' "$p"
  fi
done
printf %s "$all" | while IFS= read -r d; do
  if head_of "$d"; then
    printf 'head\t%s\t%s\t%s\n' "$d" "$hu" "$hr"
    label_of "$d" | while IFS= read -r x; do printf 'label\t%s\t%s\n' "$d" "$x"; done
  fi
  sigs_of "$d" | while IFS= read -r x; do printf 'sig\t%s\t%s\n' "$d" "$x"; done
done
printf %s "$all" | busy_all
`

// parseDisks reads what scriptDisks printed.
func parseDisks(section []byte) []ceph.Disk {
	p := inventory{at: map[string]int{}, labels: map[string]*labelFacts{}, numbers: map[string]int{}}

	var doc strings.Builder

	in := false

	for line := range strings.Lines(strings.ToValidUTF8(string(section), "?")) {
		switch strings.TrimRight(line, "\r\n") {
		case "lsblk":
			in = true
		case "lsblk end":
			in = false

			p.lsblk(doc.String())
		default:
			if in {
				doc.WriteString(line)
			} else {
				p.fact(strings.Split(strings.TrimRight(line, "\r\n"), "\t"))
			}
		}
	}

	p.mounted()

	for path, l := range p.labels {
		if i, ok := p.at[path]; ok {
			p.disks[i].Label = l.label()
			p.disks[i].Signature = ceph.SignatureBlueStore
		}
	}

	return p.disks
}

// inventory is what is known of devices while facts come in.
type inventory struct {
	disks   []ceph.Disk
	at      map[string]int // by path
	numbers map[string]int // by major:minor
	labels  map[string]*labelFacts
	mounts  []mount
}

// mount is a mounted file system, or swap.
type mount struct{ number, at, source string }

// fact takes in one line.
func (p *inventory) fact(f []string) {
	word, f := f[0], f[1:]
	arg := func(i int) string {
		if i < len(f) {
			return f[i]
		}

		return ""
	}

	switch word {
	case "mount":
		p.mounts = append(p.mounts, mount{number: arg(0), at: arg(1), source: arg(2)})

		return
	case "swap":
		p.mounts = append(p.mounts, mount{at: "[SWAP]", source: arg(0)})

		return
	case "link":
		if i, ok := p.at[arg(1)]; ok && !slices.Contains(p.disks[i].Links, arg(0)) && arg(0) != arg(1) {
			p.disks[i].Links = append(p.disks[i].Links, arg(0))
		}

		return
	case "file", "other", "missing":
		p.file(word, arg(0), arg(1), arg(2))

		return
	case "holder":
		arg = func(i int) string { return "/dev/" + f[i] }
	}

	if len(f) < 2 {
		return
	}

	p.deviceFact(word, arg(0), f[1:])
}

// deviceFact takes in what is known of one device.
func (p *inventory) deviceFact(word, path string, f []string) {
	i, ok := p.at[path]
	if !ok {
		return
	}

	d := &p.disks[i]

	switch word {
	case "holder":
		if !slices.Contains(d.Children, f[0]) {
			d.Children = append(d.Children, f[0])
		}
	case "busy":
		d.Busy = f[0]
	case "sig":
		if d.Signature == "" || d.Signature == contentSignature {
			d.Signature = f[0]
		}
	case "head":
		l := p.label(path)
		l.head, l.uuid = true, f[0]

		if len(f) > 1 {
			l.role = f[1]
		}
	case "label":
		if len(f) > 1 {
			p.label(path).values[f[0]] = f[1]
		}
	}
}

func (p *inventory) label(path string) *labelFacts {
	if p.labels[path] == nil {
		p.labels[path] = &labelFacts{values: map[string]string{}}
	}

	return p.labels[path]
}

// contentSignature is the signature of a file that has something in it.
const contentSignature = "content that is no label"

// file adds a path that is no block device.
func (p *inventory) file(word, path, size, content string) {
	d := ceph.Disk{Path: path, Type: word, Missing: word == "missing"}

	if word == "file" {
		d.Size, _ = strconv.ParseInt(size, 10, 64)

		if content != "0" {
			d.Signature = contentSignature
		}
	}

	p.add(d, "")
}

// add takes in a device, unless it is known: one with several parents is printed several times.
func (p *inventory) add(d ceph.Disk, number string) {
	if _, ok := p.at[d.Path]; ok || d.Path == "" {
		return
	}

	p.at[d.Path] = len(p.disks)

	for _, l := range d.Links {
		p.at[l] = len(p.disks)
	}

	p.disks = append(p.disks, d)

	if number != "" {
		p.numbers[number] = len(p.disks) - 1
	}
}

// mounted tells the devices what is mounted from them.
func (p *inventory) mounted() {
	for _, m := range p.mounts {
		i, ok := p.numbers[m.number]
		if !ok {
			i, ok = p.at[m.source]
		}

		if !ok {
			i = slices.IndexFunc(p.disks, func(d ceph.Disk) bool {
				return slices.Contains(d.Links, m.source) || d.Name != "" && "/dev/"+d.Name == m.source
			})
			ok = i >= 0
		}

		if ok && !slices.Contains(p.disks[i].Mounts, m.at) {
			p.disks[i].Mounts = append(p.disks[i].Mounts, m.at)
		}
	}
}
