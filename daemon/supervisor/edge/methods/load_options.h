#ifndef MSD_SUPERVISOR_LOAD_OPTIONS_H
#define MSD_SUPERVISOR_LOAD_OPTIONS_H
/* The options of module.load and module.pull: the run options, which both have
 * (proto/words/run_options.h), and their own. */
#include "daemon/supervisor/module/life/catalog.h"

struct msd_method_call;

/** Return an option of the third parameter as raw msgpack; empty: it was not given. */
struct msd_span msd_load_options_raw(const struct msd_method_call *c, const char *key);
/**
 * Read the run options of the third parameter of @c; absent ones stay unchanged. @own
 * are the method's other options, up to MSD_OWN_OPTIONS, ended by NULL: all others are
 * refused. Errors: MSD_BAD_REQUEST, with the expected value; MSD_UNKNOWN_OPTION.
 */
#define MSD_OWN_OPTIONS 16u
MSD_MUST_CHECK msd_err msd_load_options_read(const struct msd_method_call *c,
					     const char *const *own,
					     struct msd_run_options *ret,
					     struct msd_diag *d);

struct msd_pull_options {
	bool has_digest; /* no other digest is accepted */
	struct msd_digest digest;
	bool tells_progress;
	struct msd_load
		how; /* load options without a source; the caller sets defaults */
};

/** Read the options of module.pull. Errors: those of msd_load_options_read(). */
MSD_MUST_CHECK msd_err msd_pull_options_read(const struct msd_method_call *c,
					     struct msd_pull_options *ret,
					     struct msd_diag *d);

#endif
