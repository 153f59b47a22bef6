/*
 * The CUDA driver's functions, looked up in its library when the first device is
 * requested, so that the same binary runs without a driver. This file maps the
 * driver's error codes to ours, with the driver's names and texts.
 */
#include "runtime/device/cuda/api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libcuda.so.1"

static struct msd_cuda_api api;
static char absent[512]; /* reason why there is no driver; empty if there is one */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
	const char *symbol;
	size_t offset;
	bool is_optional;
} fields[] = {
#define REQUIRED_ROW(field, symbol, arguments)                                         \
	{#symbol, offsetof(struct msd_cuda_api, field), false},
	MSD_CUDA_API_MAP(REQUIRED_ROW)
#undef REQUIRED_ROW
#define OPTIONAL_ROW(field, symbol, arguments)                                         \
	{#symbol, offsetof(struct msd_cuda_api, field), true},
		MSD_CUDA_API_LATER_MAP(OPTIONAL_ROW)
#undef OPTIONAL_ROW
};

static bool table_fill(void *library, const char *path)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		void *symbol = dlsym(library, fields[i].symbol);
		if (symbol == NULL && !fields[i].is_optional) {
			(void)snprintf(absent, sizeof(absent),
				       "the CUDA driver %s has no %s: it is too old",
				       path, fields[i].symbol);
			return false;
		}
		memcpy((char *)&api + fields[i].offset, &symbol, sizeof(symbol));
	}
	return true;
}

/* The toolkit's stub library names no errors, and an old driver does not name newer
 * ones. */
static const char *name_of(int code)
{
	static const struct {
		int code;
		const char *name;
	} names[] = {
#define MSD_CUDA_ERROR_NAME(name, number) {number, "CUDA_ERROR_" #name},
		MSD_CUDA_ERROR_MAP(MSD_CUDA_ERROR_NAME)
#undef MSD_CUDA_ERROR_NAME
	};
	const char *text = NULL;

	if (api.error_name(code, &text) == MSD_CU_SUCCESS && text != NULL)
		return text;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].code == code)
			return names[i].name;
	}
	return "an error without a name";
}

/* Our text for errors with a misleading driver text; else the driver's. */
static const char *meaning_of(int code)
{
	const char *text = NULL;

	switch (code) {
	case MSD_CU_ERROR_STUB_LIBRARY:
		return "this is the toolkit's stub, which programs are linked with, "
		       "and "
		       "no driver: take its folder (lib64/stubs) out of the library "
		       "path, or name the driver's libcuda.so.1 in MODSERD_LIBCUDA";
	case MSD_CU_ERROR_DEVICE_UNAVAILABLE:
		return "the device accepts no more processes: it is in exclusive mode "
		       "and another process uses it, or computing is prohibited (see "
		       "nvidia-smi -q -d COMPUTE)";
	default:
		break;
	}
	if (api.error_string(code, &text) == MSD_CU_SUCCESS && text != NULL)
		return text;
	return "which the driver does not explain";
}

/* The library stays open: a driver must not be unmapped. */
static void load(void)
{
	const char *path = secure_getenv("MODSERD_LIBCUDA");

	if (path == NULL || path[0] == '\0')
		path = LIBRARY;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		const char *why = dlerror();
		(void)snprintf(absent, sizeof(absent), "no CUDA driver: %s",
			       why != NULL ? why : path);
		return;
	}
	if (!table_fill(library, path))
		return;
	/* Report kernel errors at load, not at the first launch. */
	(void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);
	int code = api.init(0);
	if (code != MSD_CU_SUCCESS) {
		(void)snprintf(absent, sizeof(absent),
			       "the CUDA driver %s does not start: cuInit: %s (%d), %s",
			       path, name_of(code), code, meaning_of(code));
	}
}

const struct msd_cuda_api *msd_cuda_api(struct msd_diag *d)
{
	(void)pthread_once(&once, load);
	if (absent[0] == '\0')
		return &api;
	(void)msd_diag_set(d, MSD_UNSUPPORTED, "%s", absent);
	return NULL;
}

void msd_cuda_driver_version(char ret[static MSD_DEVICE_TEXT_MAX])
{
	int version = 0; /* 1000 * major + 10 * minor */

	ret[0] = '\0';
	if (msd_cuda_api(NULL) != NULL &&
	    api.driver_version(&version) == MSD_CU_SUCCESS) {
		(void)snprintf(ret, MSD_DEVICE_TEXT_MAX, "%d.%d", version / 1000,
			       version % 1000 / 10);
	}
}

int msd_cuda_driver_major(void)
{
	int version = 0;

	if (msd_cuda_api(NULL) == NULL ||
	    api.driver_version(&version) != MSD_CU_SUCCESS)
		return 0;
	return version / 1000;
}

static msd_err translate(int code)
{
	switch (code) {
	case MSD_CU_ERROR_OUT_OF_MEMORY:
		return MSD_NOMEM;
	case MSD_CU_ERROR_INVALID_IMAGE:
	case MSD_CU_ERROR_NOT_FOUND:
		return MSD_BAD_ARTIFACT;
	/* Usually code for another device or driver. */
	case MSD_CU_ERROR_NO_BINARY_FOR_GPU:
	case MSD_CU_ERROR_INVALID_PTX:
	case MSD_CU_ERROR_UNSUPPORTED_PTX_VERSION:
	case MSD_CU_ERROR_INVALID_SOURCE:
	case MSD_CU_ERROR_JIT_COMPILER_NOT_FOUND:
		return MSD_UNSUPPORTED;
	/* The driver's documentation (CUresult) says that the process must exit after
	 * these. */
	case MSD_CU_ERROR_CONTAINED:
	case MSD_CU_ERROR_ILLEGAL_ADDRESS:
	case MSD_CU_ERROR_LAUNCH_TIMEOUT:
	case MSD_CU_ERROR_HARDWARE_STACK_ERROR:
	case MSD_CU_ERROR_ILLEGAL_INSTRUCTION:
	case MSD_CU_ERROR_MISALIGNED_ADDRESS:
	case MSD_CU_ERROR_INVALID_ADDRESS_SPACE:
	case MSD_CU_ERROR_INVALID_PC:
	case MSD_CU_ERROR_LAUNCH_FAILED:
	case MSD_CU_ERROR_TENSOR_MEMORY_LEAK:
	case MSD_CU_ERROR_MPS_CLIENT_TERMINATED:
	case MSD_CU_ERROR_EXTERNAL_DEVICE:
	/*
	 * For these two it says that the context is unusable. Ours is the device's
	 * primary context with all memory and code, and only another process gets a
	 * new one.
	 */
	case MSD_CU_ERROR_CONTEXT_IS_DESTROYED:
	case MSD_CU_ERROR_ASSERT:
	/* For these it only says that data in memory or on a link is lost. A fresh
	 * process does not use the lost data. */
	case MSD_CU_ERROR_ECC_UNCORRECTABLE:
	case MSD_CU_ERROR_NVLINK_UNCORRECTABLE:
		return MSD_GPU_FAULT;
	default:
		return MSD_CALL_FAILED;
	}
}

msd_err msd_cuda_error(struct msd_diag *d, const char *function, int code)
{
	return msd_diag_set(d, translate(code), "%s: %s (%d), %s", function,
			    name_of(code), code, meaning_of(code));
}
