/* The formats of frameworks' models, which the daemon reads itself. */
#include "client/build/formats.h"
#include "client/cli/model/static_graph.h"

static bool is(const char *path, struct msd_span file)
{
	(void)path;
	return msd_static_graph_is(file);
}

const struct msd_file_format msd_format_model = {
	.name = "a framework's model",
	.traits = MSD_FORMAT_DOT,
	.is = is,
	.inspect = msd_static_graph_inspect,
};
