#ifndef MSD_CLI_STAGES_H
#define MSD_CLI_STAGES_H
/* Where the daemon's time of a module's calls went, by two looks at its metrics. */
#include <stdint.h>

#include "client/modser.h"
#include "proto/bytes.h"

#define MSD_STAGES 5u

/* All calls of the module so far, by stage. */
struct msd_stages {
	double sum_s[MSD_STAGES];
	double n[MSD_STAGES];
};

/** What a stage's mean is called in results: "queue_mean_ns". @i < MSD_STAGES. */
const char *msd_stages_key(unsigned i);
/** Those of @module in @metrics, the answer of server.metrics; zeros where none are. */
void msd_stages_read(const char *metrics, struct msd_span module,
		     struct msd_stages *ret);
/** The same of the module of @target, "NAME:FUNC", asked of a daemon: zeros where it
 * may not be asked. */
void msd_stages_ask(modser_client *client, const char *target, struct msd_stages *ret);
/** The mean of stage @i of the calls between the two looks; 0: there were none. */
uint64_t msd_stages_mean_ns(const struct msd_stages *before,
			    const struct msd_stages *behind, unsigned i);

#endif
