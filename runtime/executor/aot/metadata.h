#ifndef MSD_RUNTIME_EXECUTOR_AOT_METADATA_H
#define MSD_RUNTIME_EXECUTOR_AOT_METADATA_H
/*
 * Metadata of an ahead-of-time compiled model (TVM 0.9 to 0.19): constant data in its
 * library with the layout below; `get_c_metadata` returns a pointer to it. It is as
 * trustworthy as the library's code.
 */
#include "proto/base/diag.h"
#include "proto/dtype.h"

struct msd_aot_tensor { /* TVMTensorInfo */
	const char *name;
	const int64_t *shape;
	int64_t ndim;
	struct msd_dtype dtype;
};

struct msd_aot_constant { /* TVMConstantInfo */
	const char *name;
	int64_t offset;   /* in the constants' block */
	int64_t n_data;   /* bytes of data */
	const void *data; /* a saved tensor */
};

struct msd_aot_metadata { /* TVMMetadata */
	int64_t version;
	const struct msd_aot_tensor *inputs;
	int64_t n_inputs;
	const struct msd_aot_tensor *outputs;
	int64_t n_outputs;
	const struct msd_aot_tensor *pools; /* workspaces */
	int64_t n_pools;
	const struct msd_aot_constant *constants;
	int64_t n_constants;
	const char *model;
};

/** Check counts, ranks and extents. MSD_BAD_ARTIFACT names the field that is wrong. */
MSD_MUST_CHECK msd_err msd_aot_metadata_check(const struct msd_aot_metadata *m,
					      struct msd_diag *d);
/** Size of a checked tensor in bytes. */
size_t msd_aot_tensor_bytes(const struct msd_aot_tensor *t);

#endif
