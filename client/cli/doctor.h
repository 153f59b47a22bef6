#ifndef MSD_CLI_DOCTOR_H
#define MSD_CLI_DOCTOR_H
/*
 * What of a machine makes figures of speed doubtful. Looked at twice, for most of it is
 * what happened in between; the judgement is apart from the look, so that it can be
 * tested with any machine.
 */
#include <stdbool.h>
#include <stdint.h>

#include "client/cli/neighbours.h"
#include "proto/bytes.h"

/* A look; what the machine does not tell is 0. */
struct msd_doctor_look {
	uint64_t swapped;       /* pages in and out since the start */
	uint64_t ticks, stolen; /* of all processors; and by the host */
	uint64_t busy;          /* of the ticks: somebody computed */
	uint64_t waited_us;     /* while something waited for a processor */
	uint64_t throttled;     /* how often processors were slowed for their heat */
	uint64_t held; /* how often control groups' quotas stopped the daemon */
};

/* Beside two looks. */
struct msd_doctor_facts {
	uint32_t n_cores;             /* that the daemon may use; 0: not known */
	uint32_t n_processors;        /* of the machine */
	uint64_t own_ticks;           /* that the daemon and its client computed */
	struct msd_neighbour busiest; /* of all others, by its ticks between the looks
				       */
	uint64_t threads;             /* of the worker that has most; 0: not known */
	uint64_t requests;            /* that the daemon got between the looks */
	uint64_t calls;               /* and those of them that went to a module */
	uint64_t seconds;             /* between them */
	uint64_t lag_ms;              /* of the daemon's loop */
	uint64_t busy_ms;             /* of the worker that is busy for longest */
	char busy[256];               /* its module, cut; "": none is */
	int64_t pid;                  /* of the daemon */
	int64_t landlock; /* version of the kernel's; 0: none, -1: not known */
	bool has_group;   /* workers have control groups of their own */
	bool is_same_machine;
};

/** Read what is below @root, "" for this machine's own; @pid is the daemon's. */
void msd_doctor_look(const char *root, int64_t pid, struct msd_doctor_look *ret);
/** Threads of the process @pid; 0: not known. */
uint64_t msd_doctor_threads(const char *root, int64_t pid);
/** Append what is unusual, a sentence a line; nothing: nothing is. */
void msd_doctor_judge(const struct msd_doctor_look *before,
		      const struct msd_doctor_look *after,
		      const struct msd_doctor_facts *facts, struct msd_buf *out);

#endif
