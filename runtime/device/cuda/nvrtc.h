#ifndef MSD_RUNTIME_DEVICE_CUDA_NVRTC_H
#define MSD_RUNTIME_DEVICE_CUDA_NVRTC_H
/* The NVRTC functions in use, as a table for each installed release, filled at the
 * first use. Private to source.c. */
#include "proto/base/diag.h"
#include "runtime/device/cuda/toolkit.h"

struct nvrtc_program;

enum {
	MSD_NVRTC_SUCCESS = 0,
	MSD_NVRTC_OUT_OF_MEMORY = 1,
	MSD_NVRTC_INVALID_OPTION = 5,
};

/* X(field, symbol, arguments). Every function returns an nvrtcResult. */
#define MSD_NVRTC_MAP(X)                                                               \
	X(get_version, nvrtcVersion, (int *, int *))                                   \
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
	int version;         /* 12090: 12.9 */
	char path[PATH_MAX]; /* of its file */
	bool has_headers;    /* headers of the same release */
	struct msd_toolkit_headers headers;
};

/**
 * The newest NVRTC that makes code for a device of @capability (90: 9.0). If none
 * does, the one that supports the newest older device. The table is valid for the
 * life of the process. *@ret_arch is the architecture to request, at most
 * @capability. NULL: NVRTC is not installed, and @d (MSD_UNSUPPORTED) lists what was
 * tried.
 */
const struct msd_nvrtc *msd_nvrtc(int capability, int *ret_arch, struct msd_diag *d);

#endif
