/* serializers: which formats of models are known. */
#include "client/cli/print.h"
#include "client/cli/report.h"
#include "client/cli/static_graph.h"

enum msd_exit msd_verb_serializers(const struct msd_cli *cli)
{
	struct msd_buf out = {0};

	msd_static_graph_list(cli->json, &out);
	if (out.bad) {
		msd_buf_finish(&out);
		return msd_report_no_memory();
	}
	msd_print_flush(&out);
	return MSD_EXIT_OK;
}
