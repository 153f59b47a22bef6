#ifndef MSD_FETCH_GATE_H
#define MSD_FETCH_GATE_H
/* The addresses that an easy handle may talk to. They are judged when it connects, and
 * not by a name before, which may lead elsewhere by then; once more when it has a
 * connection, which may be an older one. */
#include <curl/curl.h>

#include "daemon/fetch/reach.h"

struct msd_gate {
	/* The owner's, borrowed as long as the handle is used. */
	const struct msd_reach *reach;
	const struct msd_uri *to;
	/* Its own. */
	bool is_barred;  /* no address may be talked to: a proxy would hide which */
	bool is_refused; /* an address was */
};

/** Set all that @easy needs to ask @to as @reach says, with @g between them. */
void msd_gate_set(struct msd_gate *g, const struct msd_reach *reach,
		  const struct msd_uri *to, CURL *easy);
/** Why it was refused. MSD_REFUSED. */
msd_err msd_gate_refuse(const struct msd_gate *g, struct msd_diag *d);

#endif
