#ifndef MSD_SUPERVISOR_STORED_SELF_TESTS_H
#define MSD_SUPERVISOR_STORED_SELF_TESTS_H
/*
 * The self-tests of an edition, kept with its files: if a load was interrupted before
 * the tests passed, the next load runs them again. They are one file of the role
 * "test", msgpack: [warmup, tests], with the tests in the format of self_test_case.h.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct msd_edition;
struct msd_attachment;
struct msd_store;
struct msd_self_test;

struct msd_stored_self_tests {
	struct msd_span tests; /* points into bytes; empty if there are no tests */
	uint32_t warmup;
	struct msd_buf bytes; /* owned */
};

/**
 * Write the tests of @t to a memory file *ret; the caller closes it. Errors: MSD_IO,
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_stored_self_tests_write(const struct msd_self_test *t,
						   struct msd_attachment *ret,
						   struct msd_diag *d);
/**
 * Read the tests of @e. Blocks. Call finish in every case. Errors: those of
 * msd_blob_get(), MSD_BAD_ARTIFACT (the file is not valid), MSD_NO_SPACE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_stored_self_tests_read(const struct msd_store *s,
						  const struct msd_edition *e,
						  struct msd_stored_self_tests *ret,
						  struct msd_diag *d);
void msd_stored_self_tests_finish(struct msd_stored_self_tests *t);

#endif
