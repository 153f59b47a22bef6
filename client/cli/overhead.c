#include "client/cli/overhead.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct msd_overhead *find(struct msd_overhead *all, size_t *n, const char *name,
				 size_t bytes)
{
	for (size_t i = 0; i < *n; i++) {
		if (strlen(all[i].module) == bytes &&
		    memcmp(all[i].module, name, bytes) == 0)
			return &all[i];
	}
	if (*n == MSD_OVERHEAD_MODULES || bytes > MSD_MAX_NAME_BYTES)
		return NULL;
	all[*n] = (struct msd_overhead){0};
	memcpy(all[*n].module, name, bytes);
	return &all[(*n)++];
}

/* `NAME",stage="STAGE"} VALUE` */
static void take(struct msd_overhead *all, size_t *n, const char *at, bool is_sum)
{
	static const char run[] = "\",stage=\"run\"} ";
	const char *end = strchr(at, '"');
	const char *value = end != NULL ? strstr(end, "\"} ") : NULL;

	if (value == NULL || end == at)
		return;
	struct msd_overhead *o = find(all, n, at, (size_t)(end - at));
	const double number = strtod(value + strlen("\"} "), NULL);
	const bool is_run = strncmp(end, run, strlen(run)) == 0;
	if (o == NULL)
		return;
	if (is_sum && is_run) {
		o->run_s += number;
	} else if (is_sum) {
		o->all_s += number;
	} else if (is_run) {
		o->calls += number;
	}
}

size_t msd_overhead_read(const char *metrics, struct msd_overhead *ret)
{
	static const char sum[] = "modserd_call_stage_seconds_sum{module=\"";
	static const char count[] = "modserd_call_stage_seconds_count{module=\"";
	size_t n = 0;

	for (const char *line = metrics; *line != '\0';) {
		if (strncmp(line, sum, strlen(sum)) == 0)
			take(ret, &n, line + strlen(sum), true);
		if (strncmp(line, count, strlen(count)) == 0)
			take(ret, &n, line + strlen(count), false);
		const char *end = strchr(line, '\n');
		line = end != NULL ? end + 1 : line + strlen(line);
	}
	return n;
}
