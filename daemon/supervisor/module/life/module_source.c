#include "daemon/supervisor/module/life/module_source.h"

#include <stdlib.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/life/repository.h"
#include "daemon/supervisor/source/source_job.h"

/*
 * Happy path: the source exists, or its job finishes in time; the module starts.
 * Failures: the job fails, or is late (a file system that hangs): the load fails, and
 * the job is abandoned.
 */

static void start(struct msd_module *m)
{
	msd_log(MSD_LOG_INFO, "module_load", "name=%s bytes=%llu workers=%u",
		m->group.name, (unsigned long long)m->group.source.bytes,
		m->group.n_replicas);
	msd_module_start(m);
}

static void on_unkept(struct msd_deadline *node);

/* The bytes are complete. The store records a candidate before its start. */
static void begin(struct msd_module *m)
{
	if (!m->is_candidate || m->is_written) {
		start(m);
		return;
	}
	m->bring_timer.on_due = on_unkept;
	msd_deadline_set(m->group.registry->deadlines, &m->bring_timer,
			 m->group.registry->limits->load_ms);
	m->group.registry->repository->ops->write(m->group.registry->repository, m);
}

void msd_module_give(struct msd_module *m, const struct msd_source *source, char *file)
{
	m->is_awaiting = false;
	m->group.source = *source;
	free(m->group.file);
	m->group.file = file;
	begin(m);
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
	m->is_candidate = false;
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
		start(m);
		return;
	}
	m->is_candidate = false;
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
		begin(m);
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
		begin(m);
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
