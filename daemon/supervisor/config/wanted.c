/*
 * Happy path: a change creates an entry. A check starts the load if its module is
 * ready for one, and removes the entry. Failures: if the module is being unloaded or
 * replaced, or there are too many modules and some are about to be removed, the entry
 * waits. It is checked again when a module is removed or replaced. If a section
 * cannot be loaded, the old module continues to serve, or the module is FAILED, with
 * the cause.
 */
#include "daemon/supervisor/config/wanted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/config/options.h"
#include "daemon/supervisor/config/preload.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/repository/source_pollers.h"
#include "proto/limits.h"

struct entry {
	struct msd_list link; /* msd_wanted.waiting */
	char name[MSD_MAX_NAME_BYTES + 1];
};

static struct entry *of_link(struct msd_list *it)
{
	return MSD_CONTAINER_OF(it, struct entry, link);
}

static struct entry *find(const struct msd_wanted *w, const char *name)
{
	MSD_LIST_EACH (it, &w->waiting) {
		if (strcmp(of_link(it)->name, name) == 0)
			return of_link(it);
	}
	return NULL;
}

static struct msd_module *module_of(const struct msd_wanted *w, const char *name)
{
	struct msd_module *m;

	return msd_module_require(w->registry, msd_span_of(name), &m, NULL) == MSD_OK
		       ? m
		       : NULL;
}

static const struct msd_preload *section_of(const struct msd_wanted *w,
					    const char *name)
{
	return w->options != NULL ? msd_options_preload(w->options, name) : NULL;
}

/* True if a module, listed or not, is being removed: that makes room for another. */
static bool is_room_coming(const struct msd_module_registry *registry)
{
	uint32_t n = 0;

	MSD_LIST_EACH (it, &registry->modules) {
		const struct msd_module *m =
			MSD_CONTAINER_OF(it, struct msd_module, link);
		if (m->life.state == MSD_STATE_DRAINING)
			return true;
		n++;
	}
	return n < registry->n_modules; /* successors, and replaced modules */
}

/* One more module is too many now, but there will be room. */
static bool lacks_room(const struct msd_wanted *w, const struct msd_preload *p)
{
	const struct msd_load one = {.run.workers = 1};
	struct msd_diag d = {0};
	const msd_err err =
		msd_module_check_room(w->registry, msd_span_of(p->name), &one, &d);

	msd_diag_finish(&d);
	return err == MSD_BUSY && is_room_coming(w->registry);
}

static bool may_begin(const struct msd_wanted *w, const struct msd_preload *p,
		      const struct msd_module *m)
{
	if (m == NULL)
		return !lacks_room(w, p);
	return m->life.state != MSD_STATE_DRAINING && m->successor == NULL;
}

/* Record a load that was rejected at once; the module that serves has no other trace
 * of it. */
static void note_refused(const struct msd_wanted *w, const struct msd_preload *p,
			 const struct msd_diag *d)
{
	struct msd_module *m = module_of(w, p->name);

	if (m == NULL || m->life.state == MSD_STATE_FAILED)
		return;
	msd_failed_edition_note(&m->failed_edition, NULL, msd_diag_text(d));
	m->failed_edition.section = msd_preload_section(p);
}

static void begin(const struct msd_wanted *w, const struct msd_preload *p,
		  const struct msd_module *m)
{
	struct msd_diag d = {0};

	if (p->source != NULL) {
		msd_source_pollers_start(w->source_pollers, p, true);
	} else if (msd_preload_start(w->registry, p, m != NULL, &d) != MSD_OK) {
		note_refused(w, p, &d);
	}
	msd_diag_finish(&d);
}

/* Returns true if @e no longer waits. */
static bool settle(const struct msd_wanted *w, const struct entry *e)
{
	const struct msd_preload *p = section_of(w, e->name);
	struct msd_module *m = module_of(w, e->name);

	if (p == NULL) {
		if (m != NULL)
			msd_module_unload(m);
		return true;
	}
	if (!may_begin(w, p, m))
		return false;
	begin(w, p, m);
	return true;
}

void msd_wanted_look(struct msd_wanted *w)
{
	/* Removals first: they may make room for another module. */
	for (int goes = 1; goes >= 0 && !w->registry->is_closing; goes--) {
		struct msd_list seen;

		msd_list_init(&seen);
		msd_list_append_all(&seen, &w->waiting);
		while (!msd_list_is_empty(&seen)) {
			struct entry *e = of_link(msd_list_first(&seen));

			msd_list_remove(&e->link);
			if ((section_of(w, e->name) == NULL) == (goes == 1) &&
			    settle(w, e)) {
				free(e);
			} else {
				msd_list_append(&w->waiting, &e->link);
			}
		}
	}
}

static enum msd_task_result look(struct msd_task *t)
{
	msd_wanted_look(MSD_CONTAINER_OF(t, struct msd_wanted, later));
	return MSD_TASK_DONE;
}

void msd_wanted_look_later(struct msd_wanted *w)
{
	if (!msd_list_is_empty(&w->waiting))
		msd_task_begin(w->registry->deadlines->tasks, &w->later);
}

void msd_wanted_init(struct msd_wanted *w)
{
	msd_list_init(&w->waiting);
	w->later = (struct msd_task){.step = look, .class = MSD_TASK_DUE};
}

void msd_wanted_finish(struct msd_wanted *w)
{
	msd_task_cancel(&w->later);
	MSD_LIST_EACH_SAFE (it, &w->waiting) {
		msd_list_remove(it);
		free(of_link(it));
	}
}

msd_err msd_wanted_change(struct msd_wanted *w, const char *name, struct msd_diag *d)
{
	if (find(w, name) != NULL)
		return MSD_OK;
	struct entry *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return msd_diag_no_memory(d);
	(void)snprintf(e->name, sizeof(e->name), "%s", name);
	msd_list_append(&w->waiting, &e->link);
	return MSD_OK;
}

bool msd_wanted_waits(const struct msd_wanted *w, const char *name)
{
	return find(w, name) != NULL;
}

bool msd_wanted_has_failed(const struct msd_wanted *w, const char *name)
{
	const struct msd_preload *p = section_of(w, name);
	const struct msd_module *m = module_of(w, name);

	if (p == NULL || m == NULL || msd_wanted_waits(w, name))
		return false;
	const uint64_t section = msd_preload_section(p);
	if (m->section == section)
		return m->life.state == MSD_STATE_FAILED;
	return m->successor == NULL && m->failed_edition.section == section;
}

const char *msd_wanted_word(const struct msd_wanted *w, const struct msd_module *m)
{
	const char *name = m->group.name;
	const struct msd_preload *p = section_of(w, name);

	if (msd_wanted_waits(w, name))
		return "waits";
	if (p == NULL || m->section == msd_preload_section(p))
		return NULL;
	if (m->successor != NULL && m->successor->section == msd_preload_section(p))
		return "loading";
	if (p->source != NULL &&
	    msd_source_pollers_has_changed(w->source_pollers, name))
		return "waits";
	return msd_wanted_has_failed(w, name) ? "failed" : "differs";
}
