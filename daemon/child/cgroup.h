#ifndef MSD_CHILD_CGROUP_H
#define MSD_CHILD_CGROUP_H
/*
 * Control groups of our own, where somebody has delegated one (systemd's Delegate=, a
 * container's): the daemon goes into a leaf of it, and each worker gets one, with
 * limits that hold for all that it starts, is killed as a whole with it, and is removed
 * when it is gone. Only of the unified hierarchy (cgroup v2).
 *
 *   DELEGATED/supervisor    the daemon and its other children
 *   DELEGATED/worker-1      a worker and all that it started
 *
 * Delegated is a group that this process may write to and is alone in, and that is not
 * the root of all. Everywhere else there are no groups, and nothing changes.
 *
 * What is done with them while the daemon serves are some writes to a file system in
 * the kernel's own memory, of about 30 us each, on empty groups: no peer makes one
 * wait. The one that may take 20 ms, to move a process, is the worker's own.
 */
#include <stdbool.h>
#include <stdint.h>

#include "proto/diag.h"

#define MSD_CGROUP_NAME 32u
#define MSD_CGROUP_PATH 512u

/** What a worker's group may have; 0: nobody says. */
struct msd_cgroup_limits {
	uint64_t max_processes; /* processes and threads */
	uint64_t max_memory;    /* bytes; who goes over it is killed with all others */
};

/** A leaf. Owned by who made it, until msd_cgroup_end(). */
struct msd_cgroup {
	/* private */
	struct msd_cgroups *all;
	struct msd_cgroup *next;
	bool is_ended; /* to be removed when it is empty */
	uint64_t number;
	char name[MSD_CGROUP_NAME];
	int join_fd;
};

struct msd_cgroups {
	/* read-only */
	bool is_open;
	bool has_pids, has_memory;  /* which limits can be set */
	char path[MSD_CGROUP_PATH]; /* of the delegated group, as its mount names it */
	/* private */
	int fd; /* of that folder */
	uint64_t n_made;
	struct msd_cgroup *leaves;
};

/**
 * Take over the group that this process is in, as @root/proc/self/cgroup names it, and
 * go into a leaf of it. Without @has_limits no leaf bounds anything, and none keeps
 * another process from being put into the group itself: a service manager does that
 * with the next daemon while workers live on in leaves. @root is "" but in tests.
 * Errors: MSD_UNSUPPORTED, with the reason; there are no groups then, which is how most
 * daemons live.
 */
MSD_MUST_CHECK msd_err msd_cgroups_open(struct msd_cgroups *g, const char *root,
					bool has_limits, struct msd_diag *d);
/** Remove what has been ended and is empty by now. Legal when no groups are open. */
void msd_cgroups_tidy(struct msd_cgroups *g);
/** End all leaves, and wait for that, but not for long. That of the daemon stays with
 * who delegated its group. Legal when no groups are open. */
void msd_cgroups_close(struct msd_cgroups *g);
/** Make a leaf with @limits, those that can be set. Errors: MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_cgroup_create(struct msd_cgroups *g,
					 const struct msd_cgroup_limits *limits,
					 struct msd_cgroup **ret, struct msd_diag *d);
/** The number in the name of a leaf, which no other of this daemon has. */
uint64_t msd_cgroup_number(const struct msd_cgroup *c);
/** The leaf of that number, which an earlier daemon made and a process lives in, with
 * @limits set anew. Errors: MSD_IO (it is not there), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_cgroup_find(struct msd_cgroups *g, uint64_t number,
				       const struct msd_cgroup_limits *limits,
				       struct msd_cgroup **ret, struct msd_diag *d);
/** Who lives in it outlives the daemon: forget it. NULL is fine. */
void msd_cgroup_leave(struct msd_cgroup *c);
/** Kill what is in leaves that an earlier daemon left, and remove these, but for those
 * whose number @is_kept names, and those that were found; no leaf that is made from
 * here on has such a number. Legal when no groups are open, and more than once. */
void msd_cgroups_sweep(struct msd_cgroups *g,
		       bool (*is_kept)(const void *ctx, uint64_t number),
		       const void *ctx);
/** A descriptor for a child to inherit: who writes "0" to it is in the group. */
int msd_cgroup_join_fd(const struct msd_cgroup *c);
/** SIGKILL to all that are in it, at once: nobody can fork away from it. Where the
 * kernel has no such thing (before 5.14) nothing happens. NULL is fine. */
void msd_cgroup_kill(const struct msd_cgroup *c);
/** Remove it, now or with a msd_cgroups_tidy() after its last process is gone. NULL is
 * fine. */
void msd_cgroup_end(struct msd_cgroup *c);

#endif
