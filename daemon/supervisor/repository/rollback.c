/*
 * Happy path: on the keeper's thread the edition of the record becomes a candidate,
 * and its files are read. Then it is loaded like any candidate and replaces the
 * module that serves. When it is READY, it is current and the replaced edition is
 * previous: a second rollback undoes the first. Failures: without such an edition, or
 * with damaged files, nothing changes. If the candidate does not become READY, the
 * old module continues to serve. The rollback continues if its client disconnects.
 */
#include "daemon/supervisor/repository/rollback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/config/preload.h"
#include "daemon/supervisor/keep/keep.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/queue/admit.h"
#include "daemon/supervisor/repository/edition.h"
#include "daemon/supervisor/repository/source_pollers.h"
#include "daemon/supervisor/repository/stored_edition.h"
#include "daemon/supervisor/request/job_waiter.h"
#include "store/editions.h"

enum kind {
	BY_HAND,
	AGAIN, /* the source offers an edition of the store again */
	RETURN /* from a bad edition; no candidate, it was good before */
};

struct rollback {
	struct msd_keeper_job job;
	struct msd_module_registry *registry;
	struct msd_job_waiter waiter;
	char name[MSD_MAX_NAME_BYTES + 1];
	uint64_t max_bytes;
	enum kind kind;
	enum msd_ref ref;                  /* of AGAIN */
	char from[MSD_MAX_NAME_BYTES + 1]; /* of AGAIN: module of the edition */
	bool has_options;
	struct msd_load options;
	struct msd_preload more; /* of AGAIN: overrides the kept options */
	struct msd_edition edition;
	struct msd_source source;
	struct msd_failure failure; /* of RETURN: the failure to report */
};

static struct rollback *rollback_of(struct msd_keeper_job *job)
{
	return MSD_CONTAINER_OF(job, struct rollback, job);
}

static const char *verb_of(enum kind kind)
{
	return kind == AGAIN ? "load" : "rollback";
}

static bool is_of_another(const struct rollback *b)
{
	return b->kind == AGAIN && strcmp(b->from, b->name) != 0;
}

static msd_err again(const struct rollback *b, const struct msd_store *s,
		     struct msd_record *r, struct msd_diag *d)
{
	struct msd_record from;
	msd_err err;

	if (!is_of_another(b))
		return msd_record_again(r, b->ref, d);
	err = msd_record_load(s, b->from, &from, d);
	if (err != MSD_OK)
		return err;
	err = msd_record_copy(r, &from, b->ref, d);
	msd_record_finish(&from);
	return err;
}

static msd_err step(const struct rollback *b, const struct msd_store *s,
		    struct msd_record *r, struct msd_diag *d)
{
	switch (b->kind) {
	case BY_HAND:
		return msd_record_back(r, d);
	case AGAIN:
		return again(b, s, r, d);
	case RETURN:
	default:
		return msd_record_return(r, b->failure.why, d);
	}
}

static msd_err put_more(const struct rollback *b, struct msd_edition *e,
			struct msd_diag *d)
{
	struct msd_preload kept, both;
	msd_err err = msd_edition_keys(e, &kept, d);

	if (err == MSD_OK)
		err = msd_preload_merge(&kept, &b->more, &both, d);
	if (err != MSD_OK)
		return err;
	return msd_stored_options_put(&both.run, e, d);
}

/* Read the bytes before anything is written: a damaged edition changes nothing. */
static msd_err bring(struct rollback *b, struct msd_store *s, struct msd_record *r,
		     struct msd_diag *d)
{
	msd_err err = step(b, s, r, d);

	if (err == MSD_OK && b->kind == AGAIN && b->has_options) {
		err = msd_stored_options_put(&b->options.run,
					     r->editions[MSD_REF_CANDIDATE], d);
	} else if (err == MSD_OK && msd_preload_has_keys(&b->more)) {
		err = put_more(b, r->editions[MSD_REF_CANDIDATE], d);
	}
	if (err != MSD_OK)
		return err;
	b->failure = r->failure;
	b->edition =
		*r->editions[b->kind == RETURN ? MSD_REF_CURRENT : MSD_REF_CANDIDATE];
	err = msd_edition_read(s, &b->edition, b->max_bytes, &b->source, d);
	if (err != MSD_OK)
		return err;
	return msd_record_save(s, b->name, r, d);
}

static void work(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct rollback *b = rollback_of(job);
	struct msd_record r = {0};

	job->err = msd_record_load(&keeper->store, b->name, &r, &job->d);
	if (job->err == MSD_NOT_FOUND && is_of_another(b)) { /* its first edition */
		msd_diag_finish(&job->d);
		job->d = (struct msd_diag){0};
		job->err = MSD_OK;
	}
	if (job->err != MSD_OK)
		return;
	job->err = bring(b, &keeper->store, &r, &job->d);
	msd_record_finish(&r);
}

static msd_err load(struct rollback *b, struct msd_req *r, struct msd_diag *d)
{
	struct msd_module *m;
	const msd_err err = msd_edition_load(
		b->registry, b->name, &b->edition, &b->source,
		(struct msd_edition_how){.is_candidate = b->kind != RETURN,
					 .replace = true,
					 .options =
						 b->has_options ? &b->options : NULL},
		&m, d);

	b->source.fd = -1;
	if (err == MSD_OK && b->kind == RETURN) {
		msd_failed_edition_note(&m->failed_edition, &b->failure.digest,
					b->failure.why);
	}
	if (err != MSD_OK || r == NULL)
		return err;
	msd_list_remove(&r->link);
	msd_module_adopt(m, r);
	msd_module_wait(m, r);
	return MSD_OK;
}

/* The section of the configuration was not applied; the next reload detects that. */
static void note_refused(const struct rollback *b, const struct msd_diag *d)
{
	struct msd_module *m;

	if (b->kind != AGAIN || !b->has_options ||
	    msd_module_require(b->registry, msd_span_of(b->name), &m, NULL) != MSD_OK)
		return;
	msd_failed_edition_note(&m->failed_edition, NULL, msd_diag_text(d));
	m->failed_edition.section = b->options.section;
}

static void done(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct rollback *b = rollback_of(job);
	struct msd_req *r = msd_job_waiter_request(&b->waiter);
	const bool is_written = job->err == MSD_OK;

	if (job->err == MSD_OK)
		job->err = load(b, r, &job->d);
	if (job->err != MSD_OK) {
		(void)msd_diag_wrap(&job->d, job->err, "%s %s", verb_of(b->kind),
				    b->name);
		msd_log(MSD_LOG_WARN, "edition_rollback", "name=%s why=\"%s\"", b->name,
			msd_diag_text(&job->d));
		note_refused(b, &job->d);
		if (is_written && b->kind != RETURN) {
			msd_keep_tried(keeper, b->name, MSD_KEEP_WITHDRAWN, NULL, NULL);
		}
		if (r != NULL)
			msd_req_refuse(r, job->err, msd_diag_text(&job->d));
	}
	msd_source_finish(&b->source);
	msd_preload_finish(&b->more);
	msd_diag_finish(&job->d);
	free(b);
}

/* NULL: @r was answered. */
static struct rollback *rollback_new(struct msd_module_registry *registry,
				     enum kind kind, const char *name,
				     const struct msd_load *options, struct msd_req *r)
{
	struct rollback *b = calloc(1, sizeof(*b));
	struct msd_diag d = {0};

	if (b == NULL) {
		(void)msd_diag_set(&d, MSD_NOMEM, "%s: out of memory", verb_of(kind));
		if (r != NULL) /* otherwise the source is polled again */
			msd_req_refuse(r, d.code, msd_diag_text(&d));
		msd_diag_finish(&d);
		return NULL;
	}
	b->registry = registry;
	b->source.fd = -1;
	b->max_bytes = registry->limits->max_upload;
	b->kind = kind;
	b->has_options = options != NULL;
	if (options != NULL)
		b->options = *options;
	(void)snprintf(b->name, sizeof(b->name), "%s", name);
	(void)snprintf(b->from, sizeof(b->from), "%s", name);
	msd_job_waiter_init(&b->waiter, r,
			    "the deadline passed before the store was read");
	return b;
}

void msd_edition_again(struct msd_repository *repository, const char *name,
		       const char *from, bool is_previous,
		       const struct msd_load *options, struct msd_req *r)
{
	const enum kind kind = from != NULL ? AGAIN : BY_HAND;
	struct rollback *b;

	if (kind == BY_HAND)
		options = msd_source_pollers_options(repository->pollers, name);
	b = rollback_new(repository->registry, kind, name, options, r);
	if (b == NULL)
		return;
	b->ref = is_previous ? MSD_REF_PREVIOUS : MSD_REF_CURRENT;
	if (from != NULL)
		(void)snprintf(b->from, sizeof(b->from), "%s", from);
	msd_keeper_submit(repository->keeper, &b->job, work, done);
}

void msd_edition_said(struct msd_repository *repository, const char *name,
		      struct msd_preload *more, struct msd_req *r)
{
	struct rollback *b = rollback_new(repository->registry, AGAIN, name, NULL, r);

	if (b == NULL)
		return;
	b->ref = MSD_REF_CURRENT;
	b->more = *more;
	more->text = NULL;
	msd_keeper_submit(repository->keeper, &b->job, work, done);
}

void msd_edition_return(struct msd_repository *repository, const char *name,
			const char *why)
{
	const struct msd_load *options =
		msd_source_pollers_options(repository->pollers, name);
	struct rollback *b =
		rollback_new(repository->registry, RETURN, name, options, NULL);

	if (b == NULL) {
		msd_log(MSD_LOG_ERROR, "edition_return",
			"name=%s why=\"out of memory\"", name);
		return;
	}
	(void)snprintf(b->failure.why, sizeof(b->failure.why), "%s", why);
	msd_keeper_submit(repository->keeper, &b->job, work, done);
}
