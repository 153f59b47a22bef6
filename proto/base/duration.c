#include "proto/base/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEYOND 0x1p53 /* doubles are exact integers up to here */

/* The largest first; a scale of milliseconds has all except the last. */
static const struct {
	const char *unit;
	uint64_t us;
} units[] = {{"h", UINT64_C(3600000000)},
	     {"m", 60000000},
	     {"s", 1000000},
	     {"ms", 1000},
	     {"us", 1}};
#define N_US_UNITS (sizeof(units) / sizeof(units[0]))
#define N_MS_UNITS (N_US_UNITS - 1)

/* The base unit of a result, and its name. */
static const struct scale {
	size_t n_units;
	const char *unit, *name, *all;
} millis = {N_MS_UNITS, "ms", "milliseconds", "ms, s, m, h"},
  micros = {N_US_UNITS, "us", "microseconds", "us, ms, s, m, h"};

/* Number of base units of @s in the unit @i. */
static uint64_t worth(const struct scale *s, size_t i)
{
	return units[i].us / units[s->n_units - 1].us;
}

static msd_err refuse(const char *text, const struct scale *s, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "%s: expected a time with its unit (%s) such as 50%s or 5s",
			    text, s->all, s->unit);
}

static msd_err parse(const char *text, const struct scale *s, uint64_t *ret,
		     struct msd_diag *d)
{
	const size_t digits = strspn(text, "0123456789.");
	char *end;
	const double number = strtod(text, &end);
	size_t i = 0;

	if (digits == 0 || end != text + digits)
		return refuse(text, s, d);
	if (*end == '\0' && number > 0) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"%s: add the unit, such as %ss for seconds or %s%s for %s",
			text, text, text, s->unit, s->name);
	}
	while (*end != '\0' && i < s->n_units && strcmp(end, units[i].unit) != 0)
		i++;
	if (i == s->n_units || number * (double)worth(s, i) >= BEYOND)
		return refuse(text, s, d);
	const double whole = number * (double)worth(s, i);
	*ret = (uint64_t)whole;
	*ret += whole > (double)*ret;
	return MSD_OK;
}

static const char *format(uint64_t n, const struct scale *s,
			  char ret[MSD_DURATION_TEXT_MAX])
{
	size_t i = n == 0 ? s->n_units - 1 : 0;

	while (n % worth(s, i) != 0)
		i++;
	(void)snprintf(ret, MSD_DURATION_TEXT_MAX, "%" PRIu64 "%s", n / worth(s, i),
		       units[i].unit);
	return ret;
}

msd_err msd_duration_parse(const char *text, uint64_t *ret_ms, struct msd_diag *d)
{
	return parse(text, &millis, ret_ms, d);
}

msd_err msd_duration_parse_us(const char *text, uint64_t *ret_us, struct msd_diag *d)
{
	return parse(text, &micros, ret_us, d);
}

const char *msd_duration_format(uint64_t ms, char ret[MSD_DURATION_TEXT_MAX])
{
	return format(ms, &millis, ret);
}

const char *msd_duration_format_us(uint64_t us, char ret[MSD_DURATION_TEXT_MAX])
{
	return format(us, &micros, ret);
}
