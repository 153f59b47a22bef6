#ifndef MSD_CLI_RATE_RUN_H
#define MSD_CLI_RATE_RUN_H
/*
 * Calls one function at a rate that does not depend on the answers, as many
 * independent clients do: at random times (Poisson), over several connections in
 * turn. The duration of a call counts from the time when it was due, even if it was
 * sent later.
 */
#include "client/cli/measure/samples.h"
#include "client/modser.h"

struct msd_arguments;
struct msd_stages;

struct msd_rate_run {
	const struct msd_arguments *args; /* dtypes are set; borrowed */
	const char *function;             /* "module:function" */
	const char *device;               /* NULL: the module's device */
	modser_client **clients;          /* n_clients, borrowed */
	uint32_t n_clients;
	uint32_t per_second;
	uint32_t deadline_ms;      /* of each call; 0: none */
	uint64_t warm_ns, time_ns; /* calls due during warm_ns are not counted */

	struct msd_samples took; /* of calls that returned a result; owned */
	uint64_t n_due;
	uint64_t n_late;        /* part of `took`, longer than the deadline */
	uint64_t n_refused;     /* not begun: BUSY, DRAINING, NO_SPACE */
	uint64_t n_expired;     /* DEADLINE_EXCEEDED */
	uint64_t n_unsent;      /* too many were in flight */
	modser_result *failure; /* owned: the first other error */
	modser_client *failed;  /* client of that error */
	modser_client *lost;    /* the first that rejected a call: see modser_why() */
	bool no_memory;
	struct msd_stages *stages; /* collects traces of the calls; NULL: no traces */
};

/**
 * Run it; false: a call or a connection failed, or memory ran out. End with
 * msd_rate_run_finish().
 */
bool msd_rate_run(struct msd_rate_run *run);
void msd_rate_run_finish(struct msd_rate_run *run);

#endif
