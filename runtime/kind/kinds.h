#ifndef MSD_RUNTIME_KIND_KINDS_H
#define MSD_RUNTIME_KIND_KINDS_H
/*
 * What runs a kind of module: `kind.c` in the folder of each executor and of the
 * library, the small ones here. Which of them is whose stands in artifact/kind/kinds.h.
 */
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
/* Further nodes that stand for the same library (TVM 0.7): they only have imports. */
extern const struct msd_node_ops msd_kind_library_again;
/* What does not run here: loads, and says why when it is needed. */
extern const struct msd_node_ops msd_kind_refused;

struct msd_node_kind {
	const char *name; /* "" in what stands for kinds without a row */
	const struct msd_node_ops *ops;
};

/** The row of @kind; without one what refuses it. Never NULL; static. */
const struct msd_node_kind *msd_node_kind_find(struct msd_span kind);

#endif
