#ifndef MSD_SUPERVISOR_PROXY_HEAD_H
#define MSD_SUPERVISOR_PROXY_HEAD_H
/*
 * The header that a proxy sends at the beginning of a connection to name its client:
 * the PROXY protocol, version 2 (haproxy's doc/proxy-protocol.txt). The parser gets
 * bytes and returns an address; it does not read a socket. The caller gives it at
 * most the number of bytes that it wants, so that it takes no bytes after the header.
 *
 *   signature 12 | version, command 1 | family, protocol 1 | length 2 | addresses, TLVs
 */
#include "daemon/supervisor/request/peer_id.h"
#include "proto/base/diag.h"

#define MSD_PROXY_HEAD_FIXED 16u
/* Its length field may be larger; this is enough for all data that haproxy can add
 * (names, an id, certificate data). */
#define MSD_PROXY_HEAD_MAX 2048u

struct msd_proxy_head {
	uint8_t bytes[MSD_PROXY_HEAD_MAX];
	size_t n; /* bytes received */
};

/* The client of a connection. */
struct msd_proxied {
	/* Empty: a health check of the proxy itself. */
	struct msd_peer_id client;
	bool is_sealed; /* protected between client and proxy: TLS, or the same machine
			 */
};

/** Number of bytes that may be appended to the @h->n bytes; 0: none. */
size_t msd_proxy_head_wants(const struct msd_proxy_head *h);
/**
 * Parse the received bytes. Errors: MSD_WAIT (more bytes are needed), MSD_REFUSED (it
 * does not begin as a header), MSD_PROTOCOL (the header is not valid).
 */
MSD_MUST_CHECK msd_err msd_proxy_head_read(const struct msd_proxy_head *h,
					   struct msd_proxied *ret, struct msd_diag *d);

#endif
