#ifndef MSD_TESTS_KEPT_PROGRAM_H
#define MSD_TESTS_KEPT_PROGRAM_H
/* A program that cannot be had, as of a disk that is away: somebody has a lease of it.
 * The kernel takes that back after 45 s (/proc/sys/fs/lease-break-time). */

#define KEPT_PROGRAM_PATH "/tmp/kept-program-XXXXXX" /* of mkstemp() */

struct kept_program {
	char path[sizeof(KEPT_PROGRAM_PATH)];
	int lease; /* -1: it was let go */
};

/** Make @k a copy of @program that nobody may open. Skips the test where no lease can
 * be had. */
void keep_program(struct kept_program *k, const char *program);
/** It may be opened. */
void let_program_go(struct kept_program *k);
/** Forget it, let go or not. */
void drop_program(struct kept_program *k);

#endif
