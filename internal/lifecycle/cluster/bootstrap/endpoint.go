// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"

	"sigs.k8s.io/yaml"
)

// KubeVIP puts the endpoint on the machines of the control plane by a static pod.
type KubeVIP struct {
	Image     string `json:"image"`
	Interface string `json:"interface,omitempty"` // empty: the one of the default route
	Address   string `json:"address,omitempty"`   // empty: the endpoint's
}

// Keepalived puts the endpoint on the machines of the control plane by the keepalived that is in
// their image.
type Keepalived struct {
	Interface string `json:"interface"`
	RouterID  int    `json:"router_id"`         // of VRRP: one for each endpoint of a network
	Address   string `json:"address,omitempty"` // empty: the endpoint's
}

const (
	kubeVIPPath    = "/etc/kubernetes/manifests/kube-vip.yaml"
	keepalivedPath = "/etc/keepalived/keepalived.conf"
	adminConf      = "/etc/kubernetes/admin.conf"
	superAdminConf = "/etc/kubernetes/super-admin.conf"

	// returnSuperAdmin makes kube-vip use admin.conf, which has its rights once kubeadm init is through.
	returnSuperAdmin = "sed -i 's#" + superAdminConf + "#" + adminConf + "#' " + kubeVIPPath
)

var interfacePattern = regexp.MustCompile(`^[A-Za-z0-9._@-]{1,15}$`)

func (k *KubeVIP) check() error {
	switch {
	case k == nil:
		return nil
	case k.Image == "":
		return errors.New("image: say which image it is, with its version")
	case k.Interface != "" && !interfacePattern.MatchString(k.Interface):
		return fmt.Errorf("interface: %q is no name of an interface", k.Interface)
	default:
		return nil
	}
}

func (k *Keepalived) check() error {
	const maxRouter = 255

	switch {
	case k == nil:
		return nil
	case !interfacePattern.MatchString(k.Interface):
		return fmt.Errorf("interface: %q is no name of an interface", k.Interface)
	case k.RouterID < 1 || k.RouterID > maxRouter:
		return fmt.Errorf("router_id: between 1 and %d, not %d", maxRouter, k.RouterID)
	default:
		return nil
	}
}

// borrowsSuperAdmin reports that kube-vip starts with the rights of super-admin.conf: those of
// admin.conf come only with the end of kubeadm init, which waits for the address that kube-vip
// brings (kube-vip/kube-vip#684). Only the first machine has that file.
func (r *render) borrowsSuperAdmin() bool {
	return r.k.KubeVIP != nil && r.first && r.version.Minor >= minorSuperAdmin
}

// endpointFiles are what brings the endpoint to the machine.
func (r *render) endpointFiles() []File {
	switch {
	case r.k.KubeVIP != nil:
		return []File{{Path: kubeVIPPath, Content: r.kubeVIP(), Owner: ownerRoot, Permissions: modePrivate}}
	case r.k.Keepalived != nil:
		return []File{{Path: keepalivedPath, Content: r.keepalived(), Owner: ownerRoot, Permissions: modePrivate}}
	default:
		return nil
	}
}

// before is what runs before kubeadm: keepalived, but where the endpoint answers already it
// waits, so that a machine whose API is not up does not take the address.
func (r *render) before() []string {
	if !r.controlPlane || r.k.Keepalived == nil {
		return nil
	}

	return []string{"curl -sk --max-time 10 -o /dev/null 'https://" + r.v.Cluster.Endpoint.String() + "/healthz' || systemctl start keepalived"}
}

func (r *render) after() []string {
	if !r.controlPlane || r.k.Keepalived == nil {
		return nil
	}

	return []string{"systemctl enable --now keepalived"}
}

// kubeVIP is the static pod, with what kube-vip's own generator writes (pkg/kubevip/config_generator.go).
func (r *render) kubeVIP() string {
	k, conf := r.k.KubeVIP, adminConf
	if r.borrowsSuperAdmin() {
		conf = superAdminConf
	}

	address := k.Address
	if address == "" {
		address = r.v.Cluster.Endpoint.Host
	}

	type object = map[string]any

	env := []any{}
	set := func(name, value string) { env = append(env, object{"name": name, "value": value}) }

	set("vip_arp", "true")
	set("address", address)
	set("port", strconv.Itoa(r.k.bindPort(r.v)))
	set("vip_subnet", strconv.Itoa(hostPrefix(address)))
	set("cp_enable", "true")
	set("cp_namespace", "kube-system")
	set("vip_leaderelection", "true")
	set("vip_leasename", "plndr-cp-lock")
	set("vip_leaseduration", "15")
	set("vip_renewdeadline", "10")
	set("vip_retryperiod", "2")

	if k.Interface != "" {
		set("vip_interface", k.Interface)
	}

	env = append(env, object{"name": "vip_nodename", "valueFrom": object{"fieldRef": object{"fieldPath": "spec.nodeName"}}})

	pod := object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": object{"name": "kube-vip", "namespace": "kube-system"},
		"spec": object{
			"hostNetwork": true,
			"hostAliases": []any{object{"ip": "127.0.0.1", "hostnames": []any{"kubernetes"}}},
			"containers": []any{object{
				"name": "kube-vip", "image": k.Image, "imagePullPolicy": "IfNotPresent", "args": []any{"manager"}, "env": env,
				"securityContext": object{"capabilities": object{"add": []any{"NET_ADMIN", "NET_RAW"}, "drop": []any{"ALL"}}},
				"volumeMounts":    []any{object{"name": "kubeconfig", "mountPath": adminConf}},
			}},
			"volumes": []any{object{"name": "kubeconfig", "hostPath": object{"path": conf}}},
		},
	}

	text, err := yaml.Marshal(pod)
	if err != nil { // maps, lists and texts
		return ""
	}

	return string(text)
}

// hostPrefix is the prefix of one address.
func hostPrefix(address string) int {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return netip.IPv4Unspecified().BitLen() // a name
	}

	return a.BitLen()
}

func (r *render) keepalived() string {
	k := r.k.Keepalived

	address := k.Address
	if address == "" {
		address = r.v.Cluster.Endpoint.Host
	}

	// A machine whose API does not answer gives way to one whose API does; alone it keeps the
	// address, without which kubeadm init would not end.
	return fmt.Sprintf(`vrrp_script apiserver {
  script "/usr/bin/curl -sk --max-time 5 -o /dev/null https://localhost:%d/healthz"
  interval 5
  fall 3
  rise 2
  weight -20
}

vrrp_instance control_plane {
  state BACKUP
  nopreempt
  interface %s
  virtual_router_id %d
  priority 100
  advert_int 1
  virtual_ipaddress {
    %s/%d
  }
  track_script {
    apiserver
  }
}
`, r.k.bindPort(r.v), k.Interface, k.RouterID, address, hostPrefix(address))
}
