#include "runtime/engine/reference/ranges.h"

#include "runtime/kernel/kernel.h"

struct ranges {
	size_t n;
	size_t length;
	msd_range_part *part;
	const void *ctx;
};

static void run_range(const void *ctx, size_t i)
{
	const struct ranges *r = ctx;
	const size_t first = i * r->length;
	const size_t left = r->n - first;

	r->part(r->ctx, first, left < r->length ? left : r->length);
}

void msd_ranges_each(size_t n, size_t cost_ns, msd_range_part *part, const void *ctx)
{
	const size_t length = 1 + MSD_KERNEL_GRAIN_NS / (cost_ns > 0 ? cost_ns : 1);
	const struct ranges ranges = {n, length, part, ctx};

	if (n > length) {
		msd_kernel_each((n + length - 1) / length, MSD_KERNEL_GRAIN_NS,
				run_range, &ranges);
	} else if (n > 0) {
		part(ctx, 0, n);
	}
}
