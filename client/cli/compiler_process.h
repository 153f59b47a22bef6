#ifndef MSD_CLI_COMPILER_PROCESS_H
#define MSD_CLI_COMPILER_PROCESS_H
/*
 * The processes of one run of a compiler: all of them are in one group and end with it,
 * and with this program, however that ends.
 *
 *   modser --fork--> keeper, which leads the group --fork--> compiler --> cc1, as, ld,
 * ... |                  |
 *     '--- it is gone ---'---> the keeper kills the group
 *
 * What compiles a stranger's code has bounds besides; they are inherited.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/cli/confine.h"

/* Of each process of a run, and never more than this program may have itself. */
struct msd_compiler_bounds {
	uint64_t cpu_s;        /* of processor time; behind it SIGXCPU */
	uint64_t memory_bytes; /* of addresses; behind it the compiler has no memory */
	uint64_t file_bytes;   /* of each file; behind it SIGXFSZ */
};

struct msd_compiler_job {
	char **words, **environment;
	const char *said;                  /* path of the file for its output */
	const sigset_t *mask;              /* its signals that are blocked */
	const struct msd_confine *confine; /* NULL: not confined, without bounds */
};

struct msd_compiler_end {
	int error;        /* it was not started: an errno */
	bool is_confined; /* that was not why */
	int status;       /* as waitpid() has it */
	int interrupt;    /* the signal that asked for its end; 0: none */
};

/** The bounds that hold for what is confined. */
void msd_compiler_bounds_get(struct msd_compiler_bounds *ret);
/** Run it to its end, with SIGCHLD and the signals of @ends blocked: the first of these
 * is passed on politely, the second kills. 0, or an errno: nothing is known of it. */
int msd_compiler_process_run(const struct msd_compiler_job *job, const sigset_t *ends,
			     struct msd_compiler_end *ret);

#endif
