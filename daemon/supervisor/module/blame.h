#ifndef MSD_SUPERVISOR_BLAME_H
#define MSD_SUPERVISOR_BLAME_H
/* The peers whose calls cost a module its workers (bars.h decides what follows). */
#include "daemon/supervisor/module/culprits.h"
#include "daemon/supervisor/request/request.h"

#define MSD_BARS_MOST 3u /* losses that one connection, or deadlines, may cost */

struct msd_bars {
	struct msd_culprits late;        /* peers, by their deadlines */
	struct msd_culprits deadly;      /* peers, by any other loss */
	struct msd_culprits connections; /* of these */
	uint64_t until_ms;               /* none is barred from then on */
	uint32_t n_died; /* workers that died by themselves of peers' calls */
};

/* Whose call it was. */
struct msd_blame {
	struct msd_peer_id who; /* NOBODY: it is not known, or no call did it */
	uint64_t connection;    /* its number; 0: that is not known */
};

/** The peer of @r, with or without a client that is still there. */
static inline struct msd_blame msd_blame_of(const struct msd_req *r)
{
	const struct msd_client *c = r->client.who;

	return c != NULL ? (struct msd_blame){c->peer, c->number}
			 : (struct msd_blame){.who = r->client.peer};
}

#endif
