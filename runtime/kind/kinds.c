#include "runtime/kind/kinds.h"

#include "artifact/kind/kinds.h"

#define RUNS(name) &msd_kind_##name
#define REFUSED(why) &msd_kind_refused
#define ROW(kind, title, format, look, params, run) {kind, run},
static const struct {
	const char *kind;
	const struct msd_node_ops *ops;
} rows[] = {MSD_KIND_MAP(ROW)};

const struct msd_node_ops *msd_node_ops_find(struct msd_span kind)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (msd_span_is(kind, rows[i].kind))
			return rows[i].ops;
	}
	return &msd_kind_refused;
}
