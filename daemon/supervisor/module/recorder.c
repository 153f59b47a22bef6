#include "daemon/supervisor/module/recorder.h"

#include <stdlib.h>

#include "daemon/supervisor/module/tally.h"

void msd_recorder_init(struct msd_recorder *rec)
{
	*rec = (struct msd_recorder){
		.ring = calloc(MSD_PAST_CALLS, sizeof(*rec->ring))};
	msd_followers_init(&rec->followers, NULL, NULL);
}

void msd_recorder_finish(struct msd_recorder *rec)
{
	for (unsigned i = 0; rec->ring != NULL && i < MSD_PAST_CALLS; i++)
		msd_tally_unref(rec->ring[i].tally);
	free(rec->ring);
	rec->ring = NULL;
}

struct msd_past_call *msd_recorder_next(struct msd_recorder *rec,
					struct msd_deadlines *ds,
					struct msd_tally *tally)
{
	struct msd_past_call *at;

	if (rec->ring == NULL)
		return NULL;
	at = &rec->ring[rec->total++ % MSD_PAST_CALLS];
	if (at->tally != tally) { /* calls repeat */
		msd_tally_unref(at->tally);
		at->tally = msd_tally_ref(tally);
	}
	if (!msd_list_is_empty(&rec->followers.waiting) &&
	    !msd_deadline_is_set(&rec->batch))
		msd_deadline_set(ds, &rec->batch, MSD_RECORDER_BATCH_MS);
	return at;
}

const char *msd_past_function(const struct msd_past_call *record)
{
	const char *name = record->tally->rows[record->row].name;

	return name != NULL ? name : MSD_TALLY_OTHER_NAME;
}

uint64_t msd_past_total_ns(const struct msd_past_call *record)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < MSD_STAGE_COUNT; i++)
		ns += record->spent_ns[i];
	return ns;
}
