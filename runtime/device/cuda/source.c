/*
 * CUDA C of modules that were saved as source, compiled by NVRTC where that is
 * installed.
 */
#include "runtime/device/cuda/source.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/device/build_log.h"
#include "runtime/device/cuda/nvrtc.h"

#define MAX_ARCHS 256
#define FIRST_FEATURE_ARCH 90 /* from here "sm_90a" has what "sm_90" lacks */

/* Options and the room for their texts. */
struct options {
	const char *list[4];
	int n;
	char arch[48];
	char include[PATH_MAX + 16];
	char cccl[PATH_MAX + 16];
};

static void add_include(struct options *o, char *room, size_t n, const char *home,
			const char *below)
{
	int used = snprintf(room, n, "--include-path=%s/%s", home, below);

	if (used > 0 && (size_t)used < n && access(strchr(room, '=') + 1, R_OK) == 0)
		o->list[o->n++] = room;
}

static void options_fill(struct options *o, const char *prefix, int arch,
			 const char *suffix)
{
	const char *home = msd_cuda_home();

	o->n = 0;
	(void)snprintf(o->arch, sizeof(o->arch), "--gpu-architecture=%s%d%s", prefix,
		       arch, suffix);
	o->list[o->n++] = o->arch;
	if (home == NULL)
		return;
	add_include(o, o->include, sizeof(o->include), home, "include");
	add_include(o, o->cccl, sizeof(o->cccl), home, "include/cccl");
}

static msd_err failed(const struct msd_nvrtc *nvrtc, const char *function, int code,
		      struct msd_diag *d)
{
	msd_err err = code == MSD_NVRTC_OUT_OF_MEMORY ? MSD_NOMEM : MSD_UNSUPPORTED;

	return msd_diag_set(d, err, "%s: %s (%d)", function, nvrtc->error_string(code),
			    code);
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
	free(log);
	return err;
}

/* The newest architecture that NVRTC knows up to @capability; 0: none. */
static int arch_known(const struct msd_nvrtc *nvrtc, int capability)
{
	int archs[MAX_ARCHS];
	int n = 0;
	int best = 0;

	if (nvrtc->n_archs(&n) != MSD_NVRTC_SUCCESS || n <= 0 || n > MAX_ARCHS ||
	    nvrtc->archs(archs) != MSD_NVRTC_SUCCESS)
		return 0;
	for (int i = 0; i < n; i++) {
		if (archs[i] <= capability && archs[i] > best)
			best = archs[i];
	}
	return best;
}

static msd_err result_read(const struct msd_nvrtc *nvrtc, struct nvrtc_program *program,
			   bool is_ptx, struct msd_buf *ret, struct msd_diag *d)
{
	size_t n = 0;
	int code =
		is_ptx ? nvrtc->ptx_size(program, &n) : nvrtc->cubin_size(program, &n);

	if (code != MSD_NVRTC_SUCCESS)
		return failed(nvrtc, "nvrtcGetCUBINSize", code, d);
	if (n == 0 || !msd_buf_reserve(ret, n))
		return msd_diag_no_memory(d);
	code = is_ptx ? nvrtc->ptx(program, (char *)ret->p)
		      : nvrtc->cubin(program, (char *)ret->p);
	if (code != MSD_NVRTC_SUCCESS)
		return failed(nvrtc, "nvrtcGetCUBIN", code, d);
	ret->n = n;
	return MSD_OK;
}

static msd_err program_build(const struct msd_nvrtc *nvrtc,
			     struct nvrtc_program *program, int capability,
			     struct msd_buf *ret, bool *ret_is_ptx, struct msd_diag *d)
{
	const int arch = arch_known(nvrtc, capability);
	struct options o;
	int code = MSD_NVRTC_INVALID_OPTION;

	if (arch == 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "NVRTC knows no architecture up to sm_%d",
				    capability);
	}
	*ret_is_ptx = arch != capability;
	if (!*ret_is_ptx && arch >= FIRST_FEATURE_ARCH) {
		options_fill(&o, "sm_", arch, "a");
		code = nvrtc->compile(program, o.n, o.list);
	}
	if (code == MSD_NVRTC_INVALID_OPTION) {
		options_fill(&o, *ret_is_ptx ? "compute_" : "sm_", arch, "");
		code = nvrtc->compile(program, o.n, o.list);
	}
	if (code != MSD_NVRTC_SUCCESS)
		return refused(nvrtc, program, code, d);
	return result_read(nvrtc, program, *ret_is_ptx, ret, d);
}

msd_err msd_cuda_source_compile(struct msd_span source, int capability,
				struct msd_buf *ret, bool *ret_is_ptx,
				struct msd_diag *d)
{
	const struct msd_nvrtc *nvrtc = msd_nvrtc(d);
	struct nvrtc_program *program = NULL;

	if (nvrtc == NULL)
		return MSD_UNSUPPORTED;
	char *text = strndup((const char *)source.p, source.n);
	if (text == NULL)
		return msd_diag_no_memory(d);
	int code = nvrtc->create(&program, text, "module.cu", 0, NULL, NULL);
	msd_err err =
		code == MSD_NVRTC_SUCCESS
			? program_build(nvrtc, program, capability, ret, ret_is_ptx, d)
			: failed(nvrtc, "nvrtcCreateProgram", code, d);
	if (program != NULL)
		(void)nvrtc->destroy(&program);
	free(text);
	return err;
}
