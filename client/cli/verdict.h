#ifndef MSD_CLI_VERDICT_H
#define MSD_CLI_VERDICT_H
/*
 * Whether a daemon will run an artifact, from what both say of themselves: nothing is
 * loaded and nothing is run.
 */
#include "artifact/inspect/inspect.h"
#include "artifact/params/params.h"
#include "client/modser.h"

struct msd_verdict {
	struct msd_buf reasons; /* why not, a line each; empty: it will run */
	struct msd_buf unknown; /* what could not be told, a line each */
};

/**
 * Judge @i, which msd_inspect_resolve() has seen, by @info, the answer to server.info.
 * @is_local: the daemon is on this machine, so that it has this machine's libraries.
 * @params: what would be loaded beside it; NULL: nothing.
 * The caller finishes *@ret in any case. Errors: MSD_UNSUPPORTED: the daemon does not
 * say what it runs; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_verdict_find(const struct msd_inspect *i,
					const modser_value *info,
					const struct msd_params *params, bool is_local,
					struct msd_verdict *ret, struct msd_diag *d);
void msd_verdict_finish(struct msd_verdict *v);
/** One line for people, and a line for each reason; or JSON. @host NULL: "the daemon".
 */
void msd_verdict_text(const struct msd_verdict *v, const char *host,
		      struct msd_buf *out);
void msd_verdict_json(const struct msd_verdict *v, struct msd_buf *out);

#endif
