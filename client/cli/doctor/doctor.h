#ifndef MSD_CLI_DOCTOR_H
#define MSD_CLI_DOCTOR_H
/*
 * Finds machine conditions that make speed measurements unreliable. Two snapshots are
 * taken, because most facts are differences between them. The judgement is separate
 * from the snapshots, so that tests can use any machine.
 */
#include <stdbool.h>
#include <stdint.h>

#include "client/cli/measure/process_scan.h"
#include "proto/base/bytes.h"

/* Snapshot; facts that the machine does not report are 0. */
struct msd_doctor_look {
	uint64_t swapped;       /* pages in and out since boot */
	uint64_t ticks, stolen; /* of all processors; stolen by the host */
	uint64_t busy;          /* part of the ticks: running */
	uint64_t waited_us;     /* time in which a task waited for a processor */
	uint64_t throttled;     /* number of thermal throttling events */
	uint64_t held;          /* number of stops by cgroup quotas of the daemon */
};

/* Facts besides the two snapshots. */
struct msd_doctor_facts {
	uint32_t n_cores;      /* usable by the daemon; 0: unknown */
	uint32_t n_processors; /* of the machine */
	uint64_t own_ticks;    /* processor time of the daemon and its client */
	struct msd_neighbour
		busiest;   /* of all other processes, by ticks between the snapshots */
	uint64_t threads;  /* of the worker with the most; 0: unknown */
	uint64_t requests; /* that the daemon received between the snapshots */
	uint64_t calls;    /* requests for a module */
	uint64_t seconds;  /* between the snapshots */
	uint64_t lag_ms;   /* of the daemon's loop */
	uint64_t busy_ms;  /* of the worker that is busy the longest */
	char busy[256];    /* its module, truncated; "": none */
	int64_t pid;       /* of the daemon */
	int64_t landlock;  /* version of the kernel's; 0: none, -1: unknown */
	bool has_group;    /* workers have control groups of their own */
	bool is_same_machine;
};

/** Take a snapshot below @root, "" for this machine's own; @pid is the daemon's. */
void msd_doctor_look(const char *root, int64_t pid, struct msd_doctor_look *ret);
/** Number of threads of process @pid; 0: unknown. */
uint64_t msd_doctor_threads(const char *root, int64_t pid);
/** Append unusual facts, one sentence a line; nothing if there are none. */
void msd_doctor_judge(const struct msd_doctor_look *before,
		      const struct msd_doctor_look *after,
		      const struct msd_doctor_facts *facts, struct msd_buf *out);

#endif
