#include "client/build/headers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "client/build/header.h"

/* Each header that generated code includes, and the replacement for it. */
static const struct {
	const char *name;
	const char *text;
} headers[] = {
	{"dlpack/dlpack.h", msd_tvm_api_header},
	{"tvm/runtime/base.h", msd_tvm_api_header},
	{"tvm/runtime/c_backend_api.h", msd_tvm_api_header},
	{"tvm/runtime/c_runtime_api.h", msd_tvm_api_header},
	{"tvm/runtime/crt/module.h", msd_tvm_api_header},
	{"tvm/runtime/crt/packed_func.h", msd_tvm_api_header},
	{"tvm/runtime/crt/platform.h", msd_tvm_api_header},
	{"tvm/runtime/metadata_types.h", msd_tvm_api_header},
	{"tvm/ffi/c_api.h", msd_tvm_ffi_api_header},
	{"tvm/ffi/extra/c_env_api.h", msd_tvm_ffi_api_header},
	{"modser_aot.h", msd_aot_header},
};

msd_err msd_headers_write(struct msd_compiler *c, struct msd_diag *d)
{
	static const char *const dirs[] = {"include",
					   "include/dlpack",
					   "include/tvm",
					   "include/tvm/runtime",
					   "include/tvm/runtime/crt",
					   "include/tvm/ffi",
					   "include/tvm/ffi/extra",
					   "given"};
	char path[MSD_COMPILER_PATH_BYTES];
	char name[128];
	msd_err err = MSD_OK;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		msd_compiler_path(c, dirs[i], path);
		if (mkdir(path, 0700) != 0)
			return msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(errno));
	}
	for (size_t i = 0; err == MSD_OK && i < sizeof(headers) / sizeof(headers[0]);
	     i++) {
		const struct msd_span text = {(const uint8_t *)headers[i].text,
					      strlen(headers[i].text)};

		(void)snprintf(name, sizeof(name), "include/%s", headers[i].name);
		err = msd_compiler_write(c, name, text, d);
	}
	msd_compiler_add_file(c, "-I", "include");
	return err;
}
