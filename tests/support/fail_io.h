#ifndef MSD_TESTS_FAIL_IO_H
#define MSD_TESTS_FAIL_IO_H
/*
 * Let the k-th call that touches a disk fail, or let the process "die" at it: link
 * msd_fail_io (tests/support) to the test. Seen are calls of objects that are linked
 * statically: open, read, write, their kin by position, fsync, rename, link, unlink,
 * mkdir, chmod, fallocate, truncate, each in its form by descriptor. One thread at a
 * time.
 */
#include <stdbool.h>

enum msd_fail_io_how {
	MSD_FAIL_IO_ONCE, /* that call alone */
	MSD_FAIL_IO_EVER, /* that one and all after it, as if the process had died */
};

/** From now on let the call number @k (0: the next) fail with @error. A write that
 * fails for ever writes half of its bytes first. */
void msd_fail_io(long k, enum msd_fail_io_how how, int error);
/** All succeed again. True when a call has failed since msd_fail_io(). */
bool msd_fail_io_stop(void);

#endif
