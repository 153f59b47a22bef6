/* The formats of unlinked code: an object, and an archive of objects. */
#include "artifact/json.h"
#include "artifact/mlf/archive.h"
#include "client/build/formats.h"
#include "client/cli/values/objects.h"

static bool is(const char *path, struct msd_span file)
{
	return msd_objects_is_one(path, file) || msd_archive_is_objects(file);
}

static msd_err prepare(const struct msd_cli *cli, struct msd_loadable *l,
		       struct msd_diag *d)
{
	struct msd_buf library = {0};
	msd_err err = msd_objects_link(cli, cli->words[cli->n_words - 1],
				       (struct msd_span){l->library.p, l->library.n},
				       &library, d);

	if (err != MSD_OK) {
		msd_buf_finish(&library);
		return err;
	}
	msd_buf_finish(&l->library);
	l->library = library;
	return MSD_OK;
}

static void list(const struct msd_archive *a, bool as_json, struct msd_buf *out)
{
	json_t *files = as_json ? json_array() : NULL;

	for (size_t i = 0; i < a->n; i++) {
		const struct msd_archive_file *f = &a->files[i];

		if (as_json) {
			json_t *map = json_object();

			msd_json_set(&map, "path", msd_json_string(f->path));
			msd_json_set(&map, "bytes",
				     json_integer((json_int_t)f->data.n));
			msd_json_add(&files, map);
		} else {
			msd_buf_printf(out, "  %s  %zu bytes\n", f->path, f->data.n);
		}
	}
	if (as_json)
		msd_json_put(out, files, JSON_COMPACT);
}

static msd_err inspect(const struct msd_cli *cli, struct msd_span file,
		       struct msd_buf *out, struct msd_diag *d)
{
	struct msd_archive a = {0};
	msd_err err = MSD_OK;

	if (!cli->json) {
		msd_buf_printf(out, "code that is not linked; load and convert make a "
				    "library of it\n");
	}
	if (msd_objects_is_one(cli->words[0], file)) {
		err = msd_objects_check_whole("", file, d);
	} else {
		err = msd_archive_read(file, &a, d);
	}
	for (size_t i = 0; err == MSD_OK && i < a.n; i++) {
		const struct msd_archive_file *f = &a.files[i];

		err = msd_objects_check_whole(
			f->path, (struct msd_span){f->data.p, f->data.n}, d);
		if (err != MSD_OK)
			err = msd_diag_wrap(d, err, "%.128s", f->path);
	}
	if (err == MSD_OK)
		list(&a, cli->json, out);
	msd_archive_finish(&a);
	return err;
}

const struct msd_file_format msd_format_objects = {
	.name = "code that is not linked",
	.traits = MSD_FORMAT_LINKED,
	.is = is,
	.prepare = prepare,
	.inspect = inspect,
};
