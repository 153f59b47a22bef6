#ifndef MSD_CHILD_CHILD_H
#define MSD_CHILD_CHILD_H
/*
 * A process that the daemon starts: by exec, in its own process group that is killed
 * as a whole, with its output read from a pipe. Its end is reported once, with its
 * last words, after all processes that it started have ended. Its owner handles all
 * other descriptors.
 *
 * Ownership: msd_child_spawn() gives the child to its owner, which frees it with
 * msd_child_close() after on_exit. All calls on the loop's thread.
 */
#include <uv.h>

#include "daemon/child/reaper.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_CHILD_WORDS 400u /* bytes kept of the end of its output */
#define MSD_CHILD_FDS (MSD_SPAWN_THREAD_FDS - 3u)

struct msd_cgroup;
struct msd_child;
struct msd_child_user;

struct msd_child_ops {
	/** It wrote @n bytes; borrowed. */
	void (*on_output)(void *user, const char *bytes, size_t n);
	/**
	 * It has exited, with all processes that it started; or it could not be
	 * started. Called once. Output may be left in the pipe:
	 * msd_child_read_output().
	 */
	void (*on_exit)(void *user);
	/** msd_child_close() is done, the child is freed. Optional. */
	void (*on_closed)(void *user);
};

struct msd_child_how {
	char **argv;            /* the program's path first; NULL at the end */
	int fds[MSD_CHILD_FDS]; /* borrowed; numbered from 3 in the child */
	unsigned n_fds;
	bool drops_errors; /* standard error is not read, only standard output */
	/* Killed and ended with the child; taken on success. NULL: none. The child
	 * joins it itself, through one of @fds. */
	struct msd_cgroup *group;
	const struct msd_child_user *user; /* user of the process; NULL: the daemon's */
};

/* A process that an earlier daemon started and left running. */
struct msd_child_found {
	pid_t pid;
	int pidfd;     /* owned by the child on success */
	int output_fd; /* owned by the child on success: read end of its output */
	struct msd_cgroup *group; /* owned by the child on success; NULL: none */
};

struct msd_child {
	/* read-only */
	bool has_exited; /* on_exit will be or was called */
	int start_error; /* an errno: its program never ran; the fields below are 0 */
	int64_t exit_status;
	int term_signal; /* 0: not ended by a signal */
	/* private */
	const struct msd_child_ops *ops;
	void *user;
	struct msd_reaper *reaper;
	struct msd_ward ward;
	struct msd_cgroup *group;
	bool is_reaped;  /* its process id may be reused */
	bool is_left;    /* it outlives the daemon */
	int pidfd;       /* adopted process only; -1: a child of this process */
	uv_poll_t ended; /* adopted process only */
	uv_poll_t output;
	int output_fd;
	bool has_user;               /* has a user of its own */
	char program[256];           /* its path, may be cut */
	char words[MSD_CHILD_WORDS]; /* the end of its output */
	size_t n_words;
	char kill_reason[128]; /* why it was killed; "": it was not */
	int open_handles;
};

/**
 * Start a process on the loop of @reaper, without waiting for it. @ops stay the
 * caller's and must outlive it. No callback runs before this returns, and none after
 * a failure. Errors: MSD_IO, MSD_NOMEM. A start that fails in a later loop iteration
 * is reported as its end (msd_child.start_error).
 */
MSD_MUST_CHECK msd_err msd_child_spawn(struct msd_reaper *reaper,
				       const struct msd_child_how *how,
				       const struct msd_child_ops *ops, void *user,
				       struct msd_child **ret, struct msd_diag *d);
/**
 * Watch a process that an earlier daemon started. Its end is seen, but not its exit
 * status. Processes that leave its group are found only through its control group.
 * Errors: MSD_IO; then @found stays the caller's, unchanged.
 */
MSD_MUST_CHECK msd_err msd_child_adopt(struct msd_reaper *reaper,
				       const struct msd_child_found *found,
				       const struct msd_child_ops *ops, void *user,
				       struct msd_child **ret, struct msd_diag *d);
/**
 * Its process id; 0: it is being started and has none yet. A process that has sent
 * something has one.
 */
static inline pid_t msd_child_pid(const struct msd_child *c)
{
	return c->ward.start != NULL ? msd_start_born(c->ward.start) : c->ward.pid;
}
/**
 * Report it as exited, and let it outlive the daemon. The owner must still call
 * msd_child_close(); on_exit is not called. False if memory is short; nothing has
 * changed.
 */
MSD_MUST_CHECK bool msd_child_leave(struct msd_child *c);
/**
 * Send SIGKILL to its group; @reason is kept for msd_child_describe_end(). The first
 * reason counts; after its exit this does nothing.
 */
void msd_child_kill(struct msd_child *c, const char *reason);
/** True if msd_child_kill() ended it, and it did not exit first. */
bool msd_child_was_killed(const struct msd_child *c);
/** Read the output that it has written so far, into on_output. */
void msd_child_read_output(struct msd_child *c);
/**
 * Describe its end: "signal SEGV", "exit status 3", "killed: REASON", "starting
 * PROGRAM: No such file or directory", and its last words.
 */
void msd_child_describe_end(const struct msd_child *c, struct msd_buf *out);
/** Call after on_exit: free it in a later loop iteration; then on_closed. */
void msd_child_close(struct msd_child *c);

#endif
