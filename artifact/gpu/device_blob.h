#ifndef MSD_ARTIFACT_GPU_DEVICE_BLOB_H
#define MSD_ARTIFACT_GPU_DEVICE_BLOB_H
/*
 * Payload of the kinds with code for a driver: cuda, opencl, hip, hexagon
 *   str fmt; fmap; str code
 *   fmap = u64 n, n x { str key; str name; vec dtype; vec str tag;
 *                       [0.21+: vec i32] }
 */
#include "artifact/elf/era.h"

struct msd_kernel {
	struct msd_span name; /* the map's key: FunctionInfo.name is empty in <= 0.20 */
	struct msd_dtype *args; /* kernel parameters */
	size_t n_args;
	struct msd_span *tags; /* launch parameters, in order */
	size_t n_tags;
	int32_t *extra;            /* per argument, 0 when missing; 1 = CUtensorMap */
	size_t n_extra;            /* as in the file; may differ from n_args */
	struct msd_span info_name; /* FunctionInfo.name: the key again, or empty */
};

struct msd_device_blob {
	struct msd_span format; /* "ptx", "cubin", "cuda", "cl", ... as written: a
				 * fatbin is labelled "cubin" */
	struct msd_span code;
	struct msd_kernel *kernels;
	size_t n_kernels;
};

/**
 * Read one blob at @c; its spans borrow from @c's bytes. The caller owns *@ret (finish
 * it). Errors: MSD_BAD_ARTIFACT, MSD_UNSUPPORTED (the SPIR-V variant of opencl, which
 * TVM wrote without its format), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_device_blob_read(struct msd_cur *c, enum msd_era era,
					    struct msd_device_blob *ret,
					    struct msd_diag *d);
void msd_device_blob_finish(struct msd_device_blob *b); /* NULL and zeroed are OK */

/** Read only an fmap: for kinds that store code elsewhere (metal, vulkan, webgpu). */
MSD_MUST_CHECK msd_err msd_kernels_read(struct msd_cur *c, enum msd_era era,
					struct msd_kernel **ret, size_t *ret_n,
					struct msd_diag *d);
/**
 * Append a blob from msd_device_blob_read(), byte for byte. Errors: MSD_UNSUPPORTED:
 * more extra tags than arguments; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_device_blob_write(const struct msd_device_blob *b,
					     enum msd_era era, struct msd_buf *out,
					     struct msd_diag *d);
void msd_kernels_free(struct msd_kernel *kernels, size_t n); /* NULL is allowed */

#endif
