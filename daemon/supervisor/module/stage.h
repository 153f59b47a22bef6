#ifndef MSD_SUPERVISOR_STAGE_H
#define MSD_SUPERVISOR_STAGE_H
/* Where the time of a call goes, one stage after the other. */
#include "daemon/supervisor/module/histogram.h"

enum msd_stage {
	MSD_STAGE_READ,   /* from its body on, until all its bytes are there */
	MSD_STAGE_QUEUE,  /* until it is sent to a worker */
	MSD_STAGE_WORKER, /* until that has answered, without the run */
	MSD_STAGE_RUN,    /* in the function, as the worker tells */
	MSD_STAGE_COUNT
};

/* How long one stage took, of all calls. */
struct msd_times {
	struct msd_histogram spread;
	uint64_t sum_ns;
};

/* @n calls took @ns each. */
static inline void msd_times_note_each(struct msd_times *t, uint64_t ns, uint32_t n)
{
	t->sum_ns += n * ns;
	msd_histogram_note_each(&t->spread, ns, n);
}

static inline void msd_times_note(struct msd_times *t, uint64_t ns)
{
	msd_times_note_each(t, ns, 1);
}

#define MSD_STAGE_REPLY_NAME "reply" /* behind them, of the tally */

/** What @stage is called: "queue". Static. */
const char *msd_stage_name(enum msd_stage stage);

#endif
