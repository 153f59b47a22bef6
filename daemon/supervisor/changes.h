#ifndef MSD_SUPERVISOR_CHANGES_H
#define MSD_SUPERVISOR_CHANGES_H
/* What differs between the options that are in force and those that were read again. */
#include <stdbool.h>
#include <stdint.h>

#include "proto/diag.h"

struct msd_option;
struct msd_options;
struct msd_preload;

struct msd_change {
	const struct msd_option *row; /* NULL: it is a module */
	/* Of a module: what was said of it and what is; NULL: it was not there, it is
	 * there no more. Borrowed from the options. */
	const struct msd_preload *old, *module;
	bool waits;     /* for the next start */
	bool is_again;  /* a module's section says what it said, and is not done */
	char *was, *is; /* as a file has them, for people; owned */
};

struct msd_changes {
	struct msd_change *each;
	uint32_t n;
};

/**
 * Compare @next with @now; with @started where only a start can take a change over, so
 * that it is told until then. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_changes_find(const struct msd_options *started,
					const struct msd_options *now,
					const struct msd_options *next,
					struct msd_changes *ret, struct msd_diag *d);
/** Add the modules of @next whose sections say what those of @now said and of whom
 * @is_undone tells that they do not serve so. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err
msd_changes_find_undone(const struct msd_options *now, const struct msd_options *next,
			bool (*is_undone)(const void *ctx, const char *name),
			const void *ctx, struct msd_changes *ret, struct msd_diag *d);
/** After msd_changes_find(), in every case. */
void msd_changes_finish(struct msd_changes *c);
/** "max-upload", "module": what kind of thing; msd_change_name() tells of modules. */
const char *msd_change_key(const struct msd_change *c);
/** The module's name, or NULL. */
const char *msd_change_name(const struct msd_change *c);

#endif
