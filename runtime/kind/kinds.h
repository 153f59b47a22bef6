#ifndef MSD_RUNTIME_KIND_KINDS_H
#define MSD_RUNTIME_KIND_KINDS_H
/*
 * Implementations of module kinds: `kind.c` in the folder of each executor and of the
 * library, and the small ones in this folder. artifact/kind/kinds.h maps kinds to
 * them.
 */
#include <modserd_plugin.h>

#include "artifact/kind/kinds.h"
#include "runtime/module/node.h"

/* msd_kind_<name>, for every RUNS of the table. */
#define RUNS(name) extern const struct msd_node_ops msd_kind_##name;
#define REFUSED(why)
#define ROW(kind, title, format, look, params, run) run
MSD_KIND_MAP(ROW)
#undef RUNS
#undef REFUSED
#undef ROW
/* Further nodes for the same library (TVM 0.7): they only have imports. */
extern const struct msd_node_ops msd_kind_library_again;
/* A kind that cannot run here: it loads, and reports the reason when it is used. */
extern const struct msd_node_ops msd_kind_refused;

struct msd_node_kind {
	const char *name; /* "" for the row of unknown kinds */
	const struct msd_node_ops *ops;
};

/** Add a plugin's kind, which no row runs. False: memory is short. */
MSD_MUST_CHECK bool msd_plugin_kind_add(const modserd_module_kind *kind);
/** The row of a plugin's kind, or NULL. Lives as long as the process. */
const struct msd_node_kind *msd_plugin_kind_find(struct msd_span kind);
/** The row of @kind, or the row that rejects unknown kinds. Never NULL. */
const struct msd_node_kind *msd_node_kind_find(struct msd_span kind);

#endif
