#ifndef MSD_CLI_LOAD_RUN_H
#define MSD_CLI_LOAD_RUN_H
/*
 * Calls one function repeatedly over several connections, with a fixed number of
 * calls in flight on each. The run lasts until the time is over and at least one call
 * is counted. For each call, the run measures the duration and the run time in the
 * worker.
 */
#include "client/cli/measure/samples.h"
#include "client/modser.h"

struct msd_arguments;
struct msd_stages;

struct msd_load_run {
	const struct msd_arguments *args; /* dtypes are set; borrowed */
	const char *function;             /* "module:function" */
	const char *device;               /* NULL: the module's device */
	modser_client **clients;          /* n_clients, borrowed */
	uint32_t n_clients, depth;
	uint64_t warm_ns, time_ns; /* calls during warm_ns are not counted */

	struct msd_samples took, ran; /* owned; one for each counted answer */
	uint64_t n_sent, n_back;      /* including those not counted */
	uint64_t first_ns;            /* start of the first counted call; 0: none */
	uint64_t spent_ns;            /* since first_ns */
	modser_result *failure;       /* owned: the first error */
	modser_client *failed;        /* client of that error */
	modser_client *lost; /* the first that rejected a call: see modser_why() */
	bool no_memory;
	struct msd_stages *stages; /* collects traces of the calls; NULL: no traces */
};

/**
 * Run it; false: a call or a connection failed, or memory ran out. End with
 * msd_load_run_finish().
 */
bool msd_load_run(struct msd_load_run *run);
void msd_load_run_finish(struct msd_load_run *run);

#endif
