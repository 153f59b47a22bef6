#include "runtime/load/format.h"

#include "proto/words/model_words.h"

static const struct msd_format *const rows[] = {
	&msd_format_library,
	&msd_format_companion,
	&msd_format_static_graph,
};

const struct msd_format *msd_format_find(struct msd_span file,
					 const struct msd_load_options *options)
{
	if (*options->run.words.format != '\0')
		return &msd_format_static_graph;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i]->is(file))
			return rows[i];
	}
	return &msd_format_library;
}
