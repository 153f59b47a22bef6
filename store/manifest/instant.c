#include "store/manifest/instant.h"

#include <string.h>
#include <time.h>

const char *msd_instant_format(uint64_t seconds, char ret[static MSD_INSTANT_TEXT])
{
	const time_t at = (time_t)seconds;
	struct tm parts = {0};

	(void)gmtime_r(&at, &parts);
	if (strftime(ret, MSD_INSTANT_TEXT, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
		ret[0] = '\0';
	return ret;
}

/* A valid time formats to the same text again: no 31st of June, no spaces. */
bool msd_instant_parse(const char *text, uint64_t *ret)
{
	char again[MSD_INSTANT_TEXT];
	struct tm parts = {0};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts);

	if (end == NULL || *end != '\0' || parts.tm_year < 70)
		return false;
	const time_t at = timegm(&parts);
	if (at < 0 || strcmp(text, msd_instant_format((uint64_t)at, again)) != 0)
		return false;
	*ret = (uint64_t)at;
	return true;
}
