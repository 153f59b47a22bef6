#ifndef MSD_ARTIFACT_GPU_PRIVATE_H
#define MSD_ARTIFACT_GPU_PRIVATE_H
/* Private declarations of the readers of CUDA code. */
#include "artifact/gpu/code.h"

/* Each fills a zeroed image, which the caller finishes in any case. Errors: those of
 * msd_gpu_code_read(). */
MSD_MUST_CHECK msd_err msd_ptx_read(struct msd_span text, struct msd_gpu_image *image,
				    struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_cubin_read(struct msd_span file, struct msd_gpu_image *image,
				      struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_fatbin_read(struct msd_span file, struct msd_gpu_code *code,
				       struct msd_diag *d);

/** By the first bytes. */
bool msd_fatbin_is(struct msd_span code);
bool msd_cubin_is(struct msd_span code);
/**
 * Append a kernel of which only the name is known. *@ret is NULL beyond the limit;
 * the kernel is then counted.
 */
MSD_MUST_CHECK msd_err msd_gpu_kernel_add(struct msd_gpu_image *image,
					  struct msd_span name,
					  struct msd_gpu_kernel **ret,
					  struct msd_diag *d);
void msd_gpu_image_finish(struct msd_gpu_image *image); /* zeroed is allowed */
/** Parse "90a" and the like; other text leaves @ret unknown. */
void msd_gpu_arch_parse(struct msd_span text, struct msd_gpu_arch *ret);

#endif
