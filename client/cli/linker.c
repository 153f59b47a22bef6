#include "client/cli/linker.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "client/cli/build.h"
#include "client/cli/confine.h"
#include "client/cli/header.h"

static bool make_dir(const struct msd_linker *l, const char *name)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", l->compiler.dir, name);
	return mkdir(path, 0700) == 0;
}

/* Each header that generated code asks for, and which of ours stands in for it. */
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

static msd_err write_headers(const struct msd_linker *l, struct msd_diag *d)
{
	static const char *const dirs[] = {"include",
					   "include/dlpack",
					   "include/tvm",
					   "include/tvm/runtime",
					   "include/tvm/runtime/crt",
					   "include/tvm/ffi",
					   "include/tvm/ffi/extra",
					   "given"};
	char name[128];
	msd_err err = MSD_OK;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (!make_dir(l, dirs[i])) {
			return msd_diag_set(d, MSD_IO, "%s: %s", l->compiler.dir,
					    strerror(errno));
		}
	}
	for (size_t i = 0; err == MSD_OK && i < sizeof(headers) / sizeof(headers[0]);
	     i++) {
		const struct msd_span text = {(const uint8_t *)headers[i].text,
					      strlen(headers[i].text)};

		(void)snprintf(name, sizeof(name), "include/%s", headers[i].name);
		err = msd_compiler_write(&l->compiler, name, text, d);
	}
	return err;
}

msd_err msd_linker_open(struct msd_linker *l, struct msd_diag *d)
{
	static const char *const ours[] = {"-shared", "-fPIC", "-O2", "-w"};

	*l = (struct msd_linker){.compiler.advice =
					 "on a machine that has one: modser convert "
					 "model.tar -o deploy.so",
				 .compiler.is_confined = !msd_confine_is_off()};
	msd_err err = msd_compiler_open(&l->compiler, d);
	if (err == MSD_OK)
		err = write_headers(l, d);
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		msd_compiler_add(&l->compiler, ours[i]);
	msd_compiler_add_file(&l->compiler, "-I", "include");
	msd_compiler_add_file(&l->compiler, "-I", "given");
	msd_compiler_add(&l->compiler, "-o");
	msd_compiler_add_file(&l->compiler, "", "lib.so");
	return err;
}

void msd_linker_close(struct msd_linker *l)
{
	msd_compiler_close(&l->compiler);
	*l = (struct msd_linker){0};
}

msd_err msd_linker_add(struct msd_linker *l, const char *suffix, struct msd_span data,
		       struct msd_diag *d)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "piece%u%s", l->n++, suffix);
	msd_compiler_add_file(&l->compiler, "", name);
	return msd_compiler_write(&l->compiler, name, data, d);
}

msd_err msd_linker_add_object(struct msd_linker *l, const char *path,
			      struct msd_span data, struct msd_diag *d)
{
	if (data.n < EI_NIDENT || memcmp(data.p, ELFMAG, SELFMAG) != 0) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "%.128s: not an ELF file; expected an object",
				    path);
	}
	return msd_linker_add(l, ".o", data, d);
}

msd_err msd_linker_add_header(const struct msd_linker *l, const char *name,
			      struct msd_span data, struct msd_diag *d)
{
	char path[NAME_MAX + sizeof("given/")];

	if (strchr(name, '/') != NULL || strlen(name) > NAME_MAX)
		return MSD_OK;
	(void)snprintf(path, sizeof(path), "given/%s", name);
	return msd_compiler_write(&l->compiler, path, data, d);
}

msd_err msd_linker_add_blob(struct msd_linker *l, enum msd_era era,
			    struct msd_span data, struct msd_diag *d)
{
	const struct msd_build b = {.era = era, .prefix = "", .blob = data};

	return msd_build_add_blob(&b, &l->compiler, d);
}

msd_err msd_linker_link(struct msd_linker *l, struct msd_buf *ret, struct msd_diag *d)
{
	msd_compiler_add(&l->compiler, "-lm");
	msd_err err = msd_compiler_run(&l->compiler, NULL, d);

	return err == MSD_OK ? msd_compiler_read(&l->compiler, "lib.so", ret, d) : err;
}
