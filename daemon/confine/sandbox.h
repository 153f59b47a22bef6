#ifndef MSD_CONFINE_SANDBOX_H
#define MSD_CONFINE_SANDBOX_H
/*
 * Privileges that a worker drops before it opens its module, so that the module's
 * code can do little more than compute: docs/reference/sandbox.md has the table. A
 * part that the kernel lacks is skipped, and reported.
 */
#include <stdbool.h>

#include "proto/base/bytes.h"
#include "proto/words/sandbox_word.h"

/* Sandbox features of the kernel. */
struct msd_sandbox_kernel {
	unsigned landlock_abi; /* 0: none */
	bool has_seccomp;
};

struct msd_sandbox_plan {
	enum msd_sandbox_word profile; /* AUTO: for any device */
	/* Concatenated msgpack str: additional paths beyond those of the profile. */
	struct msd_span reads, writes;
	struct msd_span plugins;
	/* Descriptors on which the worker waits for requests: the direct peers'
	 * numbers follow the channel's; last_fd is the last of them. */
	int loop_fd, channel_fd, last_fd;
	uint64_t max_file_bytes; /* maximum size of any file or segment that it grows */
};

struct msd_sandbox {
	enum msd_sandbox_word profile; /* UNSAID: no sandbox was requested */
	bool has_files; /* rules for files, and for memory of processes, are enforced */
	bool has_truncate; /* also against truncation of files */
	bool has_calls;    /* system calls are refused */
	bool has_signals;  /* signals to other processes are blocked */
};

/** Detect the features of the kernel, without using them. */
void msd_sandbox_look(struct msd_sandbox_kernel *ret);
/**
 * Enter the sandbox of @plan, as far as @kernel supports it; @ret gets the result.
 * May be called again with less: only the common part stays allowed. The thread must
 * be the process's only one.
 */
void msd_sandbox_enter(const struct msd_sandbox_plan *plan,
		       const struct msd_sandbox_kernel *kernel,
		       struct msd_sandbox *ret);
/** Append the state as msgpack, for the reply to worker.open. */
void msd_sandbox_put(const struct msd_sandbox *s, struct msd_buf *out);

#endif
