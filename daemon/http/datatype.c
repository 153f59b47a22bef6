#include "daemon/http/datatype.h"

static const struct {
	const char *name;
	struct msd_dtype dtype;
} rows[] = {{"BOOL", {MSD_DT_BOOL, 8, 1}},    {"UINT8", {MSD_DT_UINT, 8, 1}},
	    {"UINT16", {MSD_DT_UINT, 16, 1}}, {"UINT32", {MSD_DT_UINT, 32, 1}},
	    {"UINT64", {MSD_DT_UINT, 64, 1}}, {"INT8", {MSD_DT_INT, 8, 1}},
	    {"INT16", {MSD_DT_INT, 16, 1}},   {"INT32", {MSD_DT_INT, 32, 1}},
	    {"INT64", {MSD_DT_INT, 64, 1}},   {"FP16", {MSD_DT_FLOAT, 16, 1}},
	    {"FP32", {MSD_DT_FLOAT, 32, 1}},  {"FP64", {MSD_DT_FLOAT, 64, 1}},
	    {"BF16", {MSD_DT_BFLOAT, 16, 1}}};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

const char *msd_datatype_name(struct msd_dtype dtype)
{
	for (unsigned i = 0; i < N_ROWS; i++) {
		if (msd_dtype_eq(rows[i].dtype, dtype))
			return rows[i].name;
	}
	return NULL;
}

bool msd_datatype_read(struct msd_span name, struct msd_dtype *ret)
{
	for (unsigned i = 0; i < N_ROWS; i++) {
		if (msd_span_is(name, rows[i].name)) {
			*ret = rows[i].dtype;
			return true;
		}
	}
	return false;
}
