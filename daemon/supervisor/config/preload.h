#ifndef MSD_SUPERVISOR_PRELOAD_H
#define MSD_SUPERVISOR_PRELOAD_H
/*
 * `--load NAME=FILE[,KEY=VALUE]...`, or `module NAME {file = FILE KEY = VALUE ...}`
 * of a configuration file. The daemon loads such a module at its start from local
 * files; a section may instead name a `source` (source_poller.h). preload_keys.c
 * contains the table of keys.
 */
#include <stdint.h>

#include "daemon/supervisor/fetch/fetch_options.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/words/run_options.h"

#define MSD_SECTION_KEYS 11u /* in addition to the run options */
#define MSD_PRELOAD_KEYS (MSD_RUN_KEYS + MSD_SECTION_KEYS)

struct msd_module_registry;
struct msd_load;
struct msd_said;

/* Strings point into `text`, or are borrowed from the caller. */
struct msd_preload {
	char *text; /* owned, for the command line or for the keys of one load; NULL:
		       from a configuration file */
	const char *origin; /* origin, for display */
	const char *name;
	const char *file;   /* NULL: the source provides it */
	const char *source; /* a URI that the daemon polls; NULL if absent */
	uint64_t poll_ms;   /* poll interval; 0: never */
	struct msd_fetch_options terms;
	const char *graph; /* separate file of the library; NULL if absent */
	const char *params;
	const char *with; /* files of a model, separated by ':'; NULL if absent */
	struct msd_run_options run;
	const char *values[MSD_PRELOAD_KEYS]; /* values of the keys, as given */
};

/**
 * Parse the option's value. Call msd_preload_finish() in every case. Errors:
 * MSD_BAD_REQUEST (the text says what was expected), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_preload_read(const char *text, struct msd_preload *ret,
					struct msd_diag *d);
/**
 * Set one key; @value is borrowed. Options from the store are read the same way.
 * Errors: MSD_BAD_REQUEST, also for a repeated key.
 */
MSD_MUST_CHECK msd_err msd_preload_set(struct msd_preload *p, const char *key,
				       const char *value, struct msd_diag *d);
/**
 * Copy the keys of @said. Only keys that say how a module runs are allowed, not its
 * files or its permissions. Call msd_preload_finish() in every case. Errors:
 * MSD_BAD_REQUEST (the text names the key and what was expected), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_preload_say(const struct msd_said *said, uint32_t n,
				       struct msd_preload *ret, struct msd_diag *d);
/**
 * Combine @base with the keys of @more, which override it. @ret owns nothing and
 * borrows from both. Errors: MSD_BAD_REQUEST (the keys conflict).
 */
MSD_MUST_CHECK msd_err msd_preload_merge(const struct msd_preload *base,
					 const struct msd_preload *more,
					 struct msd_preload *ret, struct msd_diag *d);
bool msd_preload_has_keys(const struct msd_preload *p);
/** The name of the key @i of MSD_PRELOAD_KEYS. Static. */
const char *msd_preload_key(unsigned i);
/** Its former name, which is accepted and not shown; NULL if it has none. Static. */
const char *msd_preload_former(unsigned i);
/** The name of the key that is or was called @key; NULL: no such key. Static. */
const char *msd_preload_shown(const char *key);
/** True if the key needs `source`. */
bool msd_preload_is_of_source(unsigned i);
bool msd_preload_has_key(const char *key);
/** True if the key says how a module runs, not its files or its permissions. */
bool msd_preload_is_how(const char *key);
/**
 * A hash of the whole section: different sections have different numbers. 0: it is
 * not a section, only keys.
 */
uint64_t msd_preload_section(const struct msd_preload *p);
/** Set the options of the load, without its files: the other fields of @ret are zero.
 */
void msd_preload_options(const struct msd_preload *p, struct msd_load *ret);
/** Check that its keys do not conflict. Errors: MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_preload_check(const struct msd_preload *p,
					 struct msd_diag *d);
/**
 * Append the module in the syntax of the configuration file, on one line without
 * newline.
 */
void msd_preload_write(const struct msd_preload *p, struct msd_buf *ret);
/** Free the text; may be called more than once. */
void msd_preload_finish(struct msd_preload *p);
/**
 * Load its file. If @replace is set, it replaces a module of the same name. Errors:
 * those of msd_module_load().
 */
MSD_MUST_CHECK msd_err msd_preload_load(struct msd_module_registry *registry,
					const struct msd_preload *p, bool replace,
					struct msd_diag *d);
/**
 * The same, but a failed load does not stop the daemon: a module that serves is kept,
 * or the module is FAILED, with the cause. The error is logged and set in @d.
 */
msd_err msd_preload_start(struct msd_module_registry *registry,
			  const struct msd_preload *p, bool replace,
			  struct msd_diag *d);

#endif
