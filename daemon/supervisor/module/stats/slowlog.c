#include "daemon/supervisor/module/stats/slowlog.h"

#include <stdlib.h>

#include "daemon/supervisor/module/stats/call_stats.h"

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
