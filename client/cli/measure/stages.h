#ifndef MSD_CLI_STAGES_H
#define MSD_CLI_STAGES_H
/* Mean time of each daemon stage over traced calls. */
#include "client/modser.h"

#define MSD_STAGES 7u

struct msd_stages {
	uint64_t sum_ns[MSD_STAGES];
	uint64_t n; /* calls */
};

/** Key of a stage's mean in results: "queue_mean_ns". @i < MSD_STAGES. */
const char *msd_stages_key(unsigned i);
/** Add @result, of a call, if it has a trace. */
void msd_stages_note(struct msd_stages *s, const modser_result *result);
/** The mean of stage @i; 0: no samples. */
uint64_t msd_stages_mean_ns(const struct msd_stages *s, unsigned i);

#endif
