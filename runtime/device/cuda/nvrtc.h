#ifndef MSD_RUNTIME_DEVICE_CUDA_NVRTC_H
#define MSD_RUNTIME_DEVICE_CUDA_NVRTC_H
/* The functions of NVRTC that are used here, as a table filled at the first use.
 * Private to source.c. */
#include "proto/diag.h"

struct nvrtc_program;

enum {
	MSD_NVRTC_SUCCESS = 0,
	MSD_NVRTC_OUT_OF_MEMORY = 1,
	MSD_NVRTC_INVALID_OPTION = 5,
};

/* X(field, symbol, arguments). Every function returns an nvrtcResult. */
#define MSD_NVRTC_MAP(X)                                                               \
	X(create, nvrtcCreateProgram,                                                  \
	  (struct nvrtc_program **, const char *, const char *, int,                   \
	   const char *const *, const char *const *))                                  \
	X(destroy, nvrtcDestroyProgram, (struct nvrtc_program **))                     \
	X(compile, nvrtcCompileProgram,                                                \
	  (struct nvrtc_program *, int, const char *const *))                          \
	X(log_size, nvrtcGetProgramLogSize, (struct nvrtc_program *, size_t *))        \
	X(log, nvrtcGetProgramLog, (struct nvrtc_program *, char *))                   \
	X(ptx_size, nvrtcGetPTXSize, (struct nvrtc_program *, size_t *))               \
	X(ptx, nvrtcGetPTX, (struct nvrtc_program *, char *))                          \
	X(cubin_size, nvrtcGetCUBINSize, (struct nvrtc_program *, size_t *))           \
	X(cubin, nvrtcGetCUBIN, (struct nvrtc_program *, char *))                      \
	X(n_archs, nvrtcGetNumSupportedArchs, (int *))                                 \
	X(archs, nvrtcGetSupportedArchs, (int *))

struct msd_nvrtc {
#define MSD_NVRTC_FIELD(field, symbol, arguments) int(*field) arguments;
	MSD_NVRTC_MAP(MSD_NVRTC_FIELD)
#undef MSD_NVRTC_FIELD
	const char *(*error_string)(int);
};

/** The table, for the life of the process. NULL: none here, and @d (MSD_UNSUPPORTED)
 * says what was looked for. */
const struct msd_nvrtc *msd_nvrtc(struct msd_diag *d);
/** A directory with the toolkit's headers and libraries; NULL: none is installed. */
const char *msd_cuda_home(void);

#endif
