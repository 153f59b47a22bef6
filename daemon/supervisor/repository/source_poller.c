/*
 * Happy path of a poll: the keeper's thread looks up the editions in the store.
 * modserd-fetch asks the source, which does not send these again. A new edition is
 * loaded as a candidate and replaces the module when it is READY. Failures: the old
 * module continues to serve, and the source is asked again after a back-off. An
 * edition that was found bad is not loaded again. Unloading the module by hand stops
 * polling until the next reload.
 */
#include "daemon/supervisor/repository/source_poller.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/supervisor/edge/uploads/upload.h"
#include "daemon/supervisor/fetch/fetch_options.h"
#include "daemon/supervisor/keep/attachment.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/life/module_source.h"
#include "daemon/supervisor/repository/rollback.h"
#include "proto/base/chance.h"

#define FIRST_SHARE 10u /* the first poll waits at most 1/10 of the interval */

static uint64_t part_of(uint64_t ms, uint32_t chance)
{
	return (uint64_t)((double)ms * chance / UINT32_MAX);
}

uint64_t msd_source_poller_delay(const struct msd_source_poller_backoff *pace,
				 uint32_t n_failures, uint32_t chance)
{
	uint64_t most = pace->retry_ms;

	if (n_failures == 0) {
		return pace->poll_ms == 0
			       ? MSD_SOURCE_POLLER_NEVER
			       : pace->poll_ms / 2 + part_of(pace->poll_ms, chance);
	}
	for (uint32_t i = 0; i < n_failures && most < MSD_SOURCE_POLLER_MOST_MS; i++)
		most *= 2;
	return part_of(most < MSD_SOURCE_POLLER_MOST_MS ? most
							: MSD_SOURCE_POLLER_MOST_MS,
		       chance);
}

uint64_t msd_source_poller_first_delay(const struct msd_source_poller_backoff *pace,
				       uint32_t chance)
{
	return part_of(pace->poll_ms / FIRST_SHARE, chance);
}

struct msd_module *msd_source_poller_module(const struct msd_source_poller *s)
{
	const struct msd_span name = msd_span_of(s->name);
	struct msd_module *m;

	return msd_module_require(s->registry, name, &m, NULL) == MSD_OK ? m : NULL;
}

static void supply_free(struct msd_source_poller *s)
{
	free(s->uri);
	free(s->why);
	msd_fetch_options_finish(&s->terms);
	free(s);
}

static void ask(struct msd_source_poller *s);

static void on_rested(struct msd_deadline *node)
{
	ask(MSD_CONTAINER_OF(node, struct msd_source_poller, timer));
}

static void rest_for(struct msd_source_poller *s, uint64_t ms)
{
	s->state = MSD_SOURCE_POLLER_RESTING;
	if (ms == MSD_SOURCE_POLLER_NEVER || s->registry->is_closing)
		return;
	s->timer.on_due = on_rested;
	msd_deadline_set(s->registry->deadlines, &s->timer, ms);
}

static void rest(struct msd_source_poller *s)
{
	rest_for(s, msd_source_poller_delay(&s->pace, s->n_failures, msd_chance()));
}

static bool is_awaited(const struct msd_module *m)
{
	return m != NULL && m->load_state == MSD_LOAD_FETCHING;
}

/* If the module has no other state, this is the reason why it is not loaded. */
static void set_why(struct msd_source_poller *s, msd_err err, const char *why)
{
	struct msd_module *m = msd_source_poller_module(s);

	free(s->why);
	s->why = why != NULL ? strdup(why) : NULL;
	if (is_awaited(m))
		msd_module_set_error(m, err, why);
}

static void succeed(struct msd_source_poller *s)
{
	s->n_failures = 0;
	s->has_changed = false;
	set_why(s, MSD_OK, NULL);
	rest(s);
}

static void fail(struct msd_source_poller *s, struct msd_diag *d)
{
	s->n_failures++;
	(void)msd_diag_wrap(d, d->code, "module %s: its source", s->name);
	set_why(s, d->code, msd_diag_text(d));
	rest(s);
	msd_log(MSD_LOG_WARN, "source_poll",
		"name=%s failures=%u again_ms=%llu why=\"%s\"", s->name, s->n_failures,
		(unsigned long long)msd_deadline_left(s->registry->deadlines,
						      &s->timer),
		msd_diag_text(d));
}

/* The source offers an edition that was found bad here: that is not an error of the
 * source. */
static void pass_over(struct msd_source_poller *s, const struct msd_digest *digest)
{
	char digits[MSD_DIGEST_TEXT], text[256];

	msd_digest_format(digest, digits);
	(void)snprintf(text, sizeof(text),
		       "module %s: its source has %s, which failed here before; load "
		       "it by hand to try again",
		       s->name, digits);
	if (s->why == NULL || strcmp(s->why, text) != 0) {
		msd_log(MSD_LOG_WARN, "source_poll", "name=%s why=\"%s\"", s->name,
			text);
	}
	s->n_failures = 0;
	set_why(s, MSD_MODULE_FAILED, text);
	rest(s);
}

/* Its bytes are in the store. */
static void on_had(struct msd_source_poller *s, const struct msd_digest *digest)
{
	const bool is_previous =
		msd_store_index_is_edition(&s->stock, MSD_REF_PREVIOUS, digest) &&
		!msd_store_index_is_edition(&s->stock, MSD_REF_CURRENT, digest);

	if (msd_store_index_is_bad(&s->stock, digest)) {
		pass_over(s, digest);
		return;
	}
	if (!msd_store_index_is_edition(&s->stock, MSD_REF_CANDIDATE, digest) &&
	    (is_previous || s->has_changed)) {
		msd_edition_again(s->registry->repository, s->name, s->name,
				  is_previous, &s->load, NULL);
	}
	succeed(s);
}

/* Takes @source. */
static msd_err load(struct msd_source_poller *s, struct msd_source *source,
		    struct msd_span file, struct msd_diag *d)
{
	const struct msd_span name = msd_span_of(s->name);
	char *label = strndup((const char *)file.p, file.n);
	struct msd_module *m = msd_source_poller_module(s);
	struct msd_load how = s->load;

	msd_err err = label != NULL ? msd_manifest_tests_read(&s->fetch, &how, d)
				    : msd_diag_no_memory(d);
	if (err == MSD_OK && is_awaited(m))
		err = msd_module_prove(m, &how, d);
	if (err != MSD_OK) {
		msd_source_finish(source);
		free(label);
		return err;
	}
	if (is_awaited(m)) {
		msd_module_give(m, source, label); /* which takes the label */
		return MSD_OK;
	}
	how.file = label;
	how.source = *source;
	how.replace = true;
	how.begins = MSD_LOAD_READING_KEPT;
	err = msd_module_load(s->registry, name, &how, &m, d);
	free(label);
	return err;
}

static void on_fetched(struct msd_fetch *f, struct msd_source *source,
		       struct msd_span file, struct msd_diag *d)
{
	struct msd_source_poller *s =
		MSD_CONTAINER_OF(f, struct msd_source_poller, fetch);
	char digest[MSD_DIGEST_TEXT];

	if (d->code == MSD_OK && source->fd < 0) {
		on_had(s, &source->sha256);
		return;
	}
	if (d->code == MSD_OK) {
		msd_digest_format(msd_source_edition(source), digest);
		msd_log(MSD_LOG_INFO, "source_poll", "name=%s bytes=%llu sha256=%s",
			s->name, (unsigned long long)source->bytes, digest);
		(void)!load(s, source, file, d);
	}
	if (d->code == MSD_OK) {
		succeed(s);
	} else {
		fail(s, d);
	}
}

static void on_progress(struct msd_fetch *f, uint64_t bytes, uint64_t total)
{
	(void)f; /* no client waits for progress */
	(void)bytes;
	(void)total;
}

static enum msd_ref find_promised(const struct msd_source_poller *s)
{
	struct msd_digest name;

	return msd_uri_digest_read(s->uri, &name)
		       ? msd_store_index_find_name(&s->stock, &name)
		       : MSD_REF_COUNT;
}

static void forget_texts(struct msd_source_poller *s)
{
	msd_buf_finish(&s->manifest);
	msd_buf_finish(&s->signature);
}

static void look_up(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct msd_source_poller *s =
		MSD_CONTAINER_OF(job, struct msd_source_poller, job);
	struct msd_record r;

	s->stock = (struct msd_store_index){0};
	/* If the store cannot keep the edition, each poll would transfer it again. */
	job->err = msd_store_check_disk(&keeper->store, &job->d);
	if (job->err != MSD_OK)
		return;
	job->err = msd_record_load(&keeper->store, s->name, &r, &job->d);
	if (job->err == MSD_OK) {
		msd_store_index_set(&s->stock, &r);
		const enum msd_ref ref = find_promised(s);
		if (ref != MSD_REF_COUNT) { /* otherwise the source provides them */
			(void)msd_attachment_read_signature(
				&keeper->store, r.editions[ref], &s->manifest,
				&s->signature);
		}
		msd_record_finish(&r);
	} else if (job->err == MSD_NOT_FOUND) {
		msd_diag_finish(&job->d);
		job->d = (struct msd_diag){0};
		job->err = MSD_OK;
	}
}

/* An edition that is in the record but does not serve is transferred again. */
static void forget_unserved(struct msd_source_poller *s, const struct msd_module *m)
{
	if (!is_awaited(m) && m->life.state != MSD_STATE_FAILED)
		return;
	msd_store_index_forget_editions(&s->stock);
	if (!msd_store_index_is_bad(&s->stock, &s->fetch.etag_digest))
		s->fetch.etag[0] = '\0';
}

/* The store has one candidate per module at a time. */
static bool is_being_tried(const struct msd_module *m)
{
	return m->successor != NULL || m->load_state == MSD_LOAD_READING_KEPT ||
	       m->load_state == MSD_LOAD_WRITING || m->load_state == MSD_LOAD_TRYING;
}

static msd_err fetch(struct msd_source_poller *s, struct msd_diag *d)
{
	s->fetch.uri = s->uri;
	s->fetch.name = s->name;
	s->fetch.terms = &s->terms;
	s->fetch.have = s->stock.have;
	s->fetch.n_have = s->stock.n_have;
	s->fetch.manifest = (struct msd_span){s->manifest.p, s->manifest.n};
	s->fetch.signature = (struct msd_span){s->signature.p, s->signature.n};
	s->fetch.on_done = on_fetched;
	s->fetch.on_progress = on_progress;
	const msd_err err = msd_fetcher_begin(s->fetcher, &s->fetch, d);

	s->state = err == MSD_OK ? MSD_SOURCE_POLLER_FETCHING : s->state;
	return err;
}

/* The store has the edition that the URI pins by digest, and no signature is
 * required. */
static bool has_promised(const struct msd_source_poller *s, struct msd_digest *ret)
{
	const enum msd_ref ref = find_promised(s);

	if (ref == MSD_REF_COUNT || msd_fetcher_wants_signature(s->fetcher, &s->fetch))
		return false;
	*ret = s->stock.editions[ref];
	return true;
}

static void on_looked_up(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct msd_source_poller *s =
		MSD_CONTAINER_OF(job, struct msd_source_poller, job);
	const struct msd_module *m = msd_source_poller_module(s);
	struct msd_digest promised;

	(void)keeper;
	if (s->is_dropped) {
		msd_diag_finish(&job->d);
		forget_texts(s);
		supply_free(s);
		return;
	}
	if (m == NULL) {
		s->state = MSD_SOURCE_POLLER_OVER;
	} else if (job->err == MSD_OK && is_being_tried(m)) {
		job->err = msd_diag_set(&job->d, MSD_BUSY,
					"another edition is being loaded");
	} else if (job->err == MSD_OK) {
		forget_unserved(s, m);
		s->fetch.terms = &s->terms;
		if (has_promised(s, &promised)) {
			on_had(s, &promised);
		} else {
			job->err = fetch(s, &job->d);
		}
	}
	forget_texts(s);
	if (m != NULL && job->err != MSD_OK)
		fail(s, &job->d);
	msd_diag_finish(&job->d);
}

static void ask(struct msd_source_poller *s)
{
	if (msd_source_poller_module(s) == NULL || s->registry->is_closing) {
		s->state = MSD_SOURCE_POLLER_OVER;
		return;
	}
	s->state = MSD_SOURCE_POLLER_LOOKING;
	msd_keeper_submit(s->keeper, &s->job, look_up, on_looked_up);
}

void msd_source_poller_begin(struct msd_source_poller *s, bool at_once)
{
	rest_for(s,
		 at_once ? 0 : msd_source_poller_first_delay(&s->pace, msd_chance()));
}

void msd_source_poller_drop(struct msd_source_poller *s)
{
	msd_list_remove(&s->link);
	msd_deadline_clear(s->registry->deadlines, &s->timer);
	if (s->state == MSD_SOURCE_POLLER_FETCHING)
		msd_fetcher_cancel(s->fetcher, &s->fetch);
	s->is_dropped = true;
	if (s->state != MSD_SOURCE_POLLER_LOOKING)
		supply_free(s);
}
