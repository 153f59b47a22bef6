#ifndef MSD_CLI_RATE_RUN_H
#define MSD_CLI_RATE_RUN_H
/*
 * One function called at a rate that does not wait for answers, as a crowd of clients
 * calls it: at random times that know nothing of each other (Poisson), over some
 * connections in turn. How long a call took counts from when it was due, whether it
 * could be sent then or not.
 */
#include "client/cli/samples.h"
#include "client/modser.h"

struct msd_arguments;
struct msd_stages;

struct msd_rate_run {
	const struct msd_arguments *args; /* with their types; borrowed */
	const char *function;             /* "module:function" */
	const char *device;               /* NULL: the module's */
	modser_client **clients;          /* n_clients, borrowed */
	uint32_t n_clients;
	uint32_t per_second;
	uint32_t deadline_ms;      /* of each call; 0: none */
	uint64_t warm_ns, time_ns; /* what is due in the first is not counted */

	struct msd_samples took; /* of what was answered with a result; owned */
	uint64_t n_due;
	uint64_t n_late;        /* of `took`, longer than the deadline */
	uint64_t n_refused;     /* not begun: BUSY, DRAINING, NO_SPACE */
	uint64_t n_expired;     /* DEADLINE_EXCEEDED */
	uint64_t n_unsent;      /* too many were in flight */
	modser_result *failure; /* owned: the first one that is another error */
	modser_client *failed;  /* whose it was */
	modser_client *lost;    /* the first that took no call: modser_why() says why */
	bool no_memory;
	struct msd_stages *stages; /* its calls are traced for these; NULL: they are not
				    */
};

/** Run it; false: a call failed, or a connection, or memory is short. End with
 * msd_rate_run_finish(). */
bool msd_rate_run(struct msd_rate_run *run);
void msd_rate_run_finish(struct msd_rate_run *run);

#endif
