#include "daemon/supervisor/http/models/model_stats.h"

#include "daemon/supervisor/http/models/model.h"
#include "daemon/supervisor/http/models/repository.h"
#include "daemon/supervisor/http/page/chunked_answer.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/module/workers/signature.h"
#include "proto/base/json.h"

/* Calls of one function, or of all functions. */
struct counts {
	uint64_t n_ok, n_failed, n_timed;
	uint64_t ns[MSD_STAGE_COUNT], all_ns; /* of timed calls */
	uint64_t failed_ns;
};

static void add(struct counts *c, const struct msd_call_stats_row *row)
{
	for (unsigned code = 0; code < MSD_CALL_STATS_CODES; code++) {
		const uint64_t n = msd_call_stats_count(row, code);
		c->n_ok += code == MSD_OK ? n : 0;
		c->n_failed += code == MSD_OK ? 0 : n;
	}
	c->n_timed += row->n_ok - row->n_untimed;
	c->failed_ns += row->failed_ns;
	for (unsigned i = 0; i < MSD_STAGE_COUNT; i++) {
		c->ns[i] += row->spent_ns[i];
		c->all_ns += row->spent_ns[i];
	}
}

/* A function after the maximum number of counted functions has no row of its own. */
static struct counts count(const struct msd_model *m)
{
	struct msd_call_stats *t = m->module->group.call_stats;
	struct counts c = {0};

	if (m->function != NULL) {
		const uint8_t row = msd_call_stats_find(t, m->function->name);
		if (row != MSD_CALL_STATS_OTHER)
			add(&c, &t->rows[row]);
		return c;
	}
	for (uint32_t i = 0; i < t->n_rows; i++)
		add(&c, &t->rows[i]);
	return c;
}

static void put_part(struct msd_buf *b, const char *name, uint64_t n, uint64_t ns)
{
	msd_buf_printf(b, "\"%s\":{\"count\":%llu,\"ns\":%llu}", name,
		       (unsigned long long)n, (unsigned long long)ns);
}

static void put_model(struct msd_buf *b, struct msd_span name,
		      const struct msd_model *m)
{
	static const struct {
		enum msd_stage stage;
		const char *name;
	} parts[] = {{MSD_STAGE_QUEUE, "queue"},
		     {MSD_STAGE_READ, "compute_input"},
		     {MSD_STAGE_RUN, "compute_infer"},
		     {MSD_STAGE_WORKER, "compute_output"}};
	const struct counts c = count(m);

	msd_buf_printf(b, "{\"name\":");
	msd_json_str(b, name);
	msd_buf_printf(b,
		       ",\"version\":\"" MSD_MODEL_VERSION
		       "\",\"inference_count\":%llu,\"execution_count\":%llu,"
		       "\"inference_stats\":{",
		       (unsigned long long)c.n_ok, (unsigned long long)c.n_ok);
	put_part(b, "success", c.n_ok, c.all_ns);
	msd_buf_put_u8(b, ',');
	put_part(b, "fail", c.n_failed, c.failed_ns);
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		msd_buf_put_u8(b, ',');
		put_part(b, parts[i].name, c.n_timed, c.ns[parts[i].stage]);
	}
	msd_buf_printf(b, "}}");
}

void msd_model_stats(struct msd_http_exchange *a)
{
	struct msd_model m;

	if (msd_repository_find(a, &m) != MSD_OK)
		return;
	msd_http_exchange_say_json(a, 200);
	msd_buf_printf(&a->body, "{\"model_stats\":[");
	put_model(&a->body, a->names[0], &m);
	msd_buf_printf(&a->body, "]}\n");
}

static void begin_all(struct msd_http_exchange *a)
{
	msd_buf_printf(&a->body, "{\"model_stats\":[");
}

static void put_one(struct msd_http_exchange *a, struct msd_module_listing_position *at,
		    struct msd_module *m)
{
	(void)at;
	put_model(&a->body, msd_span_of(m->group.name),
		  &(struct msd_model){.module = m});
}

void msd_model_stats_all(struct msd_http_exchange *a)
{
	static const struct msd_module_listing roll = {begin_all, put_one, "]}\n"};

	msd_http_exchange_say_json(a, 200);
	msd_chunked_answer_roll(a, &roll, false);
}
