#ifndef MSD_SUPERVISOR_MANIFEST_TESTS_H
#define MSD_SUPERVISOR_MANIFEST_TESTS_H
/* Reads the tests in the manifest of a fetched module, which must pass before the
 * module serves. */
#include "proto/base/diag.h"

struct msd_fetch;
struct msd_load;

/**
 * Copy the self-tests of @f, borrowed, into @how. Call it while on_done() of @f runs.
 * No effect if there are none. Errors: those of msd_self_test_check().
 */
MSD_MUST_CHECK msd_err msd_manifest_tests_read(const struct msd_fetch *f,
					       struct msd_load *how,
					       struct msd_diag *d);

#endif
