#ifndef MSD_SUPERVISOR_IDENTITY_H
#define MSD_SUPERVISOR_IDENTITY_H
/*
 * What is known of who is at the other end of a connection: what the kernel says of a
 * unix socket's peer, the certificate that it has shown, the token that it has. Whose
 * all that is, the file of rights says: acl.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/err.h"

struct msd_digest;
struct msd_tls_peer;

struct msd_identity {
	bool has_user; /* at a unix socket: uid and gids are known */
	uint32_t uid;
	uint32_t *gids; /* owned; the effective one first */
	size_t n_gids;
	const struct msd_tls_peer
		*certificate;           /* a verified one; borrowed; NULL: none */
	const struct msd_digest *token; /* borrowed; NULL: none */
};

/** What the kernel says of whoever is at the other end of @fd; nothing where that is no
 * unix socket. False: out of memory. */
MSD_MUST_CHECK bool msd_identity_of_socket(int fd, struct msd_identity *ret);
void msd_identity_finish(struct msd_identity *i);
/** The user that the daemon runs as, or root, and nothing else was shown. */
bool msd_identity_is_operator(const struct msd_identity *i);

#endif
