/*
 * Happy path: the keeper's thread reads and hashes the module's editions until one
 * has the bytes that the module was loaded from. Then the module may drop its own
 * bytes, or gets them back. Even the first check reads them: a module drops only
 * bytes that can be restored. Failures: there is no such edition, or it is damaged by
 * now. The module may be gone when the result is known.
 */
#include "daemon/supervisor/repository/sleep_store.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/limits.h"
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/module_source.h"
#include "daemon/supervisor/repository/edition.h"
#include "proto/limits.h"
#include "store/record.h"

struct sleep_source {
	struct msd_keeper_job job;
	struct msd_module_registry *registry;
	uint64_t serial; /* of the module */
	bool is_wanted;  /* true: restore the bytes; false: only check */
	char name[MSD_MAX_NAME_BYTES + 1];
	struct msd_digest sha256;
	uint64_t max_bytes;
	struct msd_source source; /* the edition found; fd -1: not found */
};

static msd_err read_edition(struct sleep_source *s, const struct msd_store *store,
			    const struct msd_edition *e, struct msd_diag *d)
{
	msd_err err = msd_edition_read(store, e, s->max_bytes, &s->source, d);

	if (err == MSD_OK && !msd_digest_equal(&s->source.sha256, &s->sha256)) {
		msd_source_finish(&s->source);
		err = msd_diag_set(d, MSD_NOT_FOUND, "other bytes");
	}
	return err;
}

/* Report the first failure: it belongs to the edition that is served. */
static msd_err find(struct sleep_source *s, const struct msd_store *store,
		    const struct msd_record *r, struct msd_diag *d)
{
	struct msd_diag more = {0};
	bool is_found = false;

	for (unsigned ref = 0; !is_found && ref < MSD_REF_COUNT; ref++) {
		struct msd_diag *to = d->code == MSD_OK ? d : &more;

		if (r->editions[ref] == NULL)
			continue;
		is_found = read_edition(s, store, r->editions[ref], to) == MSD_OK;
		msd_diag_finish(&more);
	}
	if (is_found) {
		msd_diag_finish(d);
	} else if (d->code == MSD_OK) {
		(void)msd_diag_set(d, MSD_NOT_FOUND, "it has no edition");
	}
	return d->code;
}

static void work(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct sleep_source *s = MSD_CONTAINER_OF(job, struct sleep_source, job);
	struct msd_record r = {0};

	job->err = msd_record_load(&keeper->store, s->name, &r, &job->d);
	if (job->err == MSD_OK)
		job->err = find(s, &keeper->store, &r, &job->d);
	if (job->err != MSD_OK) {
		job->err = msd_diag_wrap(
			&job->d, MSD_BAD_ARTIFACT,
			"module %s cannot be loaded again from the store", s->name);
	}
	msd_record_finish(&r);
}

static void done(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct sleep_source *s = MSD_CONTAINER_OF(job, struct sleep_source, job);
	struct msd_module *m = msd_module_by_serial(s->registry, s->serial);
	const bool is_found = job->err == MSD_OK;

	(void)keeper;
	if (m != NULL && s->is_wanted) {
		msd_module_brought(m, is_found ? &s->source : NULL, &job->d);
		s->source.fd = -1; /* the module has taken it */
	} else if (m != NULL) {
		msd_module_looked(m, is_found);
	}
	if (s->source.fd >= 0)
		msd_source_finish(&s->source);
	msd_diag_finish(&job->d);
	free(s);
}

bool msd_sleep_store_find(struct msd_repository *r, struct msd_module *m,
			  bool is_wanted)
{
	struct sleep_source *s = r->keeper->is_open ? calloc(1, sizeof(*s)) : NULL;

	if (s == NULL)
		return false;
	s->registry = r->registry;
	s->serial = m->serial;
	s->is_wanted = is_wanted;
	(void)snprintf(s->name, sizeof(s->name), "%s", m->group.name);
	s->sha256 = m->group.source.sha256;
	s->max_bytes = r->registry->limits->max_upload;
	s->source.fd = -1;
	msd_keeper_submit(r->keeper, &s->job, work, done);
	return true;
}
