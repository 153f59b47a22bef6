#include "client/cli/stages.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name; /* as the metrics have it */
	const char *key;
} stages[MSD_STAGES] = {{"read", "read_mean_ns"},
			{"queue", "queue_mean_ns"},
			{"worker", "worker_mean_ns"},
			{"run", "run_mean_ns"},
			{"reply", "reply_mean_ns"}};

const char *msd_stages_key(unsigned i)
{
	return stages[i].key;
}

/* The text behind @prefix of @n bytes where @line begins with it, else NULL. */
static const char *behind(const char *line, const char *prefix, size_t n)
{
	return line != NULL && strncmp(line, prefix, n) == 0 ? line + n : NULL;
}

/* `{module="NAME",stage="STAGE"} VALUE`, where a line says it of @module. */
static void take(const char *line, struct msd_span module, double ret[MSD_STAGES])
{
	static const char begin[] = "{module=\"", middle[] = "\",stage=\"";
	static const char end[] = "\"} ";

	line = behind(line, begin, sizeof(begin) - 1);
	line = behind(line, (const char *)module.p, module.n);
	line = behind(line, middle, sizeof(middle) - 1);
	for (unsigned i = 0; i < MSD_STAGES; i++) {
		const char *at = behind(line, stages[i].name, strlen(stages[i].name));
		const char *value = behind(at, end, sizeof(end) - 1);
		if (value != NULL)
			ret[i] = strtod(value, NULL);
	}
}

void msd_stages_read(const char *metrics, struct msd_span module,
		     struct msd_stages *ret)
{
	static const char sum[] = "modserd_call_stage_seconds_sum";
	static const char count[] = "modserd_call_stage_seconds_count";

	*ret = (struct msd_stages){0};
	for (const char *line = metrics; *line != '\0';) {
		const char *end = strchr(line, '\n');
		take(behind(line, sum, sizeof(sum) - 1), module, ret->sum_s);
		take(behind(line, count, sizeof(count) - 1), module, ret->n);
		line = end != NULL ? end + 1 : line + strlen(line);
	}
}

void msd_stages_ask(modser_client *client, const char *target, struct msd_stages *ret)
{
	const struct msd_span module = {(const uint8_t *)target, strcspn(target, ":")};
	modser_result *r = NULL;

	*ret = (struct msd_stages){0};
	if (modser_request(client, "server.metrics", NULL, 0, NULL, &r) == MODSER_OK &&
	    modser_result_value(r)->kind == MODSER_STR)
		msd_stages_read(modser_result_value(r)->as.str.p, module, ret);
	modser_result_free(r);
}

uint64_t msd_stages_mean_ns(const struct msd_stages *before,
			    const struct msd_stages *behind, unsigned i)
{
	const double n = behind->n[i] - before->n[i];
	const double s = behind->sum_s[i] - before->sum_s[i];

	return n > 0 && s > 0 ? (uint64_t)(s * 1e9 / n) : 0;
}
