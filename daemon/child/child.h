#ifndef MSD_CHILD_CHILD_H
#define MSD_CHILD_CHILD_H
/*
 * A process that the daemon starts: by exec, in a process group of its own that is
 * killed whole, its output read from a pipe. Its end is that of all that it started,
 * and is told once, with its last words. What is said to it over other descriptors is
 * its owner's.
 *
 * Ownership: msd_child_spawn() gives the child to its owner, who ends it with
 * msd_child_close() after on_exit. All calls on the loop's thread.
 */
#include <uv.h>

#include "daemon/child/reaper.h"
#include "proto/bytes.h"
#include "proto/diag.h"

#define MSD_CHILD_WORDS 400u /* kept of the end of its output */
#define MSD_CHILD_FDS (MSD_BIRTH_FDS - 3u)

struct msd_cgroup;
struct msd_child;
struct msd_child_user;

struct msd_child_ops {
	/** It wrote @n bytes; borrowed. */
	void (*on_output)(void *user, const char *bytes, size_t n);
	/**
	 * It has exited, and what it started is gone; or it could not be started. Once.
	 * Output may be left in the pipe: msd_child_read_output().
	 */
	void (*on_exit)(void *user);
	/** msd_child_close() is done, the child is freed. Optional. */
	void (*on_closed)(void *user);
};

struct msd_child_how {
	char **argv;            /* the program's path first; NULL at the end */
	int fds[MSD_CHILD_FDS]; /* borrowed; there they are 3 and up */
	unsigned n_fds;
	bool drops_errors; /* standard error is not read, only standard output */
	/* Killed and ended with the child; taken on success. NULL: it has none. The
	 * child joins it itself, by one of @fds. */
	struct msd_cgroup *group;
	const struct msd_child_user *user; /* whose it is; NULL: the daemon's */
};

/* A process that an earlier daemon started, and left. */
struct msd_child_found {
	pid_t pid;
	int pidfd;                /* owned by the child on success */
	int output_fd;            /* likewise: the end of its output that is read */
	struct msd_cgroup *group; /* likewise; NULL: it has none */
};

struct msd_child {
	/* read-only */
	bool has_exited; /* on_exit comes, or has come */
	int start_error; /* an errno: it has never been its program; then 0 is below */
	int64_t exit_status;
	int term_signal; /* 0: it ended by itself */
	/* private */
	const struct msd_child_ops *ops;
	void *user;
	struct msd_reaper *reaper;
	struct msd_ward ward;
	struct msd_cgroup *group;
	bool is_reaped;  /* its number may be another's */
	bool is_left;    /* it lives on */
	int pidfd;       /* of one that was found; -1: it is a child of this process */
	uv_poll_t ended; /* likewise */
	uv_poll_t output;
	int output_fd;
	bool has_user;               /* one of its own */
	char program[256];           /* its path, perhaps cut */
	char words[MSD_CHILD_WORDS]; /* the end of what it wrote */
	size_t n_words;
	char kill_reason[128]; /* why it was killed; "": it was not */
	int open_handles;
};

/**
 * Start a process on the loop of @reaper, without waiting until it is there. @ops stay
 * the caller's and must outlive it. Calls back never before it has returned, and not at
 * all after a failure. Errors: MSD_IO, MSD_NOMEM; what its start comes to on a later
 * turn is its end (msd_child.start_error).
 */
MSD_MUST_CHECK msd_err msd_child_spawn(struct msd_reaper *reaper,
				       const struct msd_child_how *how,
				       const struct msd_child_ops *ops, void *user,
				       struct msd_child **ret, struct msd_diag *d);
/**
 * Watch a process that an earlier daemon started. How it ends cannot be seen, only that
 * it does; and what leaves its group is not found but by its control group. Errors:
 * MSD_IO; then @found is the caller's, as it was.
 */
MSD_MUST_CHECK msd_err msd_child_adopt(struct msd_reaper *reaper,
				       const struct msd_child_found *found,
				       const struct msd_child_ops *ops, void *user,
				       struct msd_child **ret, struct msd_diag *d);
/** Its number; 0: it is being started, and has none yet. One that has said something
 * has one. */
static inline pid_t msd_child_pid(const struct msd_child *c)
{
	return c->ward.start != NULL ? msd_start_born(c->ward.start) : c->ward.pid;
}
/** It has exited to whoever asks, and lives on when the daemon ends; msd_child_close()
 * is still to come, on_exit is not. False: there is no memory for that, and nothing has
 * changed. */
MSD_MUST_CHECK bool msd_child_leave(struct msd_child *c);
/** SIGKILL to its group; @reason is kept for msd_child_describe_end(). The first reason
 * counts; after its exit nothing happens. */
void msd_child_kill(struct msd_child *c, const char *reason);
/** It has ended of msd_child_kill(), not by itself meanwhile. */
bool msd_child_was_killed(const struct msd_child *c);
/** Take what it has written until now, by on_output. */
void msd_child_read_output(struct msd_child *c);
/** Describe its end: "signal SEGV", "exit status 3", "killed: REASON", "starting
 * PROGRAM: No such file or directory", and its last words. */
void msd_child_describe_end(const struct msd_child *c, struct msd_buf *out);
/** After on_exit: free it on a later turn; then on_closed. */
void msd_child_close(struct msd_child *c);

#endif
