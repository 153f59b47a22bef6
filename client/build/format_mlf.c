/* The format of model archives: Model Library Format. */
#include "artifact/mlf/mlf.h"
#include "client/build/formats.h"
#include "client/cli/model/model.h"

static bool is(const char *path, struct msd_span file)
{
	(void)path;
	return msd_archive_is_model(file);
}

/* Build the library that the archive describes: the daemon runs no compiler. */
static msd_err prepare(const struct msd_cli *cli, struct msd_loadable *l,
		       struct msd_diag *d)
{
	const struct msd_span file = {l->library.p, l->library.n};
	struct msd_buf library = {0};
	msd_err err = msd_model_link(cli, file, &library, d);

	if (err != MSD_OK) {
		msd_buf_finish(&library);
		return err;
	}
	msd_buf_finish(&l->library);
	l->library = library;
	return MSD_OK;
}

static msd_err inspect(const struct msd_cli *cli, struct msd_span file,
		       struct msd_buf *out, struct msd_diag *d)
{
	struct msd_mlf m = {0};
	msd_err err = msd_mlf_read(file, &m, d);

	if (err != MSD_OK)
		return err;
	if (cli->json) {
		msd_mlf_json(&m, out);
	} else {
		msd_mlf_text(&m, out);
	}
	msd_mlf_finish(&m);
	return MSD_OK;
}

const struct msd_file_format msd_format_mlf = {
	.name = "a model library archive",
	.traits = MSD_FORMAT_LINKED,
	.is = is,
	.prepare = prepare,
	.inspect = inspect,
};
