/* Formats one cell of a table, by the key of its column. */
#include "client/cli/values/cell.h"

#include <string.h>

#include "client/cli/values/print.h"

#define LIST_SHOWN 8u /* list items shown in a cell */

static bool ends_with(const char *text, const char *tail)
{
	size_t n = strlen(text);
	size_t k = strlen(tail);

	return n >= k && strcmp(text + n - k, tail) == 0;
}

/* True if the key is that of a number of bytes. */
static bool is_bytes(const char *key, const modser_value *v)
{
	return v->kind == MODSER_INT && ends_with(key, "bytes");
}

void msd_print_size(struct msd_buf *out, int64_t n)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double v = (double)n;
	size_t i = 0;

	while (v >= 1024 && i + 1 < sizeof(units) / sizeof(units[0])) {
		v /= 1024;
		i++;
	}
	msd_buf_printf(out, "%.*f %s", i > 0 && v < 100 ? 1 : 0, v, units[i]);
}

static const struct {
	const char *tail; /* suffix of keys */
	double ns;
} time_units[] = {{"_ns", 1}, {"_us", 1e3}, {"_ms", 1e6}};

/* Nanoseconds in the unit of the key's suffix; 0: no unit. */
static double unit_of(const char *key, const modser_value *v)
{
	for (size_t i = 0; i < sizeof(time_units) / sizeof(time_units[0]); i++) {
		if (ends_with(key, time_units[i].tail) &&
		    (v == NULL || v->kind == MODSER_INT))
			return time_units[i].ns;
	}
	return 0;
}

bool msd_cell_is_time(const char *key)
{
	return unit_of(key, NULL) > 0;
}

void msd_print_ns(struct msd_buf *out, double ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"h", 3.6e12}, {"min", 6e10}, {"s", 1e9},
		     {"ms", 1e6},   {"us", 1e3},   {"ns", 1}};
	const size_t last = sizeof(units) / sizeof(units[0]) - 1;
	size_t i = 0;

	/* Use minutes and hours only from two of them on; below that, seconds are
	 * more precise. */
	while (i < last && ns < units[i].ns * (i < 2 ? 2 : 1))
		i++;
	const double v = ns / units[i].ns;
	msd_buf_printf(out, "%.*f %s", i < last && v < 100 ? 1 : 0, v, units[i].name);
}

bool msd_cell_is_empty(const modser_value *v)
{
	return v == NULL || v->kind == MODSER_NIL ||
	       (v->kind == MODSER_STR && v->as.str.n == 0);
}

void msd_cell_put(struct msd_buf *out, const char *key, const modser_value *v,
		  bool for_people)
{
	if (msd_cell_is_empty(v)) {
		msd_buf_put_u8(out, '-');
	} else if (for_people && is_bytes(key, v)) {
		msd_print_size(out, v->as.i);
	} else if (for_people && unit_of(key, v) > 0) {
		msd_print_ns(out, (double)v->as.i * unit_of(key, v));
	} else if (for_people && v->kind == MODSER_TUPLE &&
		   v->as.tuple.n > LIST_SHOWN) {
		msd_buf_printf(out, "%zu (--json lists them)", v->as.tuple.n);
	} else {
		msd_print_value(out, v, for_people);
	}
}
