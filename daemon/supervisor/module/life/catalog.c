#include "daemon/supervisor/module/life/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/limits.h"
#include "daemon/supervisor/module/life/canary_watch.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/life/module_source.h"
#include "daemon/supervisor/module/life/self_test_plan.h"
#include "daemon/supervisor/module/queue/admit.h"
#include "daemon/supervisor/module/queue/queue.h"
#include "daemon/supervisor/module/queue/worker_selection.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/module/stats/log_ring.h"
#include "daemon/supervisor/module/workers/run_watch.h"
#include "daemon/supervisor/source/source_job.h"
#include "proto/base/spelling.h"
#include "proto/name.h"

/*
 * Happy path: load checks the name and the limits, creates the module and lists it
 * (or hides it behind the module that it replaces). It starts the module when its
 * source exists. require finds it by its name. Failures: the name is taken, or there
 * are too many modules; nothing has changed.
 */

static struct msd_module *find(struct msd_module_registry *registry,
			       struct msd_span name)
{
	MSD_LIST_EACH (it, &registry->modules) {
		struct msd_module *m = MSD_CONTAINER_OF(it, struct msd_module, link);
		if (msd_span_is(name, m->group.name))
			return m;
	}
	return NULL;
}

static msd_err not_found(struct msd_module_registry *registry, struct msd_span name,
			 struct msd_diag *d)
{
	struct msd_spelling near;

	/* The module just disappeared: it drains, and another daemon may have it. */
	if (registry->is_closing)
		return msd_diag_set(d, MSD_DRAINING, "the daemon is shutting down");
	msd_spelling_start(&near, name);
	MSD_LIST_EACH (it, &registry->modules) {
		msd_spelling_look(
			&near, msd_span_of(MSD_CONTAINER_OF(it, struct msd_module, link)
						   ->group.name));
	}
	return msd_diag_set(d, MSD_NOT_FOUND, "no such module: %.*s%s%.*s%s",
			    (int)(name.n < 80 ? name.n : 80), (const char *)name.p,
			    near.best.n > 0 ? "; did you mean " : "", (int)near.best.n,
			    near.best.n > 0 ? (const char *)near.best.p : "",
			    near.best.n > 0 ? "?" : "");
}

msd_err msd_module_require(struct msd_module_registry *registry, struct msd_span name,
			   struct msd_module **ret, struct msd_diag *d)
{
	*ret = find(registry, name);
	return *ret != NULL ? MSD_OK : not_found(registry, name, d);
}

/* An in segment was added or removed: notify the running workers. Later workers get
 * the current segments at their start. */
static void tell_segment(void *ctx, uint16_t index, int fd, uint64_t bytes)
{
	struct msd_module *m = ctx;

	for (uint32_t i = 0; i < m->group.n_replicas; i++) {
		if (m->group.replicas[i].process != NULL) {
			msd_replica_send_segment(&m->group.replicas[i], index, fd,
						 bytes);
		}
	}
}

static void on_grown(void *ctx)
{
	struct msd_module_registry *registry =
		((struct msd_module *)ctx)->group.registry;

	registry->on_room(registry);
}

static void adopt(struct msd_worker_group *group, struct msd_req *r)
{
	msd_module_adopt(msd_module_of(group), r);
}

static void on_blamed(struct msd_worker_group *group, msd_err err, const char *text)
{
	msd_module_keep_error(msd_module_of(group), err, text);
}

static void on_answered(struct msd_worker_group *group)
{
	msd_queue_pump(group);
	msd_module_look(msd_module_of(group));
	msd_module_check_idle(msd_module_of(group));
}

static void on_output(struct msd_worker_group *group, const char *bytes, size_t n)
{
	msd_log_ring_put(msd_module_of(group), bytes, n);
}

static void on_refused(struct msd_worker_group *group)
{
	msd_module_refused(msd_module_of(group));
}

static bool pass_on(struct msd_worker_group *group, struct msd_req *r)
{
	return msd_module_pass_on(msd_module_of(group), r);
}

static const struct msd_worker_group_ops group_ops = {
	.adopt = adopt,
	.on_opened = msd_module_on_opened,
	.on_blamed = on_blamed,
	.on_answered = on_answered,
	.on_lost = msd_module_on_lost,
	.on_refused = on_refused,
	.pass_on = pass_on,
	.on_overran = msd_module_overran,
	.free_objects = msd_queue_free_objects,
	.on_ledger = msd_run_watch_look,
	.on_output = on_output,
};

/* One worker, or one for each device. */
static uint32_t workers_of(const struct msd_load *load)
{
	if (load->run.workers > 0)
		return load->run.workers;
	return load->run.device_list.n > 1 ? load->run.device_list.n : 1;
}

static bool add_replicas(struct msd_module *m, uint32_t n)
{
	const struct msd_limits *limits = m->group.registry->limits;

	m->group.replicas = calloc(n, sizeof(*m->group.replicas));
	m->group.choices = calloc(n, sizeof(*m->group.choices));
	m->life = (struct msd_life){
		.workers = calloc(n, sizeof(*m->life.workers)),
		.n_workers = n,
		.load_limit_ms = limits->load_ms,
		.drain_limit_ms = limits->drain_ms,
		.max_deaths = limits->max_deaths,
	};
	if (m->group.replicas == NULL || m->group.choices == NULL ||
	    m->life.workers == NULL)
		return false;
	for (; m->group.n_replicas < n; m->group.n_replicas++) {
		msd_replica_init(&m->group.replicas[m->group.n_replicas], &m->group,
				 m->group.n_replicas + 1);
	}
	return true;
}

static void drop_source(const struct msd_load *load)
{
	struct msd_source source = load->source;

	msd_source_finish(&source);
	msd_source_job_free(load->bringing);
}

static struct msd_module *module_new(struct msd_module_registry *registry,
				     struct msd_span name, const struct msd_load *load)
{
	struct msd_module *m = calloc(1, sizeof(*m));

	if (m == NULL) {
		drop_source(load);
		return NULL;
	}
	m->group.ops = &group_ops;
	m->group.registry = registry;
	m->group.source = load->source;
	m->bringing = load->bringing;
	m->group.run = load->run;
	m->group.is_stored = load->is_stored;
	if (m->group.run.sandbox == MSD_SANDBOX_UNSAID)
		m->group.run.sandbox = registry->sandbox.word;
	m->idleness.keep_alive_ms = load->run.keep_alive.ms;
	m->load_state = load->begins;
	m->section = load->section;
	m->serial = ++registry->last_serial;
	m->owner = load->owner;
	m->group.name = strndup((const char *)name.p, name.n);
	m->group.file = strdup(load->file);
	m->group.call_stats =
		msd_call_stats_new(m->group.name != NULL ? m->group.name : "");
	msd_list_init(&m->link);
	msd_list_init(&m->group.client_queues);
	msd_list_init(&m->group.background);
	msd_list_init(&m->group.all_client_queues);
	msd_list_init(&m->group.refused);
	msd_list_init(&m->receiving);
	msd_module_open(m);
	msd_segpool_init(&m->group.in, registry->limits->max_memory, tell_segment, m);
	msd_segpool_grow_aside(&m->group.in, registry->loop, on_grown);
	m->group.in.is_pinned = true; /* until a worker pins none */
	registry->n_modules++;
	if (m->group.name == NULL || m->group.file == NULL ||
	    m->group.call_stats == NULL || !add_replicas(m, workers_of(load)) ||
	    !msd_self_test_prepare(m, load->tests, load->warmup, &m->trial)) {
		msd_module_free(m);
		return NULL;
	}
	m->life.has_trial = m->trial != NULL;
	return m;
}

msd_err msd_module_prove(struct msd_module *m, const struct msd_load *how,
			 struct msd_diag *d)
{
	msd_self_test_free(m->trial, m->group.registry->deadlines);
	m->trial = NULL;
	if (!msd_self_test_prepare(m, how->tests, how->warmup, &m->trial))
		return msd_diag_no_memory(d);
	m->life.has_trial = m->trial != NULL;
	return MSD_OK;
}

static msd_err check_workers(struct msd_module_registry *registry, uint32_t n,
			     struct msd_diag *d)
{
	if (n <= registry->limits->max_workers)
		return MSD_OK;
	return msd_diag_set(d, MSD_TOO_LARGE,
			    "%u workers are over the limit of %llu (max-workers)", n,
			    (unsigned long long)registry->limits->max_workers);
}

static bool is_of(const struct msd_module *m, const char *owner)
{
	return m != NULL && m->owner == owner;
}

/* A module and its hidden successor count as one. */
static msd_err check_owner(struct msd_module_registry *registry, struct msd_span name,
			   const struct msd_load *load, struct msd_diag *d)
{
	uint64_t n = 0;

	if (load->owner == NULL || load->owner_max == 0)
		return MSD_OK;
	MSD_LIST_EACH (it, &registry->modules) {
		const struct msd_module *m =
			MSD_CONTAINER_OF(it, struct msd_module, link);
		n += !msd_span_is(name, m->group.name) &&
		     (is_of(m, load->owner) || is_of(m->successor, load->owner));
	}
	if (n < load->owner_max)
		return MSD_OK;
	(void)msd_diag_set(d, MSD_BUSY,
			   "%s may have %llu modules (modules=): unload one",
			   load->owner, (unsigned long long)load->owner_max);
	d->retry_after_ms = load->owner_wait_ms;
	return MSD_BUSY;
}

static msd_err check_name(struct msd_module_registry *registry, struct msd_span name,
			  bool replace, struct msd_diag *d)
{
	struct msd_module *old;
	msd_err err = msd_name_check(name, d);

	if (err != MSD_OK)
		return err;
	if (registry->is_closing)
		return msd_diag_set(d, MSD_DRAINING, "the daemon is shutting down");
	old = find(registry, name);
	if (old != NULL && old->life.state == MSD_STATE_DRAINING) {
		return msd_diag_set(d, MSD_DRAINING,
				    "module %s is being unloaded: wait for it",
				    old->group.name);
	}
	if (old != NULL && old->life.state != MSD_STATE_FAILED && !replace) {
		return msd_diag_set(
			d, MSD_EXISTS,
			"module %s exists (%s): unload it or load with replace",
			old->group.name, msd_module_state_name(old->life.state));
	}
	if (old != NULL && old->successor != NULL) {
		return msd_diag_set(d, MSD_EXISTS,
				    "module %s: another replacement is running",
				    old->group.name);
	}
	return MSD_OK;
}

static msd_err check_count(struct msd_module_registry *registry, struct msd_span name,
			   struct msd_diag *d)
{
	if (registry->n_modules < registry->limits->max_modules ||
	    find(registry, name) != NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_BUSY, "the daemon may have %u modules (max-modules)",
			    registry->n_modules);
}

msd_err msd_module_check_room(struct msd_module_registry *registry,
			      struct msd_span name, const struct msd_load *load,
			      struct msd_diag *d)
{
	msd_err err = check_count(registry, name, d);

	if (err == MSD_OK)
		err = check_workers(registry, workers_of(load), d);
	return err == MSD_OK ? check_owner(registry, name, load, d) : err;
}

static bool is_serial(const struct msd_module *m, uint64_t serial)
{
	return m != NULL && m->serial == serial;
}

struct msd_module *msd_module_by_serial(struct msd_module_registry *registry,
					uint64_t serial)
{
	MSD_LIST_EACH (it, &registry->modules) {
		struct msd_module *m = MSD_CONTAINER_OF(it, struct msd_module, link);
		if (is_serial(m, serial))
			return m;
		if (is_serial(m->successor, serial))
			return m->successor;
	}
	return NULL;
}

msd_err msd_module_load(struct msd_module_registry *registry, struct msd_span name,
			const struct msd_load *load, struct msd_module **ret,
			struct msd_diag *d)
{
	msd_err err = check_name(registry, name, load->replace, d);
	if (err == MSD_OK)
		err = msd_module_check_room(registry, name, load, d);
	if (err != MSD_OK) {
		drop_source(load);
		return err;
	}
	struct msd_module *old = find(registry, name);
	struct msd_module *m = module_new(registry, name, load);
	if (m == NULL)
		return msd_diag_set(d, MSD_NOMEM, "load: out of memory");
	if (m->owner == NULL && old != NULL)
		m->owner = old->owner; /* a load without an owner keeps the old owner */
	if (old != NULL && old->life.state == MSD_STATE_FAILED) {
		msd_module_end(old); /* it has no process */
		old = NULL;
	}
	if (old != NULL) {
		old->successor = m;
		m->predecessor = old;
		m->life.is_successor = true;
	} else {
		msd_list_append(&registry->modules, &m->link);
		registry->generation++;
	}
	if (m->load_state != MSD_LOAD_FETCHING)
		msd_module_bring(m);
	*ret = m;
	return MSD_OK;
}

msd_err msd_module_add_failed(struct msd_module_registry *registry,
			      struct msd_span name, const char *file,
			      struct msd_diag *d)
{
	struct msd_diag why = {0};
	msd_err err = check_name(registry, name, false, &why);

	if (err == MSD_OK) {
		const struct msd_load none = {.file = file, .source = {.fd = -1}};
		struct msd_module *old = find(registry, name);
		struct msd_module *m = module_new(registry, name, &none);
		if (m == NULL)
			return MSD_NOMEM;
		/* Each name has one entry: the later of two causes stays. */
		if (old != NULL)
			msd_module_end(old);
		msd_list_append(&registry->modules, &m->link);
		registry->generation++;
		msd_module_fail(m, d->code, msd_diag_text(d));
	}
	msd_diag_finish(&why);
	return d->code; /* reported in any case */
}
