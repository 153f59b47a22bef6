#ifndef MSD_CLI_STAGES_H
#define MSD_CLI_STAGES_H
/* Where the daemon's time of traced calls went, in the mean. */
#include "client/modser.h"

#define MSD_STAGES 7u

struct msd_stages {
	uint64_t sum_ns[MSD_STAGES];
	uint64_t n; /* calls */
};

/** What a stage's mean is called in results: "queue_mean_ns". @i < MSD_STAGES. */
const char *msd_stages_key(unsigned i);
/** Count @result, a call's, when it tells its stages. */
void msd_stages_note(struct msd_stages *s, const modser_result *result);
/** The mean of stage @i; 0: there were none. */
uint64_t msd_stages_mean_ns(const struct msd_stages *s, unsigned i);

#endif
