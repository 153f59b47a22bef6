#ifndef MSD_STORE_RECORD_H
#define MSD_STORE_RECORD_H
/*
 * What the store knows of one module, a small text in modules/NAME. All of a module's
 * editions stand in one file, so that a switch from one to another is one rename:
 *
 *   modserd-module 1
 *   current 7 <digest>            version and digest of an edition, then what it needs
 *   name <digest>                 by which a registry was asked for it: @sha256:
 *   attempts 1                    starts of it that were begun and not yet called good
 *   file library 8240 <digest> deploy.so
 *   with workers 2                an option of its load
 *   previous 6 <digest>
 *   file ...
 *   bad <digest>                  an edition that failed; never loaded again by itself
 *   failed 8 <digest> why         the last of them, until another one comes up
 *   pinned                        previous is kept when room is needed, too
 */
#include "store/digest.h"
#include "store/store.h"

#define MSD_EDITION_FILES 16
#define MSD_EDITION_OPTIONS 16
#define MSD_RECORD_BAD 64              /* the oldest is forgotten */
#define MSD_RECORD_BYTES (64u * 1024u) /* of its text */
#define MSD_RECORD_WORD 256            /* bytes of a file's name */
#define MSD_RECORD_VALUE 1040          /* bytes of an option's value */
#define MSD_RECORD_WHY 512             /* bytes of why an edition failed */

/* X(enumerator, word) */
#define MSD_REF_MAP(X)                                                                 \
	X(CURRENT, "current")     /* what is served after a start */                   \
	X(PREVIOUS, "previous")   /* what is gone back to */                           \
	X(CANDIDATE, "candidate") /* what is to be tried */

enum msd_ref {
#define MSD_REF_ENUM(e, word) MSD_REF_##e,
	MSD_REF_MAP(MSD_REF_ENUM)
#undef MSD_REF_ENUM
		MSD_REF_COUNT
};

/* X(enumerator, word): what a file is for. From TEST on it is kept beside what is
 * loaded; from MANIFEST on it is what vouches for that, and no manifest lists it. */
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
	char name[MSD_RECORD_WORD]; /* as its maker called it; no path */
};

struct msd_edition_option {
	char key[32];
	char value[MSD_RECORD_VALUE];
};

/* One edition of a module: what is loaded together. */
struct msd_edition {
	uint64_t version;
	struct msd_digest digest; /* of its manifest, or of its one file */
	bool has_name;
	struct msd_digest name; /* by which a registry was asked for it */
	uint32_t attempts;
	uint32_t n_files, n_options;
	struct msd_edition_file files[MSD_EDITION_FILES];
	struct msd_edition_option options[MSD_EDITION_OPTIONS];
};

/* The last edition that did not come up, or did not hold. */
struct msd_failure {
	uint64_t version;
	struct msd_digest digest;
	char why[MSD_RECORD_WHY]; /* "": there is none */
};

struct msd_record {
	struct msd_edition *editions[MSD_REF_COUNT]; /* owned; NULL: there is none */
	struct msd_digest bad[MSD_RECORD_BAD];       /* the oldest first */
	uint32_t n_bad;
	struct msd_failure failure;
	bool is_pinned;
};

/** "previous", ... Static. */
const char *msd_ref_word(enum msd_ref ref);
/** "library", ... Static. */
const char *msd_role_word(enum msd_role role);
/** A worker gets it: it is none of those that are only kept beside. */
static inline bool msd_role_is_loaded(enum msd_role role)
{
	return role < MSD_ROLE_TEST;
}

/** Read a record's text. Errors: MSD_BAD_ARTIFACT (naming the line), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_record_parse(struct msd_span text, struct msd_record *ret,
					struct msd_diag *d);
/** Append its text. */
void msd_record_write(const struct msd_record *r, struct msd_buf *out);
void msd_record_finish(struct msd_record *r);

/** The value of an option, NULL when it was not given. */
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

/** The record of the module @name. Errors: MSD_NOT_FOUND, those of parse, MSD_IO. */
MSD_MUST_CHECK msd_err msd_record_load(const struct msd_store *s, const char *name,
				       struct msd_record *ret, struct msd_diag *d);
/** Put it in place of what is there; the old one stands after a failure. MSD_NO_SPACE,
 * MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_record_save(struct msd_store *s, const char *name,
				       const struct msd_record *r, struct msd_diag *d);
/** Forget the module; its files stay until they are collected. MSD_NOT_FOUND, MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_record_remove(struct msd_store *s, const char *name,
					 struct msd_diag *d);
/** Call @each with every module's name, sorted, until it fails. MSD_NOT_FOUND is none
 * of its failures: a daemon may forget a module while somebody else reads the others.
 */
MSD_MUST_CHECK msd_err msd_record_each(const struct msd_store *s,
				       msd_err (*each)(void *ctx, const char *name,
						       struct msd_diag *d),
				       void *ctx, struct msd_diag *d);

#endif
