#ifndef MSD_CHILD_CGROUP_H
#define MSD_CHILD_CGROUP_H

/*
 * Control groups, if the service manager or container has delegated one (systemd's
 * Delegate=). The daemon moves into a leaf of it. Each worker gets its own leaf,
 * whose limits hold for all processes that it starts. The leaf is killed as a whole
 * with the worker, and removed. Unified hierarchy (cgroup v2) only.
 *
 *   DELEGATED/supervisor    the daemon and its other children
 *   DELEGATED/worker-1      a worker and all that it started
 *
 * A delegated group is one that this process may write to, is alone in, and that is
 * not the root. Without such a group no control groups are used.
 *
 * While the daemon serves, it only writes to a file system in kernel memory, about 30
 * us each, on empty groups: no peer can delay that. The one slow operation, to move a
 * process (up to 20 ms), is done by the worker.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/diag.h"

#define MSD_CGROUP_NAME 32u
#define MSD_CGROUP_PATH 512u

/** Limits of a worker's group; 0: no limit. */
struct msd_cgroup_limits {
	uint64_t max_processes; /* processes and threads */
	uint64_t max_memory; /* bytes; all processes of the group are killed above it */
};

/** A leaf. Owned by its creator, until msd_cgroup_end(). */
struct msd_cgroup {
	/* private */
	struct msd_cgroups *all;
	struct msd_cgroup *next;
	bool is_ended; /* remove it when it is empty */
	uint64_t number;
	char name[MSD_CGROUP_NAME];
	int join_fd;
};

struct msd_cgroups {
	/* read-only */
	bool is_open;
	bool has_pids, has_memory;  /* limits that can be set */
	char path[MSD_CGROUP_PATH]; /* path of the delegated group in the mounted file
				       system */
	/* private */
	int fd; /* of that directory */
	uint64_t n_made;
	struct msd_cgroup *leaves;
};

/**
 * Take over the group of this process, as named in @root/proc/self/cgroup, and move
 * into a leaf of it. Without @has_limits the leaves have no limits, and other
 * processes can still be put into the group itself: a service manager does that with
 * the next daemon while workers live on in leaves. @root is "" except in tests.
 * Errors: MSD_UNSUPPORTED, with the reason; then no groups are used, as on most
 * systems.
 */
MSD_MUST_CHECK msd_err msd_cgroups_open(struct msd_cgroups *g, const char *root,
					bool has_limits, struct msd_diag *d);
/** Remove ended leaves that are empty. Legal if no groups are open. */
void msd_cgroups_tidy(struct msd_cgroups *g);
/**
 * End all leaves, and wait for a limited time. The daemon's own leaf is left to the
 * manager of the group. Legal if no groups are open.
 */
void msd_cgroups_close(struct msd_cgroups *g);
/** Make a leaf with those of @limits that can be set. Errors: MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_cgroup_create(struct msd_cgroups *g,
					 const struct msd_cgroup_limits *limits,
					 struct msd_cgroup **ret, struct msd_diag *d);
/** The number in the name of a leaf, unique in this daemon. */
uint64_t msd_cgroup_number(const struct msd_cgroup *c);
/**
 * Find the leaf of that number, which an earlier daemon made and a process lives in,
 * and set @limits again. Errors: MSD_IO (it does not exist), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_cgroup_find(struct msd_cgroups *g, uint64_t number,
				       const struct msd_cgroup_limits *limits,
				       struct msd_cgroup **ret, struct msd_diag *d);
/** Forget a leaf whose processes outlive the daemon. NULL is allowed. */
void msd_cgroup_leave(struct msd_cgroup *c);
/**
 * Kill the processes in leaves of an earlier daemon, and remove these leaves, except
 * those that @is_kept names or that were found. Leaves made after this have other
 * numbers. Legal if no groups are open, and more than once.
 */
void msd_cgroups_sweep(struct msd_cgroups *g,
		       bool (*is_kept)(const void *ctx, uint64_t number),
		       const void *ctx);
/**
 * A descriptor for a child to inherit: a process that writes "0" to it joins the
 * group.
 */
int msd_cgroup_join_fd(const struct msd_cgroup *c);
/**
 * Send SIGKILL to all processes in it at once, so none can escape by a fork. Does
 * nothing on kernels before 5.14. NULL is allowed.
 */
void msd_cgroup_kill(const struct msd_cgroup *c);
/**
 * Remove it, now or by msd_cgroups_tidy() after its last process has ended. NULL is
 * allowed.
 */
void msd_cgroup_end(struct msd_cgroup *c);

/* Files of control groups: the kernel accepts one string per write, or rejects it. */

/** Write @word to @file in the directory @dir. Returns 0, or an errno. */
int msd_cgroup_put(int dir, const char *file, const char *word);
/**
 * Read the first bytes of a file into the @room bytes at @ret; "" if it cannot be
 * read.
 */
void msd_cgroup_get(int dir, const char *file, char *ret, size_t room);

#endif
