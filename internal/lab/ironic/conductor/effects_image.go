// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"errors"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/images"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// checkImage is what the conductor does before the ramdisk boots: it looks whether the image
// is there, and reads the checksum file where the checksum is a URL.
func (c *Conductor) checkImage(n *record.Node, at time.Time) error {
	if url := record.Text(n.InstanceInfo, "image_source"); url != "" {
		name, err := images.Resolve(url)
		if err != nil {
			return imageError(url, err)
		}

		n.InstanceInfo["image_type"], n.InstanceInfo["image_url"] = "whole-disk", url

		sum, _ := checksum(n)
		if strings.Contains(sum, "://") {
			if _, _, err := images.ResolveSum(sum, name); err != nil {
				return imageError(sum, err)
			}
		}
	}

	return c.bootRamdisk(n, at)
}

// checksum is the checksum that the node was told, and its algorithm ("" where only the
// length tells).
func checksum(n *record.Node) (sum, algorithm string) {
	if v := record.Text(n.InstanceInfo, "image_os_hash_value"); v != "" {
		return v, record.Text(n.InstanceInfo, "image_os_hash_algo")
	}

	return record.Text(n.InstanceInfo, "image_checksum"), ""
}

var algorithmByLength = map[int]string{32: "md5", 40: "sha1", 64: "sha256", 128: "sha512"}

// writeImage is what the agent does in the ramdisk: it downloads, compares and writes.
func (c *Conductor) writeImage(n *record.Node, _ time.Time) error {
	url := record.Text(n.InstanceInfo, "image_source")

	if err := c.stepFails(n, "deploy.execute_deploy_step:write_image", "write_image", "deploy.execute_deploy_step"); err != nil {
		return err
	}

	if url == "" {
		return nil
	}

	name, err := images.Resolve(url)
	if err != nil {
		return imageError(url, err)
	}

	if err := compare(n, name); err != nil {
		return err
	}

	return c.Change(n, func(m *machine.Machine) error {
		m.Image = url

		return nil
	})
}

// compare fails as the agent does when the downloaded image has another checksum.
func compare(n *record.Node, name string) error {
	want, algorithm := checksum(n)
	if want == "" {
		return nil
	}

	if strings.Contains(want, "://") {
		sum, algo, err := images.ResolveSum(want, name)
		if err != nil {
			return imageError(want, err)
		}

		want, algorithm = sum, algo
	}

	if algorithm == "" {
		algorithm = algorithmByLength[len(want)]
	}

	if got := images.Sum(name, algorithm); !strings.EqualFold(got, want) {
		return broke("Agent returned error for deploy step {'step': 'write_image', 'priority': 80, 'argsinfo': None, 'interface': 'deploy'} "+
			"on node %s : Error verifying image checksum: Image %s failed to verify against checksum. location: /dev/sda; "+
			"image ID: %s; image checksum: %s; verification checksum: %s.", n.UUID, name, name, want, got)
	}

	return nil
}

// stepFails is what the machine's faults say of an agent command.
func (c *Conductor) stepFails(n *record.Node, names ...string) error {
	m, err := c.Machine(n)
	if err != nil {
		return inWords(n, err)
	}

	if m == nil {
		return nil
	}

	if why, ok := m.Faults.FailStep(names...); ok {
		return broke("Agent returned error for deploy step {'step': '%s'} on node %s : %s", names[1], n.UUID, why)
	}

	return nil
}

func (c *Conductor) checkISO(n *record.Node, _ time.Time) error {
	if url := record.Text(n.InstanceInfo, "boot_iso"); url != "" {
		if _, err := images.Resolve(url); err != nil {
			return imageError(url, err)
		}
	}

	_, err := c.Machine(n)

	return inWords(n, err)
}

func (c *Conductor) bootISO(n *record.Node, at time.Time) error {
	return c.Change(n, func(m *machine.Machine) error {
		return start(n, m, bootTarget(n), record.Text(n.InstanceInfo, "boot_iso"), machine.ISO, at)
	})
}

// imageError is what the conductor says of an image that it cannot have.
func imageError(url string, err error) error {
	reason := "Got HTTP code 404 instead of 200 in response to HEAD request."
	if !errors.Is(err, images.ErrNotFound) {
		reason = "Max retries exceeded (Caused by NewConnectionError('Failed to establish a new connection: [Errno 111] ECONNREFUSED'))"
	}

	return broke("Failed to prepare to deploy: Validation of image href %s failed, reason: %s", url, reason)
}
