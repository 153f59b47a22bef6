#ifndef MSD_CLI_LOAD_RUN_H
#define MSD_CLI_LOAD_RUN_H
/*
 * One function called again and again over some connections, so many calls in flight on
 * each, until the time is over: how long each took, and how long it ran in its worker.
 */
#include "client/modser.h"

struct msd_arguments;

struct msd_load_run {
	const struct msd_arguments *args; /* with their types; borrowed */
	const char *function;             /* "module:function" */
	const char *device;               /* NULL: the module's */
	modser_client **clients;          /* n_clients, borrowed */
	uint32_t n_clients, depth;
	uint64_t warm_ns, time_ns; /* what is called in the first is not counted */

	uint64_t *took_ns, *ran_ns; /* owned, n of each, in the order of the answers */
	size_t n, cap;
	uint64_t n_sent, n_back,
		spent_ns;       /* all that were sent; of those that are counted */
	modser_result *failure; /* owned: the first one that is an error */
	modser_client *failed;  /* whose it was */
	modser_client *lost;    /* the first that took no call: modser_why() says why */
	bool no_memory;
};

/** Run it; false: a call failed, or a connection, or memory is short. End with
 * msd_load_run_finish(). */
bool msd_load_run(struct msd_load_run *run);
/** Sort @v, and the @permille-th of its @n values; 0 of none. */
void msd_load_run_sort(uint64_t *v, size_t n);
uint64_t msd_load_run_at(const uint64_t *v, size_t n, unsigned permille);
void msd_load_run_finish(struct msd_load_run *run);

#endif
