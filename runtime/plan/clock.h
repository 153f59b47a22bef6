#ifndef MSD_RUNTIME_PLAN_CLOCK_H
#define MSD_RUNTIME_PLAN_CLOCK_H
/*
 * The times of the nodes of one run. A run without a clock pays one branch a node.
 * Rows are numbered as in describe.h; the nodes of a Loop's body have the sums over
 * its iterations, and are also a part of the Loop's time.
 */
#include <stddef.h>
#include <stdint.h>

struct msd_clock_row {
	int64_t runs;
	int64_t ns;         /* sum over all runs */
	int64_t begin_ns;   /* start of the first run, since the clock started */
	int64_t reorder_ns; /* of changes of layouts for the node, beside `ns` */
};

struct msd_clock {
	uint64_t start_ns; /* msd_now_ns() */
	size_t n;
	struct msd_clock_row rows[];
};

/* The rows of one plan. */
struct msd_clock_part {
	struct msd_clock *clock; /* NULL: runs are not timed */
	size_t first_row;
};

/** Count a run of row @row that began at @begin_ns and ends now. Returns now. */
uint64_t msd_clock_count(struct msd_clock *c, size_t row, uint64_t begin_ns);
/** The same for a change of layouts that row @row needs. */
uint64_t msd_clock_count_reorder(struct msd_clock *c, size_t row, uint64_t begin_ns);

#endif
