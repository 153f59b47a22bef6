#ifndef MSD_TESTS_FAIL_ALLOC_H
#define MSD_TESTS_FAIL_ALLOC_H
/*
 * Let the k-th allocation fail: link msd_fail_alloc (tests/support) to the test. Only
 *calls from objects that are linked statically are seen; what a shared library
 *allocates, or libc inside strdup() and the like, is not. One thread at a time.
 *
 *	for (long k = 0;; k++) {
 *		msd_fail_alloc(k);
 *		msd_err err = thing_create(&t, &d);
 *		if (!msd_fail_alloc_stop())
 *			break;	    every allocation has had its turn; err is OK
 *		cr_assert_eq(err, MSD_NOMEM);
 *	}
 */
#include <stdbool.h>

/** From now on let the allocation number @k fail (0: the next), and only that one. */
void msd_fail_alloc(long k);
/** Allocate as usual again. True when an allocation has failed since msd_fail_alloc().
 */
bool msd_fail_alloc_stop(void);

#endif
