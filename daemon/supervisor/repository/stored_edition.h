#ifndef MSD_SUPERVISOR_STORED_EDITION_H
#define MSD_SUPERVISOR_STORED_EDITION_H

/* The store's editions of a module, by digest: a source need not transfer these
 * again. */

#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "store/record.h"

struct msd_store_index {
	/* The bad editions, then the good ones. */
	struct msd_digest have[MSD_RECORD_BAD + MSD_REF_COUNT];
	uint32_t n_have, n_bad;
	struct msd_digest editions[MSD_REF_COUNT];
	bool has_edition[MSD_REF_COUNT];
	struct msd_digest names[MSD_REF_COUNT]; /* names in a registry */
	bool has_name[MSD_REF_COUNT];
};

/** Fill @s from the record @r. */
void msd_store_index_set(struct msd_store_index *s, const struct msd_record *r);
/** Forget the good editions, because they are not usable; keep the bad ones. */
void msd_store_index_forget_editions(struct msd_store_index *s);
bool msd_store_index_is_bad(const struct msd_store_index *s,
			    const struct msd_digest *digest);
bool msd_store_index_is_edition(const struct msd_store_index *s, enum msd_ref ref,
				const struct msd_digest *digest);

/** The edition that a registry knows as @name; MSD_REF_COUNT: not found. */
enum msd_ref msd_store_index_find_name(const struct msd_store_index *s,
				       const struct msd_digest *name);

/* Convert run options to the form in the store's record of an edition. */

struct msd_run_options;

/**
 * Set the options of @e to those of @run that a client may give. Errors: those of
 * msd_edition_add_option().
 */
MSD_MUST_CHECK msd_err msd_stored_options_put(const struct msd_run_options *run,
					      struct msd_edition *e,
					      struct msd_diag *d);

/*
 * The self-tests of an edition, kept with its files: if a load was interrupted before
 * the tests passed, the next load runs them again. They are one file of the role
 * "test", msgpack: [warmup, tests], with the tests in the format of self_test_case.h.
 */

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
