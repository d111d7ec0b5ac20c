// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"net/http"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

func sorted(paths []string) []string {
	slices.Sort(paths)

	return paths
}

func serviceRoot(c *call) (answer, error) {
	doc := entity(root+"/", "ServiceRoot.v1_15_0.ServiceRoot", "RootService", "Lab machines", obj{
		"RedfishVersion": "1.15.0", "UUID": "6d6f636b-ffff-4000-8000-000000000000",
		"Product": "metal3-lab", "Vendor": "Simulated", "Oem": obj{},
		"Tasks": ref(root + "/TaskService"), "Links": obj{"Sessions": ref(sessionsPath)},
	})

	rooms := []string{
		"Systems", "Managers", "Chassis", "SessionService", "UpdateService", "EventService", "CertificateService", "Registries",
	}
	if c.face.single {
		rooms = append(rooms, "AccountService")
	}

	for _, room := range rooms {
		doc[room] = ref(root + "/" + room)
	}

	return answer{code: http.StatusOK, body: doc}, nil
}

// each is one path for every machine of the face, in order.
func (c *call) each(path func(names) string) ([]string, error) {
	if c.known {
		return []string{path(c.n)}, nil
	}

	all, err := machine.All(c.tx)

	paths := make([]string, 0, len(all))
	for _, m := range all {
		paths = append(paths, path(c.face.names(m, false)))
	}

	return paths, err
}

func systemList(c *call) (answer, error) {
	paths, err := c.each(func(n names) string { return n.system })
	if err != nil {
		return answer{}, err
	}

	f := &c.m.Faults
	if f.SecondSystem == "" {
		return c.resource(collection(c.path(), "ComputerSystem", paths...)), nil
	}

	paths = append(paths, root+"/Systems/"+f.SecondSystem)

	if !f.SwapSystems {
		return c.resource(collection(c.path(), "ComputerSystem", paths...)), nil
	}

	if f.Swapped = !f.Swapped; f.Swapped {
		slices.Reverse(paths)
	}

	return c.resource(collection(c.path(), "ComputerSystem", paths...)), c.save()
}

func managerList(c *call) (answer, error) {
	paths, err := c.each(func(n names) string { return n.manager })

	return c.resource(collection(c.path(), "Manager", paths...)), err
}

func chassisList(c *call) (answer, error) {
	paths, err := c.each(func(n names) string { return n.chassis })

	return c.resource(collection(c.path(), "Chassis", paths...)), err
}

func eventService(c *call) (answer, error) {
	return c.resource(entity(c.path(), "EventService.v1_7_0.EventService", "EventService", "Events", obj{
		"ServiceEnabled": true, "Subscriptions": ref(c.path() + "/Subscriptions"),
	})), nil
}

func certificateService(c *call) (answer, error) {
	const replace = "CertificateService.ReplaceCertificate"

	return c.resource(entity(c.path(), "CertificateService.v1_0_4.CertificateService", "CertificateService", "Certificates", obj{
		"CertificateLocations": ref(c.path() + "/CertificateLocations"),
		"Actions":              obj{"#" + replace: action(c.path()+"/Actions/"+replace, nil)},
	})), nil
}

func certificateLocations(c *call) (answer, error) {
	return c.resource(entity(c.path(), "CertificateLocations.v1_0_2.CertificateLocations", "CertificateLocations", "Locations",
		obj{"Links": obj{"Certificates": list{}}})), nil
}
