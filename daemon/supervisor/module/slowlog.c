#include "daemon/supervisor/module/slowlog.h"

#include <stdlib.h>

#include "daemon/supervisor/module/tally.h"

void msd_slowlog_note(struct msd_slowlog *s, const struct msd_past_call *record,
		      struct msd_span params)
{
	if (s->ring == NULL)
		s->ring = calloc(MSD_SLOW_CALLS, sizeof(*s->ring));
	if (s->ring == NULL)
		return;
	struct msd_slow_call *at = &s->ring[s->total++ % MSD_SLOW_CALLS];
	msd_tally_unref(at->record.tally);
	at->record = *record;
	(void)msd_tally_ref(record->tally);
	(void)msd_shapes_text(params, at->arguments);
}

void msd_slowlog_finish(struct msd_slowlog *s)
{
	for (unsigned i = 0; s->ring != NULL && i < MSD_SLOW_CALLS; i++)
		msd_tally_unref(s->ring[i].record.tally);
	free(s->ring);
	s->ring = NULL;
}
