/*
 * Files of a model that are no module by themselves: they say beside what they are
 * loaded.
 */
#include <string.h>

#include "artifact/params/params.h"
#include "runtime/load/format.h"

#define GRAPH_HEAD 4096u /* of a graph.json that is looked at */

static bool holds(struct msd_span text, const char *word)
{
	const size_t n = text.n < GRAPH_HEAD ? text.n : GRAPH_HEAD;

	return n > 0 && memmem(text.p, n, word, strlen(word)) != NULL;
}

static bool is_graph(struct msd_span file)
{
	return file.n > 0 && file.p[0] == '{' && holds(file, "\"nodes\"");
}

static msd_err refuse_graph(struct msd_loaded *m, const struct msd_load_source *from,
			    struct msd_diag *d)
{
	(void)m;
	(void)from;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "a graph executor's graph without its library; load that, "
			    "and this beside it: modser load NAME LIBRARY.so --graph "
			    "GRAPH.json --params FILE");
}

const struct msd_format msd_format_graph_json = {
	.name = "graph.json",
	.is = is_graph,
	.open = refuse_graph,
};

static bool is_params(struct msd_span file)
{
	return file.n >= 8 && msd_le64(file.p) == MSD_PARAMS_MAGIC;
}

static msd_err refuse_params(struct msd_loaded *m, const struct msd_load_source *from,
			     struct msd_diag *d)
{
	(void)m;
	(void)from;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "parameters without their library; load that, and these "
			    "beside it: modser load NAME LIBRARY.so --params FILE");
}

const struct msd_format msd_format_params = {
	.name = "parameters",
	.is = is_params,
	.open = refuse_params,
};
