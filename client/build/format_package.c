/*
 * The format of tvmc's packages: an archive with a library, linked (mod.so, lib.so of
 * a virtual machine) or not (mod.tar, lib.tar). The archive also contains the
 * executor's graph and parameters (mod.json, mod.params), or a virtual machine's
 * program.
 */
#include "artifact/inspect/companion.h"
#include "artifact/mlf/archive.h"
#include "client/build/formats.h"
#include "client/cli/values/objects.h"

static const struct msd_archive_file *library_of(const struct msd_archive *a)
{
	const struct msd_archive_file *f = NULL;

	for (size_t i = 0; f == NULL && msd_package_libraries[i] != NULL; i++)
		f = msd_archive_find(a, msd_package_libraries[i]);
	return f;
}

static bool is(const char *path, struct msd_span file)
{
	(void)path;
	return msd_archive_is_package(file);
}

/* Find the program of a virtual machine by its contents; NULL: none. */
static const struct msd_archive_file *program_of(const struct msd_archive *a)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct msd_span data = {a->files[i].data.p, a->files[i].data.n};

		if (msd_companion_of(data) == MSD_COMPANION_PROGRAM)
			return &a->files[i];
	}
	return NULL;
}

/* A file from the command line takes precedence. */
static msd_err take(const struct msd_archive_file *f, struct msd_buf *ret,
		    struct msd_diag *d)
{
	if (f == NULL || ret->n > 0)
		return MSD_OK;
	msd_buf_put(ret, f->data.p, f->data.n);
	return ret->bad ? msd_diag_no_memory(d) : MSD_OK;
}

static msd_err take_library(const struct msd_cli *cli, const struct msd_archive *a,
			    struct msd_buf *ret, struct msd_diag *d)
{
	const struct msd_archive_file *f = library_of(a);
	const struct msd_span data = {f->data.p, f->data.n};

	if (msd_archive_path_is(f->path, "", ".so"))
		return take(f, ret, d);
	msd_err err = msd_objects_link(cli, f->path, data, ret, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "%s", f->path);
}

static msd_err prepare(const struct msd_cli *cli, struct msd_loadable *l,
		       struct msd_diag *d)
{
	struct msd_archive a = {0};
	struct msd_buf library = {0};
	msd_err err =
		msd_archive_read((struct msd_span){l->library.p, l->library.n}, &a, d);

	if (err == MSD_OK)
		err = take_library(cli, &a, &library, d);
	if (err == MSD_OK)
		err = take(msd_archive_find(&a, "mod.json"), &l->graph, d);
	if (err == MSD_OK)
		err = take(program_of(&a), &l->graph, d);
	if (err == MSD_OK)
		err = take(msd_archive_find(&a, "mod.params"), &l->params, d);
	msd_archive_finish(&a);
	if (err != MSD_OK) {
		msd_buf_finish(&library);
		return err;
	}
	msd_buf_finish(&l->library);
	l->library = library;
	return MSD_OK;
}

/* Inspect each file as a separate one. */
static msd_err inspect_file(const struct msd_cli *cli, const struct msd_archive_file *f,
			    struct msd_buf *out, struct msd_diag *d)
{
	const struct msd_span data = {f->data.p, f->data.n};
	const struct msd_file_format *format = msd_file_format_of(f->path, data);
	msd_err err;

	msd_buf_printf(out, cli->json ? "\"%s\":" : "==> %s <==\n", f->path);
	err = format->inspect(cli, data, out, d);
	if (out->n > 0 && out->p[out->n - 1] != '\n' && !cli->json)
		msd_buf_put_u8(out, '\n');
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "%s", f->path);
}

static msd_err inspect(const struct msd_cli *cli, struct msd_span file,
		       struct msd_buf *out, struct msd_diag *d)
{
	const struct msd_archive_file *beside[3];
	struct msd_archive a = {0};
	msd_err err = msd_archive_read(file, &a, d);

	if (err == MSD_OK) {
		msd_buf_printf(out, "%s", cli->json ? "{" : "");
		err = inspect_file(cli, library_of(&a), out, d);
	}
	beside[0] = msd_archive_find(&a, "mod.json");
	beside[1] = program_of(&a);
	beside[2] = msd_archive_find(&a, "mod.params");
	for (size_t i = 0; err == MSD_OK && i < 3; i++) {
		if (beside[i] == NULL)
			continue;
		msd_buf_printf(out, "%s", cli->json ? "," : "");
		err = inspect_file(cli, beside[i], out, d);
	}
	if (cli->json)
		msd_buf_put_u8(out, '}');
	msd_archive_finish(&a);
	return err;
}

const struct msd_file_format msd_format_package = {
	.name = "a package of tvmc",
	.is = is,
	.prepare = prepare,
	.inspect = inspect,
};
