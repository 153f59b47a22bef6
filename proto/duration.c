#include "proto/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEYOND_MS 0x1p53 /* what a double counts one by one ends here */

static const struct {
	const char *unit;
	uint64_t ms;
} units[] = {{"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
#define N_UNITS (sizeof(units) / sizeof(units[0]))

static msd_err refuse(const char *text, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "%s: expected a time with its unit (ms, s, m, h) such as "
			    "50ms or 5s",
			    text);
}

msd_err msd_duration_parse(const char *text, uint64_t *ret_ms, struct msd_diag *d)
{
	const size_t digits = strspn(text, "0123456789.");
	char *end;
	const double number = strtod(text, &end);
	size_t i = 0;

	if (digits == 0 || end != text + digits)
		return refuse(text, d);
	if (*end == '\0' && number > 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: say the unit, %ss for seconds or %sms for "
				    "milliseconds",
				    text, text, text);
	}
	while (*end != '\0' && i < N_UNITS && strcmp(end, units[i].unit) != 0)
		i++;
	if (i == N_UNITS || number * (double)units[i].ms >= BEYOND_MS)
		return refuse(text, d);
	const double ms = number * (double)units[i].ms;
	*ret_ms = (uint64_t)ms;
	*ret_ms += ms > (double)*ret_ms;
	return MSD_OK;
}

const char *msd_duration_format(uint64_t ms, char ret[MSD_DURATION_TEXT_MAX])
{
	size_t i = ms == 0 ? N_UNITS - 1 : 0;

	while (ms % units[i].ms != 0)
		i++;
	(void)snprintf(ret, MSD_DURATION_TEXT_MAX, "%" PRIu64 "%s", ms / units[i].ms,
		       units[i].unit);
	return ret;
}
