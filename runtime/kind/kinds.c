#include "runtime/kind/kinds.h"

#include "artifact/kind/kinds.h"

#define RUNS(name) &msd_kind_##name
#define REFUSED(why) &msd_kind_refused
#define ROW(kind, title, format, look, params, run) {kind, run},
static const struct msd_node_kind rows[] = {MSD_KIND_MAP(ROW)};

const struct msd_node_kind *msd_node_kind_find(struct msd_span kind)
{
	static const struct msd_node_kind unknown = {"", &msd_kind_refused};
	const struct msd_node_kind *added = msd_plugin_kind_find(kind);

	if (added != NULL)
		return added;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (msd_span_is(kind, rows[i].name))
			return &rows[i];
	}
	return &unknown;
}
