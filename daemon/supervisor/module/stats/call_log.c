#include "daemon/supervisor/module/stats/call_log.h"

#include <stdlib.h>

#include "daemon/supervisor/module/stats/call_stats.h"

void msd_call_log_init(struct msd_call_log *rec)
{
	*rec = (struct msd_call_log){
		.ring = calloc(MSD_LOGGED_CALLS, sizeof(*rec->ring))};
	msd_waiters_init(&rec->followers, NULL, NULL);
}

void msd_call_log_finish(struct msd_call_log *rec)
{
	for (unsigned i = 0; rec->ring != NULL && i < MSD_LOGGED_CALLS; i++)
		msd_call_stats_unref(rec->ring[i].call_stats);
	free(rec->ring);
	rec->ring = NULL;
}

struct msd_logged_call *msd_call_log_next(struct msd_call_log *rec,
					  struct msd_deadlines *ds,
					  struct msd_call_stats *call_stats)
{
	struct msd_logged_call *at;

	if (rec->ring == NULL)
		return NULL;
	at = &rec->ring[rec->total++ % MSD_LOGGED_CALLS];
	if (at->call_stats != call_stats) { /* calls repeat */
		msd_call_stats_unref(at->call_stats);
		at->call_stats = msd_call_stats_ref(call_stats);
	}
	if (!msd_list_is_empty(&rec->followers.waiting) &&
	    !msd_deadline_is_set(&rec->batch))
		msd_deadline_set(ds, &rec->batch, MSD_CALL_LOG_BATCH_MS);
	return at;
}

const char *msd_logged_function(const struct msd_logged_call *record)
{
	const char *name = record->call_stats->rows[record->row].name;

	return name != NULL ? name : MSD_CALL_STATS_OTHER_NAME;
}

uint64_t msd_logged_total_ns(const struct msd_logged_call *record)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < MSD_STAGE_COUNT; i++)
		ns += record->spent_ns[i];
	return ns;
}

void msd_slowlog_note(struct msd_slowlog *s, const struct msd_logged_call *record,
		      struct msd_span params)
{
	if (s->ring == NULL)
		s->ring = calloc(MSD_SLOW_CALLS, sizeof(*s->ring));
	if (s->ring == NULL)
		return;
	struct msd_slow_call *at = &s->ring[s->total++ % MSD_SLOW_CALLS];
	msd_call_stats_unref(at->record.call_stats);
	at->record = *record;
	(void)msd_call_stats_ref(record->call_stats);
	(void)msd_call_shapes_text(params, at->arguments);
}

void msd_slowlog_finish(struct msd_slowlog *s)
{
	for (unsigned i = 0; s->ring != NULL && i < MSD_SLOW_CALLS; i++)
		msd_call_stats_unref(s->ring[i].record.call_stats);
	free(s->ring);
	s->ring = NULL;
}
