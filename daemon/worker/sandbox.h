#ifndef MSD_WORKER_SANDBOX_H
#define MSD_WORKER_SANDBOX_H
/*
 * What a worker gives up before it opens its module, so that the module's code may
 * compute and little else: docs/sandbox.md has the table. Each part that the kernel
 * lacks is left out, and told.
 */
#include <stdbool.h>

#include "proto/bytes.h"
#include "proto/sandbox_word.h"

/* What the kernel can do for it. */
struct msd_sandbox_kernel {
	unsigned landlock_abi; /* 0: none */
	bool has_seccomp;
};

struct msd_sandbox_plan {
	enum msd_sandbox_word profile; /* AUTO: what any device needs */
	/* Arrays of msgpack's str, one after the other: paths that may be reached
	 * beside those of the profile. */
	struct msd_span reads, writes;
	struct msd_span plugins;
	/* By which the worker waits for what is asked of it: the last of its guests'
	 * numbers, which are behind the channel's. */
	int loop_fd, channel_fd, last_fd;
	uint64_t max_file_bytes; /* of any file or segment that it makes grow */
};

struct msd_sandbox {
	enum msd_sandbox_word profile; /* UNSAID: nobody asked for one */
	bool has_files; /* the rules for files hold, and those for processes' memory */
	bool has_truncate; /* they hold against cutting files off, too */
	bool has_calls;    /* calls are refused */
	bool has_signals;  /* no signal reaches another's process */
};

/** Find out what the kernel can do, without doing any of it. */
void msd_sandbox_look(struct msd_sandbox_kernel *ret);
/**
 * Give up what @plan says, as far as @kernel goes; @ret says how far that was. May be
 * called again with less: the process has only what both leave. The thread must be the
 * process's only one.
 */
void msd_sandbox_enter(const struct msd_sandbox_plan *plan,
		       const struct msd_sandbox_kernel *kernel,
		       struct msd_sandbox *ret);
/** Append as msgpack what holds, as worker.open answers it. */
void msd_sandbox_put(const struct msd_sandbox *s, struct msd_buf *out);

#endif
