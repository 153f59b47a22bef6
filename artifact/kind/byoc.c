/*
 * Kinds of vendors' compilers ("bring your own codegen"), and of host code that was
 * not linked. None of them runs without the vendor's library; their layouts are
 * needed to find the modules after them.
 */
#include "artifact/kind/fields.h"

const struct msd_kind_field msd_fields_nothing[] = {{0}};

/* The constants are in a const_loader. */
const struct msd_kind_field msd_fields_json_graph[] = {
	{"symbol", "symbol", MSD_FIELD_SYMBOL, NULL},
	{"graph", "graph", MSD_FIELD_FILE, ".graph.json"},
	{"constants", "constant names", MSD_FIELD_NAMES, NULL},
	{0}};

const struct msd_kind_field msd_fields_vitis[] = {
	{"model", "model", MSD_FIELD_FILE, ".xmodel"},
	{"export_path", "export path", MSD_FIELD_TEXT, NULL},
	{"symbol", "symbol", MSD_FIELD_TEXT, NULL},
	{"constants", "constant names", MSD_FIELD_NAMES, NULL},
	{0}};

const struct msd_kind_field msd_fields_torch[] = {
	{"symbol", "symbol", MSD_FIELD_TEXT, NULL},
	{"code", "code", MSD_FIELD_FILE, ".pt"},
	{0}};

const struct msd_kind_field msd_fields_coreml[] = {
	{"symbol", "symbol", MSD_FIELD_TEXT, NULL},
	{"code", "code", MSD_FIELD_FILE, ".mlmodelc"},
	{0}};

const struct msd_kind_field msd_fields_marvell[] = {
	{"symbol", "symbol", MSD_FIELD_SYMBOL, NULL},
	{"graph", "graph", MSD_FIELD_FILE, ".nodes.json"},
	{"code", "code", MSD_FIELD_FILE, ".code"},
	{0}};

const struct msd_kind_field msd_fields_static_library[] = {
	{"object", "object", MSD_FIELD_FILE, ".o"},
	{"symbols", "functions", MSD_FIELD_NAMES, NULL},
	{0}};

const struct msd_kind_field msd_fields_c_source[] = {
	{"code", "code", MSD_FIELD_FILE, ".c"},
	{"format", "format", MSD_FIELD_TEXT, NULL},
	{"symbols", "functions", MSD_FIELD_NAMES, NULL},
	{"constants", "constant names", MSD_FIELD_NAMES, NULL},
	{0}};
