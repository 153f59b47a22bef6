#ifndef MSD_RUNTIME_DEVICE_CUDA_IMAGE_H
#define MSD_RUNTIME_DEVICE_CUDA_IMAGE_H
/*
 * Detect the format of CUDA code from its bytes: code that compilers label "cubin" is
 * often a fatbin. The driver gets an address without a length, so it would read past
 * the end of a truncated image. Therefore sizes are checked here.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

enum msd_cuda_code {
	MSD_CUDA_CUBIN,
	MSD_CUDA_FATBIN,
	MSD_CUDA_PTX,
	MSD_CUDA_SOURCE,
};

/**
 * The format of @code, labelled @format. MSD_BAD_ARTIFACT: empty, damaged or
 * truncated; MSD_UNSUPPORTED: none of the known formats.
 */
MSD_MUST_CHECK msd_err msd_cuda_image_check(struct msd_span format,
					    struct msd_span code,
					    enum msd_cuda_code *ret,
					    struct msd_diag *d);
/**
 * The likely reason why a driver of @driver_major calls @code, which is complete, an
 * invalid image; the driver gives no reason. *@ret_err: MSD_UNSUPPORTED if the code
 * is known to be valid. Static storage.
 */
const char *msd_cuda_image_doubt(struct msd_span code, int driver_major,
				 msd_err *ret_err);
/**
 * An aligned copy of @code with a NUL after it; the caller frees it. NULL: out of
 * memory.
 */
char *msd_cuda_image_copy(struct msd_span code);

#endif
