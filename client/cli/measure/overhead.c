#include "client/cli/measure/overhead.h"

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

static bool is_stage(const char *at, const char *stage)
{
	static const char head[] = "\",stage=\"";
	const size_t n = strlen(stage);

	return strncmp(at, head, strlen(head)) == 0 &&
	       strncmp(at + strlen(head), stage, n) == 0 && at[strlen(head) + n] == '"';
}

/* `NAME",stage="STAGE"} VALUE` */
static void take(struct msd_overhead *all, size_t *n, const char *at, bool is_sum)
{
	const char *end = strchr(at, '"');
	const char *value = end != NULL ? strstr(end, "\"} ") : NULL;

	if (value == NULL || end == at)
		return;
	struct msd_overhead *o = find(all, n, at, (size_t)(end - at));
	const double number = strtod(value + strlen("\"} "), NULL);
	if (o == NULL)
		return;
	if (!is_sum) {
		o->calls += is_stage(end, "run") ? number : 0;
	} else if (is_stage(end, "run")) {
		o->run_s += number;
	} else if (is_stage(end, "queue")) {
		o->wait_s += number;
	} else {
		o->added_s += number;
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

void msd_overhead_since(struct msd_overhead *after, size_t n,
			const struct msd_overhead *before, size_t n_before)
{
	for (size_t i = 0; i < n; i++) {
		struct msd_overhead *o = &after[i];
		size_t k = 0;
		while (k < n_before && strcmp(before[k].module, o->module) != 0)
			k++;
		if (k == n_before || o->calls <= before[k].calls)
			continue;
		o->calls -= before[k].calls;
		o->run_s -= before[k].run_s;
		o->wait_s -= before[k].wait_s;
		o->added_s -= before[k].added_s;
		o->is_recent = true;
	}
}
