#include "client/cli/formats.h"

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
