#include "daemon/supervisor/repository/repository.h"

#include <stdio.h>

#include "daemon/log.h"
#include "daemon/supervisor/keep/keep.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/repository/kept_load.h"
#include "daemon/supervisor/repository/rollback.h"
#include "daemon/supervisor/repository/sleep_store.h"
#include "daemon/supervisor/repository/source_pollers.h"

/* Explain why a watched module failed its canary period. */
static void explain_watched(const struct msd_module *m, char *ret, size_t room)
{
	if (m->error != NULL) {
		(void)snprintf(ret, room, "%s", m->error);
	} else {
		(void)snprintf(ret, room,
			       "it failed: %u deaths, and %llu of %llu calls failed",
			       m->life.n_deaths, (unsigned long long)m->group.n_failed,
			       (unsigned long long)m->group.n_calls);
	}
}

static void say_failed(const struct msd_module *m)
{
	char digest[MSD_DIGEST_TEXT];

	msd_digest_format(msd_source_edition(&m->group.source), digest);
	msd_log(MSD_LOG_WARN, "edition_canary",
		"name=%s sha256=%s deaths=%u failed=%llu how=failed", m->group.name,
		digest, m->life.n_deaths, (unsigned long long)m->group.n_failed);
}

static void watched(struct msd_repository *r, struct msd_module *m,
		    enum msd_canary_verdict verdict)
{
	char why[MSD_RECORD_WHY];

	if (verdict == MSD_CANARY_PROVEN) {
		msd_keep_tried(r->keeper, m->group.name, MSD_KEEP_PROVEN, NULL, NULL);
	} else if (verdict == MSD_CANARY_FAILED) {
		say_failed(m);
		explain_watched(m, why, sizeof(why));
		msd_edition_return(r, m->group.name, why);
	} else if (r->registry->is_closing) {
		msd_keep_tried(r->keeper, m->group.name, MSD_KEEP_ENDED, NULL, NULL);
	}
}

static const struct msd_fetch_options *terms(struct msd_repository *r, const char *name)
{
	return msd_source_pollers_terms(r->pollers, name);
}

static void put_source(struct msd_repository *r, const char *name, struct msd_buf *ret)
{
	msd_source_pollers_put(r->pollers, name, ret);
}

const struct msd_repository_ops msd_repository_ops = {
	.write = msd_kept_load_begin,
	.tried = msd_kept_load_tried,
	.watched = watched,
	.find = msd_sleep_store_find,
	.load = msd_edition_again,
	.terms = terms,
	.put_source = put_source,
};
