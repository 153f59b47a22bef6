#ifndef MSD_SUPERVISOR_BLAME_H
#define MSD_SUPERVISOR_BLAME_H
/* The peers whose calls cost a module its workers (bans.h decides what follows). */
#include "daemon/supervisor/module/queue/culprits.h"
#include "daemon/supervisor/request/request.h"

#define MSD_BANS_MOST 3u /* losses that one connection, or deadlines, may cost */

struct msd_bans {
	struct msd_culprits late;        /* peers, losses by their deadlines */
	struct msd_culprits deadly;      /* peers, all other losses */
	struct msd_culprits connections; /* connections, all other losses */
	uint64_t until_ms;               /* no ban lasts longer */
	uint32_t n_died; /* workers that died by themselves of peers' calls */
};

/* The origin of a call. */
struct msd_blame {
	struct msd_peer_id who; /* MSD_PEER_NOBODY: unknown, or not caused by a call */
	uint64_t connection;    /* connection number; 0: unknown */
};

/** Return the origin of @r, with or without its client set. */
static inline struct msd_blame msd_blame_of(const struct msd_req *r)
{
	const struct msd_client *c = r->client.who;

	return c != NULL ? (struct msd_blame){c->peer, c->number}
			 : (struct msd_blame){.who = r->client.peer};
}

#endif
