#ifndef MSD_SUPERVISOR_CHANGES_H
#define MSD_SUPERVISOR_CHANGES_H
/* Differences between the options in force and the options that were read again. */
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/diag.h"

struct msd_option;
struct msd_options;
struct msd_preload;

struct msd_change {
	const struct msd_option *row; /* NULL: the change is about a module */
	/* For a module: its old and new section. NULL if the module did not exist
	 * before or no longer exists. Borrowed from the options. */
	const struct msd_preload *old, *module;
	bool waits;     /* takes effect at the next start */
	bool is_again;  /* the section is unchanged but not in effect */
	char *was, *is; /* in the file's syntax, for display; owned */
};

struct msd_changes {
	struct msd_change *each;
	uint32_t n;
};

/**
 * Compare @next with @now. Compare options that only a restart can apply with
 * @started, so that they are reported until the restart. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_changes_find(const struct msd_options *started,
					const struct msd_options *now,
					const struct msd_options *next,
					struct msd_changes *ret, struct msd_diag *d);
/**
 * Append the modules of @next whose sections equal those of @now and for which
 * @is_undone returns true: they do not serve by their section. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err
msd_changes_find_undone(const struct msd_options *now, const struct msd_options *next,
			bool (*is_undone)(const void *ctx, const char *name),
			const void *ctx, struct msd_changes *ret, struct msd_diag *d);
/** Call it after msd_changes_find(), also after a failure. */
void msd_changes_finish(struct msd_changes *c);
/**
 * The option's name ("max-upload-size") or "module"; msd_change_name() returns the
 * module's name.
 */
const char *msd_change_key(const struct msd_change *c);
/** The module's name, or NULL. */
const char *msd_change_name(const struct msd_change *c);

#endif
