// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// This file holds the parts of the model, as the framework reads them.

type hostModel struct {
	Address       types.String `tfsdk:"address"`
	Connection    types.Object `tfsdk:"connection"`
	Roles         types.Set    `tfsdk:"roles"`
	CrushLocation types.Map    `tfsdk:"crush_location"`
}

type monModel struct {
	Count         types.Int64  `tfsdk:"count"`
	Hosts         types.List   `tfsdk:"hosts"`
	AllowMultiple types.Bool   `tfsdk:"allow_multiple_per_host"`
	Failover      types.String `tfsdk:"failover_timeout"`
}

type mgrModel struct {
	Count         types.Int64   `tfsdk:"count"`
	Hosts         types.List    `tfsdk:"hosts"`
	AllowMultiple types.Bool    `tfsdk:"allow_multiple_per_host"`
	Modules       types.Dynamic `tfsdk:"modules"`
}

type networkModel struct {
	Public       types.List   `tfsdk:"public"`
	Cluster      types.List   `tfsdk:"cluster"`
	RequireMsgr2 types.Bool   `tfsdk:"require_msgr2"`
	Encryption   types.Bool   `tfsdk:"encryption"`
	Compression  types.Bool   `tfsdk:"compression"`
	Ports        types.Object `tfsdk:"ports"`
}

type portsModel struct {
	Msgr2 types.Int64 `tfsdk:"msgr2"`
	Msgr1 types.Int64 `tfsdk:"msgr1"`
}

type storageModel struct {
	Backend       types.String  `tfsdk:"backend"`
	AllowFile     types.Bool    `tfsdk:"allow_file_osds"`
	FileSize      types.String  `tfsdk:"file_size"`
	Devices       types.List    `tfsdk:"devices"`
	Selectors     types.List    `tfsdk:"selectors"`
	OSDsPerDevice types.Int64   `tfsdk:"osds_per_device"`
	Removal       types.Object  `tfsdk:"removal"`
	Full          types.Float64 `tfsdk:"full_ratio"`
	BackfillFull  types.Float64 `tfsdk:"backfillfull_ratio"`
	NearFull      types.Float64 `tfsdk:"nearfull_ratio"`
}

type deviceModel struct {
	Host      types.String  `tfsdk:"host"`
	Path      types.String  `tfsdk:"path"`
	DB        types.String  `tfsdk:"db_device"`
	DBSize    types.String  `tfsdk:"db_size"`
	Class     types.String  `tfsdk:"device_class"`
	Encrypted types.Bool    `tfsdk:"encrypted"`
	Count     types.Int64   `tfsdk:"osds_per_device"`
	Weight    types.Float64 `tfsdk:"initial_weight"`
}

type selectorModel struct {
	Hosts      types.List   `tfsdk:"hosts"`
	All        types.Bool   `tfsdk:"all"`
	NameRegex  types.String `tfsdk:"name_regex"`
	PathRegex  types.String `tfsdk:"path_regex"`
	MinSize    types.String `tfsdk:"min_size"`
	MaxSize    types.String `tfsdk:"max_size"`
	Rotational types.Bool   `tfsdk:"rotational"`
	Limit      types.Int64  `tfsdk:"limit"`
	Class      types.String `tfsdk:"device_class"`
	Encrypted  types.Bool   `tfsdk:"encrypted"`
}

type removalModel struct {
	Allow    types.Bool   `tfsdk:"allow"`
	Timeout  types.String `tfsdk:"timeout"`
	Parallel types.Int64  `tfsdk:"max_parallel"`
	Wipe     types.Bool   `tfsdk:"wipe"`
}

type poolModel struct {
	FailureDomain types.String `tfsdk:"failure_domain"`
	Size          types.Int64  `tfsdk:"size"`
	MinSize       types.Int64  `tfsdk:"min_size"`
	PGNum         types.Int64  `tfsdk:"pg_num"`
}

type upgradeModel struct {
	SkipChecks        types.Bool   `tfsdk:"skip_checks"`
	ContinueUnhealthy types.Bool   `tfsdk:"continue_if_unhealthy"`
	OkToStop          types.String `tfsdk:"osd_ok_to_stop_timeout"`
	Parallel          types.Int64  `tfsdk:"osd_max_parallel"`
	RequireCleanPGs   types.Bool   `tfsdk:"require_clean_pgs"`
}

type cleanupModel struct {
	Confirmation  types.String `tfsdk:"confirmation"`
	Wipe          types.String `tfsdk:"wipe_devices"`
	Passes        types.Int64  `tfsdk:"wipe_passes"`
	AllowWithData types.Bool   `tfsdk:"allow_with_data"`
}

type takeoverModel struct {
	WipeForeignDevices types.Bool `tfsdk:"wipe_foreign_devices"`
	WipeForeignData    types.Bool `tfsdk:"wipe_foreign_data"`
}

type readyModel struct {
	OSDsUp     types.String `tfsdk:"osds_up"`
	Health     types.String `tfsdk:"health"`
	AllowCodes types.List   `tfsdk:"allow_health_codes"`
}

type dashboardModel struct {
	Enabled types.Bool   `tfsdk:"enabled"`
	Port    types.Int64  `tfsdk:"port"`
	SSL     types.Bool   `tfsdk:"ssl"`
	Prefix  types.String `tfsdk:"url_prefix"`
}

type externalModel struct {
	FSID         types.String `tfsdk:"fsid"`
	MonEndpoints types.String `tfsdk:"mon_endpoints"`
	User         types.String `tfsdk:"user"`
	Key          types.String `tfsdk:"key"`
	KeyWO        types.String `tfsdk:"key_wo"`
	KeyWOVersion types.Int64  `tfsdk:"key_wo_version"`
	KeyringFile  types.String `tfsdk:"keyring_file"`
}

type timeoutsModel struct {
	Create types.String `tfsdk:"create"`
	Read   types.String `tfsdk:"read"`
	Update types.String `tfsdk:"update"`
	Delete types.String `tfsdk:"delete"`
}

// The parts of what is computed.

type monState struct {
	Host     types.String `tfsdk:"host"`
	Addr     types.String `tfsdk:"addr"`
	InQuorum types.Bool   `tfsdk:"in_quorum"`
	OutSince types.String `tfsdk:"out_since"`
}

type mgrState struct {
	Host   types.String `tfsdk:"host"`
	Active types.Bool   `tfsdk:"active"`
}

type osdState struct {
	Host   types.String `tfsdk:"host"`
	UUID   types.String `tfsdk:"uuid"`
	Path   types.String `tfsdk:"path"`
	Device types.String `tfsdk:"device"`
	Class  types.String `tfsdk:"device_class"`
	Up     types.Bool   `tfsdk:"up"`
	In     types.Bool   `tfsdk:"in"`
}

type checkState struct {
	Severity types.String `tfsdk:"severity"`
	Message  types.String `tfsdk:"message"`
	Muted    types.Bool   `tfsdk:"muted"`
}

type conditionState struct {
	Type           types.String `tfsdk:"type"`
	Status         types.String `tfsdk:"status"`
	Reason         types.String `tfsdk:"reason"`
	Message        types.String `tfsdk:"message"`
	LastTransition types.String `tfsdk:"last_transition_time"`
}

type capacityState struct {
	Total     int64 `tfsdk:"total"`
	Used      int64 `tfsdk:"used"`
	Available int64 `tfsdk:"available"`
}
