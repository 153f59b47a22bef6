#ifndef MSD_SUPERVISOR_GATE_H
#define MSD_SUPERVISOR_GATE_H
/*
 * Where connections stand until it is known whose they are: with --proxy-from, what
 * comes from one of those addresses begins with a header that says so
 * (request/proxy_head.h), and nobody else's does. They have their places among the
 * connections from the beginning, as those of the address that they come from.
 */
#include "daemon/supervisor/edge/counts.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen_socket.h"
#include "daemon/supervisor/edge/principal.h"
#include "daemon/supervisor/request/network.h"

/* Where a listener leads. */
struct msd_way {
	enum msd_address_kind kind;
	/* msd_listen_options. */
	msd_enter_plain *enter;
	msd_enter *enter_tls;
	const char *about;
	bool is_of_proxies;
};

/** There are trusted proxies. */
static inline bool msd_gate_is_there(const struct msd_edge *e)
{
	return e->proxies != NULL && e->proxies->n > 0;
}
/** Somebody has connected by @fd, which is the gate's from here on, and goes where @way
 * leads: at once, or with @who's client known on a later turn. */
void msd_gate_enter(struct msd_edge *e, int fd, struct msd_principal who,
		    const struct msd_way *way);
/** End all that are there; they are gone after some turns of the loop. */
void msd_gate_close(struct msd_edge *e);
/** "forged", ... */
const char *msd_gate_fault_word(enum msd_gate_fault fault);

#endif
