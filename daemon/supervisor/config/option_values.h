#ifndef MSD_SUPERVISOR_OPTION_VALUES_H
#define MSD_SUPERVISOR_OPTION_VALUES_H
/*
 * The functions in the columns `read` and `write` of the option table: a pair for
 * each type of value (option_rows.h defines their contract). To add a type, add a
 * pair here.
 */
#include "daemon/supervisor/config/option_rows.h"
#include "proto/base/duration.h"

#define MSD_LIMIT_TEXT_MAX MSD_DURATION_TEXT_MAX
/** Format @value of an option that is a limit; returns @ret. */
const char *msd_option_limit_text(const struct msd_option *row, uint64_t value,
				  char ret[MSD_LIMIT_TEXT_MAX]);

/** Placeholder for the value of a limit: TIME, BYTES or N. */
const char *msd_option_limit_unit(const struct msd_option *row);

/** Set @d to say that @what was expected. */
static inline msd_err msd_option_expected(const char *what, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "expected %s", what);
}

#define MSD_OPTION_READ(type)                                                          \
	msd_err msd_option_read_##type(struct msd_options *o,                          \
				       const struct msd_option *row,                   \
				       const char *value, struct msd_diag *d)
#define MSD_OPTION_WRITE(type)                                                         \
	void msd_option_write_##type(const struct msd_options *o,                      \
				     const struct msd_option *row,                     \
				     struct msd_buf *ret)

MSD_OPTION_READ(limit);
MSD_OPTION_WRITE(limit);
MSD_OPTION_READ(threads);
MSD_OPTION_WRITE(threads);
MSD_OPTION_READ(mode);
MSD_OPTION_WRITE(mode);
MSD_OPTION_READ(flag);
MSD_OPTION_WRITE(flag);
MSD_OPTION_READ(path);
MSD_OPTION_WRITE(path);
MSD_OPTION_READ(listen);
MSD_OPTION_WRITE(listen);
MSD_OPTION_READ(http);
MSD_OPTION_WRITE(http);
MSD_OPTION_READ(rpc);
MSD_OPTION_READ(agents);
MSD_OPTION_WRITE(agents);
MSD_OPTION_READ(paths);
MSD_OPTION_WRITE(paths);
MSD_OPTION_READ(proxies);
MSD_OPTION_WRITE(proxies);
MSD_OPTION_READ(sandbox);
MSD_OPTION_WRITE(sandbox);
MSD_OPTION_READ(pull_from);
MSD_OPTION_WRITE(pull_from);
MSD_OPTION_READ(trust);
MSD_OPTION_WRITE(trust);
MSD_OPTION_READ(least);
MSD_OPTION_WRITE(least);
MSD_OPTION_READ(policy);
MSD_OPTION_WRITE(policy);
MSD_OPTION_READ(load);
MSD_OPTION_READ(check);
MSD_OPTION_READ(action);
#undef MSD_OPTION_READ
#undef MSD_OPTION_WRITE

#endif
