#ifndef MSD_RUNTIME_ENGINE_REFERENCE_RANGES_H
#define MSD_RUNTIME_ENGINE_REFERENCE_RANGES_H
/*
 * Ranges of independent items of a kernel, such as elements or rows, on the threads of
 * the pool. A range is long enough to pay for the start of a thread.
 */
#include <stddef.h>

typedef void msd_range_part(const void *ctx, size_t first, size_t count);
/**
 * Call @part for ranges that cover 0 .. @n - 1, in any order. @cost_ns estimates the
 * time of one item. Work for one thread is one call on the caller's thread.
 */
void msd_ranges_each(size_t n, size_t cost_ns, msd_range_part *part, const void *ctx);

#endif
