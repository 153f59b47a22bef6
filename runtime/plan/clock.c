#include "runtime/plan/clock.h"

#include "proto/base/clock.h"

uint64_t msd_clock_count(struct msd_clock *c, size_t row, uint64_t begin_ns)
{
	const uint64_t now_ns = msd_now_ns();
	struct msd_clock_row *r = &c->rows[row];

	if (r->runs++ == 0)
		r->begin_ns = (int64_t)(begin_ns - c->start_ns);
	r->ns += (int64_t)(now_ns - begin_ns);
	return now_ns;
}

uint64_t msd_clock_count_reorder(struct msd_clock *c, size_t row, uint64_t begin_ns)
{
	const uint64_t now_ns = msd_now_ns();

	c->rows[row].reorder_ns += (int64_t)(now_ns - begin_ns);
	return now_ns;
}
