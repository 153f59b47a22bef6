#ifndef MSD_STORE_RECORD_H
#define MSD_STORE_RECORD_H
/*
 * The store's record of one module, a small text in modules/NAME. All editions of a
 * module are in one file, so a switch between them is one rename:
 *
 *   modserd-module 1
 *   current 7 <digest>           version and digest of an edition, then its details
 *   name <digest>                the registry's digest if it was requested by one
 *   attempts 1                   starts that have not succeeded yet
 *   file library 8240 <digest> deploy.so
 *   with workers 2               a load option
 *   previous 6 <digest>
 *   file ...
 *   bad <digest>                 an edition that failed; never reloaded automatically
 *   failed 8 <digest> why        the last failure, until another edition starts
 *   pinned                       keep previous even if space is needed
 */
#include "store/digest.h"
#include "store/store.h"

#define MSD_EDITION_FILES 16
#define MSD_EDITION_OPTIONS 24
#define MSD_RECORD_BAD 64              /* beyond it, the oldest entry is dropped */
#define MSD_RECORD_BYTES (64u * 1024u) /* maximum size of its text */
#define MSD_RECORD_WORD 256            /* size of a file name */
#define MSD_RECORD_VALUE 1040          /* size of an option's value */
#define MSD_RECORD_WHY 512             /* size of a failure text */

/* X(enumerator, word) */
#define MSD_REF_MAP(X)                                                                 \
	X(CURRENT, "current")     /* served after a start */                           \
	X(PREVIOUS, "previous")   /* rollback target */                                \
	X(CANDIDATE, "candidate") /* to be tried next */

enum msd_ref {
#define MSD_REF_ENUM(e, word) MSD_REF_##e,
	MSD_REF_MAP(MSD_REF_ENUM)
#undef MSD_REF_ENUM
		MSD_REF_COUNT
};

/* X(enumerator, word): the purpose of a file. Files from TEST on are stored but not
 * loaded. Files from MANIFEST on verify the others, and no manifest lists them. */
#define MSD_ROLE_MAP(X)                                                                \
	X(LIBRARY, "library")                                                          \
	X(GRAPH, "graph")                                                              \
	X(PARAMS, "params")                                                            \
	X(MODEL, "model")                                                              \
	X(DATA, "data")                                                                \
	X(TEST, "test")                                                                \
	X(MANIFEST, "manifest")                                                        \
	X(SIGNATURE, "signature")

enum msd_role {
#define MSD_ROLE_ENUM(e, word) MSD_ROLE_##e,
	MSD_ROLE_MAP(MSD_ROLE_ENUM)
#undef MSD_ROLE_ENUM
		MSD_ROLE_COUNT
};

struct msd_edition_file {
	enum msd_role role;
	uint64_t bytes;
	struct msd_digest digest;
	char name[MSD_RECORD_WORD]; /* name given by its maker, without a directory */
};

struct msd_edition_option {
	char key[32];
	char value[MSD_RECORD_VALUE];
};

/* One edition of a module: the files that are loaded together. */
struct msd_edition {
	uint64_t version;
	struct msd_digest digest; /* of its manifest, or of its single file */
	bool has_name;
	struct msd_digest name; /* registry digest that it was requested by */
	uint32_t attempts;
	uint32_t n_files, n_options;
	struct msd_edition_file files[MSD_EDITION_FILES];
	struct msd_edition_option options[MSD_EDITION_OPTIONS];
};

/* The last edition that did not start, or failed later. */
struct msd_failure {
	uint64_t version;
	struct msd_digest digest;
	char why[MSD_RECORD_WHY]; /* "" if none */
};

struct msd_record {
	struct msd_edition *editions[MSD_REF_COUNT]; /* owned; NULL if absent */
	struct msd_digest bad[MSD_RECORD_BAD];       /* oldest first */
	uint32_t n_bad;
	struct msd_failure failure;
	bool is_pinned;
};

/** "previous", ... Static. */
const char *msd_ref_word(enum msd_ref ref);
/** "library", ... Static. */
const char *msd_role_word(enum msd_role role);
/** True if the worker gets the file; false for files that are only stored. */
static inline bool msd_role_is_loaded(enum msd_role role)
{
	return role < MSD_ROLE_TEST;
}

/** Parse a record's text. Errors: MSD_BAD_ARTIFACT (naming the line), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_record_parse(struct msd_span text, struct msd_record *ret,
					struct msd_diag *d);
/** Append its text. */
void msd_record_write(const struct msd_record *r, struct msd_buf *out);
void msd_record_finish(struct msd_record *r);

/** The value of an option, NULL if it was not given. */
const char *msd_edition_option(const struct msd_edition *e, const char *key);
/** Add a file. MSD_TOO_LARGE (too many), MSD_BAD_REQUEST (a name with a slash, a
 * control character, or too long). */
MSD_MUST_CHECK msd_err msd_edition_add_file(struct msd_edition *e, enum msd_role role,
					    uint64_t bytes,
					    const struct msd_digest *digest,
					    struct msd_span name, struct msd_diag *d);
/** Add an option; the same limits. */
MSD_MUST_CHECK msd_err msd_edition_add_option(struct msd_edition *e, const char *key,
					      const char *value, struct msd_diag *d);

/**
 * Load the record of the module @name. Errors: MSD_NOT_FOUND, those of parse, MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_record_load(const struct msd_store *s, const char *name,
				       struct msd_record *ret, struct msd_diag *d);
/**
 * Replace the stored record; after a failure the old one remains. MSD_NO_SPACE,
 * MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_record_save(struct msd_store *s, const char *name,
				       const struct msd_record *r, struct msd_diag *d);
/**
 * Remove the module's record; its blobs stay until the next collection.
 * MSD_NOT_FOUND, MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_record_remove(struct msd_store *s, const char *name,
					 struct msd_diag *d);
/**
 * Call @each with every module's name, sorted, until it fails. MSD_NOT_FOUND from
 * @each is ignored: a daemon may remove a module during the walk.
 */
MSD_MUST_CHECK msd_err msd_record_each(const struct msd_store *s,
				       msd_err (*each)(void *ctx, const char *name,
						       struct msd_diag *d),
				       void *ctx, struct msd_diag *d);

#endif
