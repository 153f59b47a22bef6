/*
 * Compile CUDA C of modules that were saved as source with NVRTC, if it is installed.
 */
#include "runtime/device/cuda/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/build_log.h"
#include "runtime/device/cuda/nvrtc.h"
#include "runtime/device/cuda/prelude.h"

#define FIRST_FEATURE_ARCH                                                             \
	90 /* from this version "sm_90a" has features that "sm_90" lacks */

/*
 * TVM's options: with other ones a kernel has other digits or another speed. The
 * macros are for toolkit headers: they enable features that the code uses and silence
 * warnings that concern only the host.
 */
static const char *const fixed[] = {
	"--std=c++17",
	"-default-device",
	"--device-int128",
	"--use_fast_math",
	"--ptxas-options=--register-usage-level=10",
	"-D__NV_SILENCE_DEPRECATION_BEGIN=",
	"-D__NV_SILENCE_DEPRECATION_END=",
	"-D__NV_SILENCE_HOST_DEPRECATION_BEGIN=",
	"-D__NV_SILENCE_HOST_DEPRECATION_END=",
	"-U__CUDA_NO_HALF_OPERATORS__",
	"-U__CUDA_NO_HALF_CONVERSIONS__",
	"-U__CUDA_NO_BFLOAT16_OPERATORS__",
	"-U__CUDA_NO_BFLOAT16_CONVERSIONS__",
	"-U__CUDA_NO_BFLOAT162_OPERATORS__",
	"-U__CUDA_NO_BFLOAT162_CONVERSIONS__",
};
#define N_FIXED (sizeof(fixed) / sizeof(fixed[0]))

/* Options and the buffers for their texts. */
struct options {
	const char *list[N_FIXED + 1 + MSD_TOOLKIT_INCLUDES];
	int n;
	char arch[48];
	char include[MSD_TOOLKIT_INCLUDES][PATH_MAX + 16];
};

static void options_fill(struct options *o, const struct msd_nvrtc *nvrtc,
			 const char *prefix, int arch, const char *suffix)
{
	o->n = 0;
	(void)snprintf(o->arch, sizeof(o->arch), "--gpu-architecture=%s%d%s", prefix,
		       arch, suffix);
	o->list[o->n++] = o->arch;
	for (size_t i = 0; i < N_FIXED; i++)
		o->list[o->n++] = fixed[i];
	for (size_t i = 0; i < MSD_TOOLKIT_INCLUDES; i++) {
		if (nvrtc->headers.include[i][0] == '\0')
			continue;
		(void)snprintf(o->include[i], sizeof(o->include[i]),
			       "--include-path=%s", nvrtc->headers.include[i]);
		o->list[o->n++] = o->include[i];
	}
}

static msd_err failed(const struct msd_nvrtc *nvrtc, const char *function, int code,
		      struct msd_diag *d)
{
	msd_err err = code == MSD_NVRTC_OUT_OF_MEMORY ? MSD_NOMEM : MSD_UNSUPPORTED;

	return msd_diag_set(d, err, "%s: %s (%d)", function, nvrtc->error_string(code),
			    code);
}

/* TVM's source needs <cuda/std/cstdint>, which wheels ship separately. */
static bool lacks_cxx(const struct msd_nvrtc *nvrtc, const char *log)
{
	return nvrtc->has_headers && nvrtc->headers.include[1][0] == '\0' &&
	       strstr(log, "cannot open source file \"cuda/std/") != NULL;
}

static msd_err refused(const struct msd_nvrtc *nvrtc, struct nvrtc_program *program,
		       int code, struct msd_diag *d)
{
	size_t n = 0;
	msd_err err = failed(nvrtc, "nvrtcCompileProgram", code, d);

	if (nvrtc->log_size(program, &n) != MSD_NVRTC_SUCCESS || n <= 1)
		return err;
	char *log = calloc(1, n + 1);
	if (log != NULL && nvrtc->log(program, log) == MSD_NVRTC_SUCCESS)
		(void)msd_build_log_add(d, err, log);
	const bool is_without_cxx = log != NULL && lacks_cxx(nvrtc, log);
	free(log);
	if (is_without_cxx) {
		return msd_diag_wrap(
			d, err,
			"the toolkit's C++ library for devices is neither in %s nor in "
			"the same folder: install that of the same release (cccl; from "
			"wheels nvidia-cuda-cccl)",
			nvrtc->headers.include[0]);
	}
	if (nvrtc->has_headers)
		return err;
	return msd_diag_wrap(d, err,
			     "the toolkit's headers of CUDA %d.%d were found neither "
			     "beside %s nor in $CUDA_HOME",
			     nvrtc->version / 1000, nvrtc->version % 1000 / 10,
			     nvrtc->path);
}

static msd_err result_read(const struct msd_nvrtc *nvrtc, struct nvrtc_program *program,
			   bool is_ptx, struct msd_buf *ret, struct msd_diag *d)
{
	size_t n = 0;
	int code =
		is_ptx ? nvrtc->ptx_size(program, &n) : nvrtc->cubin_size(program, &n);

	if (code != MSD_NVRTC_SUCCESS) {
		return failed(nvrtc, is_ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize",
			      code, d);
	}
	if (n == 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "NVRTC compiled the source to nothing");
	}
	if (!msd_buf_reserve(ret, n))
		return msd_diag_no_memory(d);
	code = is_ptx ? nvrtc->ptx(program, (char *)ret->p)
		      : nvrtc->cubin(program, (char *)ret->p);
	if (code != MSD_NVRTC_SUCCESS)
		return failed(nvrtc, is_ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN", code, d);
	ret->n = n;
	return MSD_OK;
}

static msd_err program_build(const struct msd_nvrtc *nvrtc,
			     struct nvrtc_program *program, int arch, bool is_ptx,
			     struct msd_buf *ret, struct msd_diag *d)
{
	struct options o;
	int code = MSD_NVRTC_INVALID_OPTION;

	if (!is_ptx && arch >= FIRST_FEATURE_ARCH) {
		options_fill(&o, nvrtc, "sm_", arch, "a");
		code = nvrtc->compile(program, o.n, o.list);
	}
	if (code == MSD_NVRTC_INVALID_OPTION) {
		options_fill(&o, nvrtc, is_ptx ? "compute_" : "sm_", arch, "");
		code = nvrtc->compile(program, o.n, o.list);
	}
	if (code != MSD_NVRTC_SUCCESS)
		return refused(nvrtc, program, code, d);
	return result_read(nvrtc, program, is_ptx, ret, d);
}

msd_err msd_cuda_source_compile(struct msd_span source, int capability,
				struct msd_buf *ret, bool *ret_is_ptx,
				struct msd_diag *d)
{
	int arch;
	const struct msd_nvrtc *nvrtc = msd_nvrtc(capability, &arch, d);
	struct nvrtc_program *program = NULL;
	struct msd_buf text = {0};

	if (nvrtc == NULL)
		return MSD_UNSUPPORTED;
	if (!msd_cuda_prelude_put(source, &text)) {
		msd_buf_finish(&text);
		return msd_diag_no_memory(d);
	}
	*ret_is_ptx = arch != capability;
	int code = nvrtc->create(&program, (const char *)text.p, "module.cu",
				 MSD_CUDA_PRELUDE_HEADERS, msd_cuda_prelude_texts,
				 msd_cuda_prelude_names);
	msd_err err = code == MSD_NVRTC_SUCCESS
			      ? program_build(nvrtc, program, arch, *ret_is_ptx, ret, d)
			      : failed(nvrtc, "nvrtcCreateProgram", code, d);
	if (program != NULL)
		(void)nvrtc->destroy(&program);
	msd_buf_finish(&text);
	return err;
}

msd_err msd_cuda_source_key(int capability, struct msd_buf *ret, struct msd_diag *d)
{
	int arch;
	const struct msd_nvrtc *nvrtc = msd_nvrtc(capability, &arch, d);
	struct options o;
	char version[32];

	if (nvrtc == NULL)
		return MSD_UNSUPPORTED;
	int n = snprintf(version, sizeof(version), "NVRTC %d ", nvrtc->version);
	msd_buf_put(ret, version, n > 0 ? (size_t)n : 0);
	options_fill(&o, nvrtc, arch == capability ? "sm_" : "compute_", arch, "");
	for (int i = 0; i < o.n; i++)
		msd_buf_put(ret, o.list[i], strlen(o.list[i]) + 1);
	/* Only the preamble, because it may change with each modserd release. */
	return msd_cuda_prelude_put((struct msd_span){(const uint8_t *)"", 0}, ret)
		       ? MSD_OK
		       : msd_diag_no_memory(d);
}
