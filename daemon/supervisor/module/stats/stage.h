#ifndef MSD_SUPERVISOR_STAGE_H
#define MSD_SUPERVISOR_STAGE_H
/* Stages of a call, one after the other, for measuring its time. */
#include "daemon/supervisor/module/stats/histogram.h"

enum msd_stage {
	MSD_STAGE_READ,   /* from its body until all its bytes have arrived */
	MSD_STAGE_QUEUE,  /* until it is sent to a worker */
	MSD_STAGE_WORKER, /* until the worker has answered, without the run */
	MSD_STAGE_RUN,    /* in the function, reported by the worker */
	MSD_STAGE_COUNT
};

/* Times of one stage, of all calls. */
struct msd_times {
	struct msd_histogram device_list;
	uint64_t sum_ns;
};

/* Note @n calls that took @ns each. */
static inline void msd_times_note_each(struct msd_times *t, uint64_t ns, uint32_t n)
{
	t->sum_ns += n * ns;
	msd_histogram_note_each(&t->device_list, ns, n);
}

static inline void msd_times_note(struct msd_times *t, uint64_t ns)
{
	msd_times_note_each(t, ns, 1);
}

#define MSD_STAGE_REPLY_NAME "reply" /* the last stage, in the call statistics */

/** Return the name of @stage, such as "queue". Static. */
const char *msd_stage_name(enum msd_stage stage);

#endif
