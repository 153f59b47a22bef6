#ifndef MSD_ARTIFACT_PARAMS_TENSOR_BLOB_H
#define MSD_ARTIFACT_PARAMS_TENSOR_BLOB_H
/*
 * TVM's saved tensor, the same bytes in every release:
 *   u64 0xDD5E40F096B4A13F; u64 0; i32 device_type; i32 device_id; i32 ndim; dtype(4);
 *   i64 shape[ndim]; i64 nbytes; nbytes of data (unaligned)
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

struct msd_tensor_blob {
	struct msd_dtype dtype;
	uint32_t ndim;
	int64_t shape[MSD_MAX_NDIM];
	struct msd_span
		data; /* borrowed; not aligned: copy before compiled code sees it */
};

/**
 * Read one tensor at @c; its data borrow from @c's bytes and match type and shape in
 * size. Errors: MSD_BAD_ARTIFACT, also for a tensor that was not saved from host
 * memory; *@ret is written on success only.
 */
MSD_MUST_CHECK msd_err msd_tensor_blob_read(struct msd_cur *c,
					    struct msd_tensor_blob *ret,
					    struct msd_diag *d);

/**
 * Copy @t; the caller frees the copy; its data stays borrowed. NULL: out of memory,
 * with the text in @d.
 */
struct msd_tensor_blob *msd_tensor_blob_copy(const struct msd_tensor_blob *t,
					     struct msd_diag *d);

#endif
