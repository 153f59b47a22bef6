#ifndef MSD_SUPERVISOR_PROXY_ACCEPT_H
#define MSD_SUPERVISOR_PROXY_ACCEPT_H
/*
 * PROXY accept: with --proxy-from, connections from those addresses begin with a
 * header that names the client (request/proxy_head.h); other connections must not. A
 * connection uses a slot of its source address until the client is known.
 */
#include "daemon/supervisor/edge/access/principal.h"
#include "daemon/supervisor/edge/counts.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen/listen_socket.h"
#include "daemon/supervisor/request/network.h"

/* The next stage for connections of a listener. */
struct msd_accept_path {
	enum msd_address_kind kind;
	/* msd_listen_options. */
	msd_enter_plain *enter;
	msd_enter *enter_tls;
	const char *about;
	bool is_of_proxies;
};

/** True if trusted proxies are configured. */
static inline bool msd_proxy_accept_is_there(const struct msd_edge *e)
{
	return e->proxies != NULL && e->proxies->n > 0;
}
/**
 * Pass the connection @fd to the stage @way: at once, or in a later loop iteration
 * with the client of the proxy in @who. Takes @fd.
 */
void msd_proxy_accept_enter(struct msd_edge *e, int fd, struct msd_principal who,
			    const struct msd_accept_path *way);
/** Close all connections of this stage. They are freed after some loop iterations. */
void msd_proxy_accept_close(struct msd_edge *e);
/** "forged", ... */
const char *msd_proxy_accept_fault_word(enum msd_proxy_accept_fault fault);

#endif
