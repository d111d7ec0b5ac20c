// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/conductor"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
)

func listDrivers(c *api.Call) (api.Answer, error) {
	list := []any{}

	if !c.Down && c.R.URL.Query().Get("type") != "classic" {
		for _, name := range slices.Sorted(maps.Keys(conductor.Drivers)) {
			list = append(list, driverDocument(c, name, c.R.URL.Query().Get("detail") == "true"))
		}
	}

	return api.OK(map[string]any{"drivers": list}), nil
}

func showDriver(c *api.Call) (api.Answer, error) {
	name := c.R.PathValue("driver")
	if conductor.Drivers[name] == nil || c.Down {
		return api.Answer{}, fault.Refuse(http.StatusNotFound, "Could not find the following driver(s) or hardware type(s): %s.", name)
	}

	return api.OK(driverDocument(c, name, true)), nil
}

func driverDocument(c *api.Call, name string, detail bool) map[string]any {
	doc := map[string]any{
		"name": name, "hosts": []any{c.Host}, "links": api.Links(c.Base(), "drivers/"+name),
	}

	if c.Minor >= 14 {
		doc["properties"] = api.Links(c.Base(), "drivers/"+name+"/properties")
	}

	if c.Minor >= 30 {
		doc["type"] = "dynamic"
	}

	if detail && c.Minor >= 30 {
		for _, kind := range c.Kinds() {
			offered := c.Offered(name, kind)
			doc["default_"+kind+"_interface"], doc["enabled_"+kind+"_interfaces"] = offered[0], offered
		}
	}

	return doc
}

func listConductors(c *api.Call) (api.Answer, error) {
	if err := c.Since(49); err != nil {
		return api.Answer{}, err
	}

	return api.OK(map[string]any{"conductors": []any{conductorDocument(c, false)}}), nil
}

func showConductor(c *api.Call) (api.Answer, error) {
	if host := c.R.PathValue("host"); host != c.Host {
		return api.Answer{}, fault.Refuse(http.StatusNotFound, "Conductor %s cannot be found.", host)
	}

	return api.OK(conductorDocument(c, true)), nil
}

func conductorDocument(c *api.Call, detail bool) map[string]any {
	doc := map[string]any{
		"hostname": c.Host, "conductor_group": "", "alive": !c.Down,
		"links": api.Links(c.Base(), "conductors/"+c.Host),
	}

	if detail {
		doc["drivers"] = slices.Sorted(maps.Keys(conductor.Drivers))
		doc["created_at"] = record.Stamp(c.Now.Add(-time.Hour))
		doc["updated_at"] = record.Stamp(c.Now)
	}

	return doc
}
