#include "daemon/supervisor/module/life/module_source.h"

#include <stdlib.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/module/handover/handover_artifact.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/life/repository.h"
#include "daemon/supervisor/module/queue/bulk_reject.h"
#include "daemon/supervisor/module/queue/ready_timeout.h"
#include "daemon/supervisor/source/source_job.h"

/*
 * Happy path: the source exists, or its job finishes in time; the store records a
 * candidate; the module starts. When it sleeps and the store has a copy, its bytes are
 * freed; a call makes the store read them again. Failures: the job fails, or is late (a
 * file system that hangs): the load fails, and the job is abandoned. If the bytes of a
 * sleeping module cannot be read, its waiting calls are refused, and the next call asks
 * again.
 */

static void start(struct msd_module *m)
{
	msd_log(MSD_LOG_INFO, "module_load", "name=%s bytes=%llu workers=%u",
		m->group.name, (unsigned long long)m->group.source.bytes,
		m->group.n_replicas);
	msd_module_start(m);
}

static void on_unkept(struct msd_deadline *node);

static void record(struct msd_module *m)
{
	struct msd_repository *r = m->group.registry->repository;

	m->bring_timer.on_due = on_unkept;
	msd_deadline_set(m->group.registry->deadlines, &m->bring_timer,
			 m->group.registry->limits->load_ms);
	r->ops->write(r, m);
}

static void release(struct msd_module *m)
{
	msd_handover_artifact_cool(&m->group);
	msd_source_finish(&m->group.source);
	msd_shared_weights_finish(&m->group.weights);
}

/* START and WAKE may free the module. */
static void take(struct msd_module *m, enum msd_load_event e)
{
	struct msd_repository *r = m->group.registry->repository;
	const unsigned actions = msd_module_take_load(m, e);

	if ((actions & MSD_LOAD_START) != 0)
		start(m);
	if ((actions & MSD_LOAD_WRITE) != 0)
		record(m);
	if ((actions & MSD_LOAD_RELEASE) != 0)
		release(m);
	if ((actions & MSD_LOAD_BRING) != 0 && !r->ops->find(r, m, true))
		take(m, MSD_LOAD_NO_COPY);
	if ((actions & MSD_LOAD_WAKE) != 0 && m->life.state == MSD_STATE_ASLEEP)
		msd_module_take_plain(m, MSD_LIFE_WAKE);
}

void msd_module_give(struct msd_module *m, const struct msd_source *source, char *file)
{
	m->group.source = *source;
	free(m->group.file);
	m->group.file = file;
	take(m, MSD_LOAD_HAVE);
}

/* May free the module: a failed replacement leaves no trace. */
static void fail(struct msd_module *m, struct msd_diag *d)
{
	const msd_err err = msd_diag_wrap(d, d->code, "load %s", m->group.name);

	msd_module_fail(m, err, msd_diag_text(d));
	msd_diag_finish(d);
}

static void on_unkept(struct msd_deadline *node)
{
	struct msd_module *m = MSD_CONTAINER_OF(node, struct msd_module, bring_timer);
	struct msd_diag d = {0};

	m->serial = 0; /* no serial: a late result of the disk finds no module */
	(void)msd_diag_set(&d, MSD_IO,
			   "the store did not write it within %llu ms, the daemon's "
			   "--load-timeout",
			   (unsigned long long)m->group.registry->limits->load_ms);
	fail(m, &d);
}

static void on_refused(struct msd_deadline *node)
{
	struct msd_module *m = MSD_CONTAINER_OF(node, struct msd_module, bring_timer);
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, m->error_code, "%s",
			   m->error != NULL ? m->error : "out of memory");
	fail(m, &d);
}

/* Fail on a later iteration: the caller that loads the module still uses it. */
void msd_module_kept(struct msd_module *m, const struct msd_diag *why)
{
	msd_deadline_clear(m->group.registry->deadlines, &m->bring_timer);
	if (why == NULL) {
		take(m, MSD_LOAD_WRITTEN);
		return;
	}
	msd_module_set_error(m, why->code, msd_diag_text(why));
	m->bring_timer.on_due = on_refused;
	msd_deadline_set(m->group.registry->deadlines, &m->bring_timer, 0);
}

static void on_brought(struct msd_source_job *job)
{
	struct msd_module *m = job->user;
	struct msd_diag why = job->diag;
	const msd_err err = job->err;

	job->diag = (struct msd_diag){0};
	m->bringing = NULL;
	msd_deadline_clear(m->group.registry->deadlines, &m->bring_timer);
	if (err == MSD_OK)
		m->group.source = msd_source_job_adopt(job);
	msd_source_job_free(job);
	if (err == MSD_OK) {
		take(m, MSD_LOAD_HAVE);
	} else {
		fail(m, &why);
	}
}

static void on_overdue(struct msd_deadline *node)
{
	struct msd_module *m = MSD_CONTAINER_OF(node, struct msd_module, bring_timer);
	struct msd_diag d = {0};
	struct msd_buf files = {0};
	const unsigned n = msd_source_job_name(m->bringing, &files);

	if (n == 0) /* an upload that is being hashed */
		msd_buf_printf(&files, "%s", m->group.file);
	(void)msd_diag_set(
		&d, MSD_IO, "%.*s: %s read within %llu ms, the daemon's --load-timeout",
		(int)files.n, (const char *)files.p, n > 1 ? "were not all" : "was not",
		(unsigned long long)m->group.registry->limits->load_ms);
	msd_buf_finish(&files);
	msd_source_job_free(m->bringing);
	m->bringing = NULL;
	fail(m, &d);
}

static void on_failed(struct msd_deadline *node)
{
	on_brought(MSD_CONTAINER_OF(node, struct msd_module, bring_timer)->bringing);
}

void msd_module_bring(struct msd_module *m)
{
	struct msd_source_job *job = m->bringing;

	if (job == NULL) {
		take(m, MSD_LOAD_HAVE);
		return;
	}
	job->on_done = on_brought;
	job->user = m;
	if (job->is_done && job->err == MSD_OK) {
		on_brought(job);
		return;
	}
	m->bring_timer.on_due = job->is_done ? on_failed : on_overdue;
	msd_deadline_set(m->group.registry->deadlines, &m->bring_timer,
			 job->is_done ? 0 : m->group.registry->limits->load_ms);
}

void msd_module_called(struct msd_module *m)
{
	take(m, MSD_LOAD_CALLED);
	if (m->load_state == MSD_LOAD_RELEASED || m->load_state == MSD_LOAD_BRINGING)
		msd_ready_timeout_begin(&m->group);
}

void msd_module_looked(struct msd_module *m, bool is_had)
{
	const bool is_needed = m->life.state != MSD_STATE_ASLEEP || m->life.is_called;

	take(m, is_had && !is_needed ? MSD_LOAD_COPY : MSD_LOAD_NO_COPY);
}

void msd_module_brought(struct msd_module *m, struct msd_source *source,
			const struct msd_diag *why)
{
	if (source != NULL) {
		m->group.source = *source;
		take(m, MSD_LOAD_BROUGHT);
		return;
	}
	take(m, MSD_LOAD_NO_COPY);
	msd_log(MSD_LOG_ERROR, "module_idle_start", "name=%s why=\"%s\"", m->group.name,
		msd_diag_text(why));
	msd_refusal_begin(&m->group, why->code, msd_diag_text(why));
}
