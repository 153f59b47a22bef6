#ifndef MSD_CLI_LOAD_RUN_H
#define MSD_CLI_LOAD_RUN_H
/*
 * One function called again and again over some connections, so many calls in flight on
 * each, until the time is over and one has been counted at least: how long each took,
 * and how long it ran in its worker.
 */
#include "client/cli/samples.h"
#include "client/modser.h"

struct msd_arguments;
struct msd_stages;

struct msd_load_run {
	const struct msd_arguments *args; /* with their types; borrowed */
	const char *function;             /* "module:function" */
	const char *device;               /* NULL: the module's */
	modser_client **clients;          /* n_clients, borrowed */
	uint32_t n_clients, depth;
	uint64_t warm_ns, time_ns; /* what is called in the first is not counted */

	struct msd_samples took, ran; /* owned; of each answer that is counted */
	uint64_t n_sent, n_back;      /* all of them */
	uint64_t first_ns;      /* when the first that is counted was sent; 0: none */
	uint64_t spent_ns;      /* from then on */
	modser_result *failure; /* owned: the first one that is an error */
	modser_client *failed;  /* whose it was */
	modser_client *lost;    /* the first that took no call: modser_why() says why */
	bool no_memory;
	struct msd_stages *stages; /* its calls are traced for these; NULL: they are not
				    */
};

/** Run it; false: a call failed, or a connection, or memory is short. End with
 * msd_load_run_finish(). */
bool msd_load_run(struct msd_load_run *run);
void msd_load_run_finish(struct msd_load_run *run);

#endif
