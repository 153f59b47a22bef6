/* The methods that describe modules: list, describe, functions. The result is written
 * from the current state. */
#include <string.h>

#include "daemon/limits.h"
#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/repository.h"
#include "daemon/supervisor/module/life/sleep.h"
#include "daemon/supervisor/module/workers/busy.h"
#include "daemon/supervisor/module/workers/facts.h"
#include "daemon/supervisor/module/workers/process.h"
#include "daemon/supervisor/module/workers/replica.h"

#define N_SUMMARY_KEYS 14u
#define HEAD_BYTES 5u /* the longest header of a msgpack array */

static void put_quantile(struct msd_buf *b, const char *key,
			 const struct msd_histogram *h, unsigned percent)
{
	msd_pack_cstr(b, key);
	if (msd_histogram_total(h) > 0) {
		msd_pack_uint(b, msd_histogram_quantile(h, percent));
	} else {
		msd_pack_nil(b);
	}
}

/* Another thread sets the PID of a starting process at any moment. Read the PIDs
 * once, so that the entry of a module is consistent. */
static void look_for_numbers(const struct msd_worker_group *group)
{
	for (uint32_t i = 0; i < group->n_replicas; i++) {
		struct msd_process *p = group->replicas[i].process;
		if (p != NULL)
			p->listed = msd_child_pid(p->child);
	}
}

/* Return the process of worker @i. NULL if it had no PID when the PIDs were read. */
static struct msd_process *process_at(const struct msd_worker_group *group, uint32_t i)
{
	struct msd_process *p = group->replicas[i].process;

	return p != NULL && p->listed != 0 ? p : NULL;
}

/* `pid` is the first worker's; `rss_bytes` is the sum over all workers, at most a
 * second old. */
static void put_summary(struct msd_buf *b, const struct msd_module *m,
			uint32_t *rss_looks)
{
	uint64_t pid = 0, rss = 0;

	look_for_numbers(&m->group);
	for (uint32_t i = 0; i < m->group.n_replicas; i++) {
		struct msd_process *p = process_at(&m->group, i);
		if (p == NULL)
			continue;
		pid = pid != 0 ? pid : (uint64_t)p->listed;
		rss += msd_rss_recent(&p->rss, p->listed,
				      uv_now(m->group.registry->loop), rss_looks);
	}
	msd_pack_pair_str(b, "name", m->group.name);
	msd_pack_pair_str(b, "state", msd_module_state_name(m->life.state));
	msd_pack_pair_str(b, "file", m->group.file);
	msd_pack_pair_uint(b, "bytes", m->group.source.bytes);
	msd_pack_pair_uint(b, "pid", pid);
	msd_pack_pair_uint(b, "rss_bytes", rss);
	msd_pack_pair_uint(b, "restarts", m->life.n_restarts);
	msd_pack_pair_uint(b, "calls", m->group.n_calls);
	msd_pack_pair_uint(b, "errors", m->group.n_errors);
	msd_pack_pair_uint(b, "in_flight", msd_module_in_flight(m));
	msd_pack_pair_uint(b, "queued", m->group.n_queued);
	msd_pack_pair_uint(b, "exec_total_ns", m->group.stages[MSD_STAGE_RUN].sum_ns);
	put_quantile(b, "p50_ns", &m->group.stages[MSD_STAGE_RUN].device_list, 50);
	put_quantile(b, "p99_ns", &m->group.stages[MSD_STAGE_RUN].device_list, 99);
}

static void put_device(struct msd_buf *b, const struct msd_facts *f)
{
	msd_pack_cstr(b, "device");
	if (f->device.n > 0) {
		msd_buf_put(b, f->device.p, f->device.n);
	} else {
		msd_pack_nil(b);
	}
}

static void put_error(struct msd_buf *b, const struct msd_module *m)
{
	msd_pack_cstr(b, "error");
	/* While the module can be called, errors of single workers are only logged,
	 * but the error of a failed edition is shown. */
	if (m->error != NULL && m->life.state != MSD_STATE_READY) {
		msd_pack_cstr(b, m->error);
	} else if (m->failed_edition.why != NULL) {
		msd_pack_text(b, m->failed_edition.why, strlen(m->failed_edition.why));
	} else {
		msd_pack_nil(b);
	}
}

static void put_digest(struct msd_buf *b, const char *key,
		       const struct msd_digest *digest)
{
	char digits[MSD_DIGEST_TEXT];

	msd_pack_cstr(b, key);
	if (digest != NULL) {
		msd_digest_format(digest, digits);
		msd_pack_cstr(b, digits);
	} else {
		msd_pack_nil(b);
	}
}

/* Append the sizes of the graph and parameter files of a library, which the tree of
 * `inspect` does not show. */
static void put_beside(struct msd_buf *b, const struct msd_module *m)
{
	const struct msd_source *s = &m->group.source;
	const uint64_t graph = s->part_bytes[MSD_PART_GRAPH];
	const uint64_t params = s->part_bytes[MSD_PART_PARAMS];

	msd_pack_cstr(b, "beside");
	if (graph == 0 && params == 0) {
		msd_pack_nil(b);
		return;
	}
	msd_pack_map(b, (size_t)(graph > 0) + (params > 0));
	if (graph > 0)
		msd_pack_pair_uint(b, "graph_bytes", graph);
	if (params > 0)
		msd_pack_pair_uint(b, "params_bytes", params);
}

/* Append the state of the next edition, and the digest of a failed edition. */
static void put_others(struct msd_buf *b, const struct msd_module *m)
{
	const struct msd_module *next = m->successor;
	const bool has_source = next != NULL && next->group.source.fd >= 0;

	msd_pack_cstr(b, "next");
	if (next != NULL) {
		msd_pack_cstr(b, msd_module_state_name(next->life.state));
	} else {
		msd_pack_nil(b);
	}
	put_digest(b, "next_sha256",
		   has_source ? msd_source_edition(&next->group.source) : NULL);
	put_digest(b, "failed_sha256",
		   m->failed_edition.has_digest ? &m->failed_edition.digest : NULL);
}

static void put_or_nil(struct msd_buf *b, const char *key, uint64_t value)
{
	msd_pack_cstr(b, key);
	if (value > 0) {
		msd_pack_uint(b, value);
	} else {
		msd_pack_nil(b);
	}
}

#define N_EDITION_KEYS 9u

/* Append the source, the remaining time of the canary, the time limits, the next and
 * failed editions, and the difference to the configuration. */
static void put_edition(struct msd_method_call *c, const struct msd_module *m)
{
	struct msd_edge *e = c->session->edge;
	uint64_t left_ms;

	msd_pack_cstr(&c->result, "source");
	e->registry->repository->ops->put_source(e->registry->repository, m->group.name,
						 &c->result);
	msd_pack_cstr(&c->result, "watch_ms");
	if (m->canary.is_on) {
		msd_pack_uint(&c->result,
			      msd_deadline_left(e->deadlines, &m->probation_end));
	} else {
		msd_pack_nil(&c->result);
	}
	put_or_nil(&c->result, "keep_alive_ms", m->idleness.keep_alive_ms);
	msd_pack_cstr(&c->result, "sleeps_ms");
	if (msd_sleep_left(m, &left_ms)) {
		msd_pack_uint(&c->result, left_ms);
	} else {
		msd_pack_nil(&c->result);
	}
	put_or_nil(&c->result, "max_run_ms",
		   msd_given_ms_or(m->group.run.max_run, e->limits->max_run_ms));
	put_others(&c->result, m);
	const char *word = e->config_word(e, m);
	msd_pack_cstr(&c->result, "config");
	if (word != NULL) {
		msd_pack_cstr(&c->result, word);
	} else {
		msd_pack_nil(&c->result);
	}
}

#define N_WORKERS_KEYS 9u

/* Append the devices of the @n running workers: as configured, else as reported by
 * the worker. */
static void put_devices(struct msd_buf *b, const struct msd_worker_group *group,
			uint32_t n)
{
	char text[MSD_DEVICE_LIST_TEXT_MAX];

	msd_pack_cstr(b, "devices");
	msd_pack_array(b, n);
	for (uint32_t i = 0; i < group->n_replicas; i++) {
		const struct msd_device_list one = {
			.at = {msd_device_list_at(&group->run.device_list, i)}, .n = 1};
		if (process_at(group, i) == NULL)
			continue;
		if (group->run.device_list.n > 0) {
			msd_pack_cstr(b, msd_device_list_format(&one, text));
		} else if (group->facts.device.n > 0) {
			msd_buf_put(b, group->facts.device.p, group->facts.device.n);
		} else {
			msd_pack_nil(b);
		}
	}
}

/* Append for how long the worker has run its current request. nil: it is idle. */
static void put_busy_one(struct msd_buf *b, bool is_busy, uint64_t ms)
{
	if (is_busy) {
		msd_pack_uint(b, ms);
	} else {
		msd_pack_nil(b);
	}
}

/* Append the longest time over all workers, and the time of each running worker. */
static void put_busy(struct msd_buf *b, const struct msd_worker_group *group,
		     uint32_t n)
{
	uint64_t ms = 0;
	const bool is_busy = msd_busy_longest(group, &ms);

	msd_pack_cstr(b, "busy_ms");
	put_busy_one(b, is_busy, ms);
	msd_pack_cstr(b, "busy");
	msd_pack_array(b, n);
	for (uint32_t i = 0; i < group->n_replicas; i++) {
		if (process_at(group, i) == NULL)
			continue;
		const bool is_one = msd_busy_worker(&group->replicas[i], &ms);
		put_busy_one(b, is_one, ms);
	}
}

static void put_workers(struct msd_buf *b, const struct msd_module *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->group.n_replicas; i++)
		n += process_at(&m->group, i) != NULL ? 1u : 0u;
	msd_pack_pair_uint(b, "workers", m->group.n_replicas);
	msd_pack_pair_uint(b, "ready", m->life.n_open);
	msd_pack_cstr(b, "pids");
	msd_pack_array(b, n);
	for (uint32_t i = 0; i < m->group.n_replicas; i++) {
		const struct msd_process *p = process_at(&m->group, i);
		if (p != NULL)
			msd_pack_uint(b, (uint64_t)p->listed);
	}
	put_devices(b, &m->group, n);
	put_busy(b, &m->group, n);
	msd_pack_pair_uint(b, "spin_hits", m->group.spun.hits);
	msd_pack_pair_uint(b, "spin_misses", m->group.spun.misses);
	msd_pack_pair_uint(b, "spin_waste_ns", m->group.spun.waste_ns);
}

void msd_method_list_one(struct msd_method_call *c, const struct msd_module *m,
			 uint32_t *rss_looks)
{
	msd_pack_map(&c->result, N_SUMMARY_KEYS + 3 + N_WORKERS_KEYS + N_EDITION_KEYS);
	put_summary(&c->result, m, rss_looks);
	put_device(&c->result, &m->group.facts);
	msd_pack_pair_uint(&c->result, "functions", m->group.facts.n_functions);
	put_error(&c->result, m);
	put_workers(&c->result, m);
	put_edition(c, m);
}

static void begin_list(const struct msd_module_registry *registry,
		       struct msd_method_list_at *at, struct msd_buf *out)
{
	*at = (struct msd_method_list_at){.has_begun = true,
					  .generation = registry->generation,
					  .rss_looks = MSD_RSS_LOOKS,
					  .n_begun = at->n_begun + 1};
	out->n = 0;
	msd_buf_put(out, (uint8_t[HEAD_BYTES]){0}, HEAD_BYTES);
}

/* The number of modules is known at the end. The header is the shortest one, as in all
 * replies. */
static void put_head(struct msd_buf *out, uint32_t n)
{
	struct msd_buf head = {0};

	msd_pack_array(&head, n);
	out->bad = out->bad || head.bad;
	if (!out->bad) {
		memcpy(out->p, head.p, head.n);
		memmove(out->p + head.n, out->p + HEAD_BYTES, out->n - HEAD_BYTES);
		out->n -= HEAD_BYTES - head.n;
	}
	msd_buf_finish(&head);
}

bool msd_method_list_go_on(struct msd_session *s, struct msd_method_list_at *at,
			   struct msd_buf *out)
{
	const struct msd_module_registry *registry = s->edge->registry;
	struct msd_method_call c = {.session = s};
	uint32_t i = 0, n = 0;
	bool is_whole = true;

	if (!at->has_begun || at->generation != registry->generation)
		begin_list(registry, at, out);
	c.result = *out;
	MSD_LIST_EACH (it, &registry->modules) {
		const struct msd_module *m =
			MSD_CONTAINER_OF(it, struct msd_module, link);
		if (i++ < at->n_passed)
			continue;
		is_whole = n++ < MSD_METHOD_LIST_PIECE ||
			   at->n_begun >= MSD_METHOD_LIST_ATTEMPTS;
		if (!is_whole)
			break;
		at->n_passed++;
		if (!msd_authorization_sees(s, m->group.name))
			continue;
		msd_method_list_one(&c, m, &at->rss_looks);
		at->n++;
	}
	*out = c.result;
	if (is_whole)
		put_head(out, at->n);
	return is_whole;
}

msd_err msd_method_list(struct msd_method_call *c, struct msd_diag *d)
{
	return c->session->edge->answer_in_chunks(c->session->edge, c, d);
}

msd_err msd_method_describe(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_module *m;
	uint32_t rss_looks = MSD_RSS_LOOKS;
	msd_err err = msd_method_module(c, &m, d);

	if (err != MSD_OK)
		return err;
	msd_pack_map(&c->result, N_SUMMARY_KEYS + 3 + N_WORKERS_KEYS + N_EDITION_KEYS +
					 2 + MSD_FACTS_N_PARTS);
	put_summary(&c->result, m, &rss_looks);
	put_digest(&c->result, "sha256",
		   m->group.source.fd >= 0 ? &m->group.source.sha256 : NULL);
	put_beside(&c->result, m);
	put_error(&c->result, m);
	put_workers(&c->result, m);
	put_edition(c, m);
	msd_pack_cstr(&c->result, "options");
	msd_run_options_describe(&m->group.run, MSD_RUN_LOAD, &c->result);
	msd_facts_put_model(&m->group.facts, &c->result);
	if (!msd_facts_are_known(&m->group.facts)) {
		msd_facts_put_unknown(&c->result);
		return MSD_OK;
	}
	c->shared = m->group.facts.text;
	c->shared_part = (struct msd_span){c->shared->bytes, c->shared->n};
	return MSD_OK;
}

msd_err msd_method_functions(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_module *m;
	msd_err err = msd_method_module(c, &m, d);

	if (err == MSD_OK && !msd_facts_are_known(&m->group.facts)) {
		err = m->error != NULL
			      ? msd_diag_set(d, m->error_code, "%s", m->error)
			      : msd_diag_set(d, MSD_NOT_READY, "module %s is %s",
					     m->group.name,
					     msd_module_state_name(m->life.state));
	}
	if (err == MSD_OK) {
		c->shared = m->group.facts.text;
		c->shared_part = m->group.facts.functions;
	}
	return err;
}
