#include "client/build/formats.h"

#include "artifact/inspect/companion.h"

static const struct msd_file_format *const rows[] = {
	&msd_format_mlf,    &msd_format_package, &msd_format_objects,
	&msd_format_model,  &msd_format_gpu,     &msd_format_graph,
	&msd_format_params, &msd_format_program, &msd_format_elf,
};

void msd_loadable_finish(struct msd_loadable *l)
{
	msd_buf_finish(&l->library);
	msd_buf_finish(&l->graph);
	msd_buf_finish(&l->params);
}

const struct msd_file_format *msd_file_format_of(const char *path, struct msd_span file)
{
	const size_t last = sizeof(rows) / sizeof(rows[0]) - 1;
	size_t i = 0;

	while (i < last && !rows[i]->is(path, file))
		i++;
	return rows[i];
}

const struct msd_file_format *
msd_file_format_for(const struct msd_cli *cli, const char *path, struct msd_span file)
{
	return *cli->run.words.format != '\0' ? &msd_format_model
					      : msd_file_format_of(path, file);
}

msd_err msd_file_format_check(const struct msd_file_format *format,
			      const struct msd_cli *cli, struct msd_span file,
			      struct msd_diag *d)
{
	struct msd_buf unread = {0};
	const msd_err err = format->inspect(cli, file, &unread, d);

	msd_buf_finish(&unread);
	return err;
}

msd_err msd_format_refuse(const struct msd_cli *cli, struct msd_loadable *l,
			  struct msd_diag *d)
{
	const struct msd_span file = {l->library.p, l->library.n};
	const msd_err err =
		msd_file_format_check(msd_file_format_of("", file), cli, file, d);

	return err == MSD_OK ? msd_companion_refuse(file, d) : err;
}
