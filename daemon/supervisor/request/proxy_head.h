#ifndef MSD_SUPERVISOR_PROXY_HEAD_H
#define MSD_SUPERVISOR_PROXY_HEAD_H
/*
 * What a proxy says at the beginning of a connection about whose it is: the PROXY
 * protocol, version 2 (haproxy's doc/proxy-protocol.txt). Bytes in, an address out: it
 * reads no socket. Never more bytes than wanted are given to it, so that none of what
 * follows are taken.
 *
 *   signature 12 | version, command 1 | family, protocol 1 | length 2 | addresses, TLVs
 */
#include "daemon/supervisor/request/peer_id.h"
#include "proto/diag.h"

#define MSD_PROXY_HEAD_FIXED 16u
/* Its length may say more: what haproxy can add (names, an id, what a certificate says)
 * has room. */
#define MSD_PROXY_HEAD_MAX 2048u

struct msd_proxy_head {
	uint8_t bytes[MSD_PROXY_HEAD_MAX];
	size_t n; /* that have come */
};

/* Whose a connection is. */
struct msd_proxied {
	/* Nobody: the proxy's own, which asks whether it is served. */
	struct msd_peer_id client;
	bool is_sealed; /* between client and proxy nobody can read: TLS, or one machine
			 */
};

/** How many bytes may be put behind the @h->n that are there; 0: none. */
size_t msd_proxy_head_wants(const struct msd_proxy_head *h);
/** Look at what has come. Errors: MSD_WAIT (more is wanted), MSD_REFUSED (it does not
 * begin as a header does), MSD_PROTOCOL (it is a wrong one). */
MSD_MUST_CHECK msd_err msd_proxy_head_read(const struct msd_proxy_head *h,
					   struct msd_proxied *ret, struct msd_diag *d);

#endif
