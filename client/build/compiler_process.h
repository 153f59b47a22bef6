#ifndef MSD_CLI_COMPILER_PROCESS_H
#define MSD_CLI_COMPILER_PROCESS_H
/*
 * The processes of one compiler run. All are in one group, which is killed at the end
 * of the run, or when this program ends for any reason.
 *
 *   modser --fork--> keeper (leads the group) --fork--> compiler --> cc1, as, ld, ...
 *     |                |
 *     '--- it exits ---'---> the keeper kills the group
 *
 * A compiler of untrusted code also has resource limits, which its children inherit.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* For each process of a run, and never above this program's own limits. */
struct msd_compiler_bounds {
	uint64_t cpu_s;        /* processor time; above it SIGXCPU */
	uint64_t memory_bytes; /* address space; above it allocations fail */
	uint64_t file_bytes;   /* of each file; above it SIGXFSZ */
};

struct msd_compiler_job {
	char **words, **environment;
	const char *said;                  /* path of the file for its output */
	const sigset_t *mask;              /* blocked signals of the compiler */
	const struct msd_confine *confine; /* NULL: no sandbox, no bounds */
};

struct msd_compiler_end {
	int error;        /* errno of a failed start */
	bool is_confined; /* false: the sandbox is the cause */
	int status;       /* as waitpid() returns it */
	int interrupt;    /* signal that requested the end; 0: none */
};

/** Get the bounds of a sandboxed compiler. */
void msd_compiler_bounds_get(struct msd_compiler_bounds *ret);
/**
 * Run the compiler to its end, with SIGCHLD and the signals of @ends blocked. The
 * first of these signals is passed on to it, the second kills it. Returns 0, or an
 * errno: its result is unknown.
 */
int msd_compiler_process_run(const struct msd_compiler_job *job, const sigset_t *ends,
			     struct msd_compiler_end *ret);

#endif
