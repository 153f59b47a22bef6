#ifndef MSD_RUNTIME_DEVICE_CUDA_IMAGE_H
#define MSD_RUNTIME_DEVICE_CUDA_IMAGE_H
/*
 * Code of a CUDA module, as its bytes say: what compilers label "cubin" is often a
 * fatbin. The driver is given an address without a length, so that a cut image would
 * have it read beyond the end: sizes are checked here.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

enum msd_cuda_code {
	MSD_CUDA_CUBIN,
	MSD_CUDA_FATBIN,
	MSD_CUDA_PTX,
	MSD_CUDA_SOURCE,
};

/**
 * What @code is, labelled @format. MSD_BAD_ARTIFACT: empty, damaged, cut;
 * MSD_UNSUPPORTED: none of these.
 */
MSD_MUST_CHECK msd_err msd_cuda_image_check(struct msd_span format,
					    struct msd_span code,
					    enum msd_cuda_code *ret,
					    struct msd_diag *d);
/**
 * Why a driver of @driver_major calls @code, which is whole, an invalid image: it says
 * no more than that. *@ret_err: MSD_UNSUPPORTED where the code is known to be sound.
 * Static storage.
 */
const char *msd_cuda_image_doubt(struct msd_span code, int driver_major,
				 msd_err *ret_err);
/** An aligned copy of @code with a NUL behind it, to be freed. NULL: out of memory. */
char *msd_cuda_image_copy(struct msd_span code);

#endif
