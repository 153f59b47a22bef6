#ifndef MSD_RUNTIME_PLAN_PARTS_H
#define MSD_RUNTIME_PLAN_PARTS_H
/* Private to this folder: the parts of a plan. */
#include "graph/modser_graph.h"
#include "runtime/plan/allocator.h"
#include "runtime/plan/clock.h"
#include "runtime/plan/program.h"
#include "runtime/plan/shapes.h"

struct msd_dynamic;

enum msd_plan_mode {
	MSD_PLAN_STATIC,        /* one entry */
	MSD_PLAN_CACHED_SHAPES, /* an entry for each set of input shapes */
	MSD_PLAN_DYNAMIC        /* shapes depend on values */
};

struct msd_plan {
	modser_graph *g;
	struct msd_flow **flows; /* by node: its graphs, else NULL */
	struct msd_graph_program program;
	enum msd_plan_mode mode;
	struct msd_entry *entry; /* STATIC: the only one */
	struct msd_shapes shapes;
	struct msd_dynamic *dynamic; /* DYNAMIC */
	struct msd_arena_block arena;
	const modser_graph *now;        /* with the shapes of the last run */
	const struct msd_entry *now_by; /* its entry; NULL: none yet, or DYNAMIC */
	const void **outputs;           /* addresses of the last run */
	struct msd_clock_part times;    /* for the next run; its rows: describe.h */
	size_t n_rows; /* with those of all graphs within nodes; 0: unset */
};

#endif
