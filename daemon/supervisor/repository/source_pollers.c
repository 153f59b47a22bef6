#include "daemon/supervisor/repository/source_pollers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/config/preload.h"
#include "daemon/supervisor/keep/keep.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/repository/source_poller.h"
#include "proto/value.h"

/*
 * Happy path: a section creates a source poller. Its module is LOADING until the
 * source delivers, unless an edition of the store already serves. Failures: the
 * module is FAILED without a store, or if the name is taken.
 */

static struct msd_source_poller *of_link(struct msd_list *it)
{
	return MSD_CONTAINER_OF(it, struct msd_source_poller, link);
}

static struct msd_source_poller *find(const struct msd_source_pollers *all,
				      const char *name)
{
	MSD_LIST_EACH (it, &all->all) {
		if (strcmp(of_link(it)->name, name) == 0)
			return of_link(it);
	}
	return NULL;
}

void msd_source_pollers_init(struct msd_source_pollers *all)
{
	msd_list_init(&all->all);
}

void msd_source_pollers_finish(struct msd_source_pollers *all)
{
	MSD_LIST_EACH_SAFE (it, &all->all) {
		msd_source_poller_drop(of_link(it));
	}
}

/* Reserve the name, so that clients can wait for the module. */
static msd_err await(struct msd_source_poller *s, struct msd_diag *d)
{
	const struct msd_span name = msd_span_of(s->name);
	/* The query part of the URI may contain secrets of its owner. */
	char *shown = strndup(s->uri, strcspn(s->uri, "?"));
	struct msd_load how = s->load;
	struct msd_module *m;

	if (shown == NULL)
		return msd_diag_no_memory(d);
	how.file = shown;
	how.begins = MSD_LOAD_FETCHING;
	const msd_err err = msd_module_load(s->registry, name, &how, &m, d);
	free(shown);
	return err;
}

static struct msd_source_poller *supply_new(struct msd_source_pollers *all,
					    const struct msd_preload *p)
{
	struct msd_source_poller *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->registry = all->registry;
	s->keeper = all->keeper;
	s->fetcher = all->fetcher;
	s->uri = strdup(p->source);
	s->pace = (struct msd_source_poller_backoff){
		.poll_ms = p->poll_ms,
		.retry_ms = all->registry->limits->fetch_retry_ms};
	(void)snprintf(s->name, sizeof(s->name), "%s", p->name);
	msd_preload_options(p, &s->load);
	msd_list_init(&s->link);
	if (s->uri == NULL ||
	    msd_fetch_options_copy(&p->terms, &s->terms, NULL) != MSD_OK) {
		msd_source_poller_drop(s);
		return NULL;
	}
	return s;
}

static msd_err start(struct msd_source_pollers *all, const struct msd_preload *p,
		     bool has_changed, struct msd_diag *d)
{
	struct msd_source_poller *old = find(all, p->name);
	msd_err err;

	if (old != NULL)
		msd_source_poller_drop(old);
	if (!all->keeper->is_open) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"a source needs a store: start the daemon with --store DIR");
	}
	struct msd_source_poller *s = supply_new(all, p);
	if (s == NULL)
		return msd_diag_no_memory(d);
	struct msd_module *m = msd_source_poller_module(s);
	if (m != NULL &&
	    m->load_state == MSD_LOAD_FETCHING) { /* created by an earlier section */
		msd_module_unload(m);
		m = NULL;
	}
	err = m != NULL ? MSD_OK : await(s, d);
	if (err != MSD_OK) {
		msd_source_poller_drop(s);
		return err;
	}
	s->has_changed = m != NULL && has_changed;
	msd_list_append(&all->all, &s->link);
	msd_source_poller_begin(s, m == NULL || has_changed);
	return MSD_OK;
}

void msd_source_pollers_start(struct msd_source_pollers *all,
			      const struct msd_preload *p, bool has_changed)
{
	const struct msd_span name = msd_span_of(p->name);
	struct msd_diag d = {0};

	if (start(all, p, has_changed, &d) != MSD_OK) {
		(void)msd_diag_wrap(&d, d.code, "module %s", p->name);
		msd_log(MSD_LOG_ERROR, "source_poll", "name=%s why=\"%s\"", p->name,
			msd_diag_text(&d));
		(void)!msd_module_add_failed(all->registry, name, p->source, &d);
	}
	msd_diag_finish(&d);
}

void msd_source_pollers_stop(struct msd_source_pollers *all, const char *name)
{
	struct msd_source_poller *s = find(all, name);

	if (s == NULL)
		return;
	msd_source_poller_drop(s);
	msd_keep_tried(all->keeper, name, MSD_KEEP_FORGOTTEN, NULL, NULL);
}

bool msd_source_pollers_has_changed(const struct msd_source_pollers *all,
				    const char *name)
{
	const struct msd_source_poller *s = find(all, name);

	return s != NULL && s->has_changed;
}

const struct msd_load *msd_source_pollers_options(const struct msd_source_pollers *all,
						  const char *name)
{
	const struct msd_source_poller *s = find(all, name);

	return s != NULL ? &s->load : NULL;
}

const struct msd_fetch_options *
msd_source_pollers_terms(const struct msd_source_pollers *all, const char *name)
{
	const struct msd_source_poller *s = find(all, name);

	return s != NULL ? &s->terms : NULL;
}

void msd_source_pollers_put(const struct msd_source_pollers *all, const char *name,
			    struct msd_buf *ret)
{
	static const char *const words[] = {[MSD_SOURCE_POLLER_RESTING] = "resting",
					    [MSD_SOURCE_POLLER_LOOKING] = "asking",
					    [MSD_SOURCE_POLLER_FETCHING] = "asking",
					    [MSD_SOURCE_POLLER_OVER] = "over"};
	const struct msd_source_poller *s = find(all, name);

	if (s == NULL) {
		msd_pack_nil(ret);
		return;
	}
	msd_pack_map(ret, 5);
	msd_pack_cstr(ret, "uri");
	/* The query part of the URI may contain secrets of its owner. */
	msd_pack_text(ret, s->uri, strcspn(s->uri, "?"));
	msd_pack_cstr(ret, "state");
	msd_pack_cstr(ret, words[s->state]);
	msd_pack_cstr(ret, "failures");
	msd_pack_uint(ret, s->n_failures);
	msd_pack_cstr(ret, "again_ms");
	if (msd_deadline_is_set(&s->timer)) {
		msd_pack_uint(ret,
			      msd_deadline_left(all->registry->deadlines, &s->timer));
	} else {
		msd_pack_nil(ret);
	}
	msd_pack_cstr(ret, "error");
	if (s->why != NULL) {
		msd_pack_cstr(ret, s->why);
	} else {
		msd_pack_nil(ret);
	}
}
