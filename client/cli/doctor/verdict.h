#ifndef MSD_CLI_VERDICT_H
#define MSD_CLI_VERDICT_H
/* Predicts whether a daemon can run an artifact, from the descriptions of both;
 * nothing is loaded or run. */
#include "artifact/inspect/inspect.h"
#include "artifact/params/params.h"
#include "client/modser.h"

struct msd_verdict {
	struct msd_buf reasons; /* reasons against, one a line; empty: it will run */
	struct msd_buf unknown; /* facts that could not be checked, one a line */
};

/**
 * Judge @i, which msd_inspect_resolve() has processed, by @info, the answer to
 * server.info. @is_local: the daemon is on this machine, so it has this machine's
 * libraries. @params: params to load with it; NULL: none. The caller finishes *@ret
 * in any case. Errors: MSD_UNSUPPORTED: the daemon does not report what it can run;
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_verdict_find(const struct msd_inspect *i,
					const modser_value *info,
					const struct msd_params *params, bool is_local,
					struct msd_verdict *ret, struct msd_diag *d);
void msd_verdict_finish(struct msd_verdict *v);
/**
 * Append a summary line for people, and a line for each reason; or JSON. @host NULL:
 * "the daemon".
 */
void msd_verdict_text(const struct msd_verdict *v, const char *host,
		      struct msd_buf *out);
void msd_verdict_json(const struct msd_verdict *v, struct msd_buf *out);

#endif
