#ifndef MSD_SUPERVISOR_EXPOSITION_H
#define MSD_SUPERVISOR_EXPOSITION_H
/*
 * The text that Prometheus scrapes, version 0.0.4, or OpenMetrics 1.0: families of
 * samples. Values are integers of a unit and are written in the base unit, without
 * floating point. Out of memory sets the buffer's `bad`.
 */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/supervisor/module/stats/call_stats.h"

struct msd_buf;

enum msd_unit {
	MSD_UNIT_NONE,
	MSD_UNIT_US,
	MSD_UNIT_MS,
	MSD_UNIT_NS,
	MSD_UNIT_PERCENT /* the base unit is the ratio */
};

/* A family: the common properties of its samples. @name is without the `_total` of a
 * counter, which is added. */
struct msd_family {
	const char *name, *help;
	enum { MSD_GAUGE, MSD_COUNTER, MSD_HISTOGRAM } kind;
	enum msd_unit unit;
};

/* A label; its value is escaped when it is written. */
struct msd_label {
	const char *name, *value;
};

struct msd_exposition {
	struct msd_buf *out;
	bool is_openmetrics;
};

/** Write the header lines of @f. All its samples must follow before the next family. */
void msd_exposition_open(struct msd_exposition *x, const struct msd_family *f);
/** Write a sample of @f with @n labels. */
void msd_exposition_put(struct msd_exposition *x, const struct msd_family *f,
			const struct msd_label *labels, size_t n, uint64_t value);
/**
 * Write all samples of a histogram of nanoseconds, from 1 us (2^10 ns) to 16 s (2^34
 * ns).
 */
void msd_exposition_put_times(struct msd_exposition *x, const struct msd_family *f,
			      const struct msd_label *labels, size_t n,
			      const struct msd_histogram *h, uint64_t sum_ns);
/** Write the end of the text. */
void msd_exposition_close(struct msd_exposition *x);

#endif
