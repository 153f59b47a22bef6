#include "client/build/linker.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "client/build/build.h"
#include "client/build/confine.h"
#include "client/build/headers.h"
#include "client/cli/cli.h"

msd_err msd_linker_open(struct msd_linker *l, const struct msd_cli *cli,
			struct msd_diag *d)
{
	static const char *const ours[] = {"-shared", "-fPIC", "-O2", "-w"};

	*l = (struct msd_linker){.cli = cli,
				 .compiler.advice =
					 "on a machine that has one: modser convert "
					 "model.tar -o deploy.so",
				 .compiler.is_confined = !msd_confine_is_off()};
	msd_err err = msd_compiler_open(&l->compiler, d);
	if (err == MSD_OK)
		err = msd_headers_write(&l->compiler, d);
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		msd_compiler_add(&l->compiler, ours[i]);
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
	for (size_t i = 0; l->cli != NULL && i < l->cli->n_libraries; i++)
		msd_compiler_add_library(&l->compiler, l->cli->libraries[i]);
	msd_compiler_add(&l->compiler, "-lm");
	msd_err err = msd_compiler_run(&l->compiler, NULL, d);

	return err == MSD_OK ? msd_compiler_read(&l->compiler, "lib.so", ret, d) : err;
}
