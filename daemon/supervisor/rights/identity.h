#ifndef MSD_SUPERVISOR_IDENTITY_H
#define MSD_SUPERVISOR_IDENTITY_H
/*
 * The credentials of the peer of a connection: the user of a unix socket's peer from
 * the kernel, the certificate and the token. The ACL file maps them to a user: acl.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

struct msd_digest;
struct msd_tls_peer;

struct msd_identity {
	bool has_user; /* unix socket: uid and gids are valid */
	uint32_t uid;
	uint32_t *gids; /* owned; the effective gid first */
	size_t n_gids;
	const struct msd_tls_peer *certificate; /* verified; borrowed; NULL if absent */
	const struct msd_digest *token;         /* borrowed; NULL if absent */
};

/**
 * Read the credentials of the peer of @fd from the kernel. Empty if @fd is not a unix
 * socket. False: out of memory.
 */
MSD_MUST_CHECK bool msd_identity_of_socket(int fd, struct msd_identity *ret);
void msd_identity_finish(struct msd_identity *i);
/** True for the daemon's own user and root, if no other credential was presented. */
bool msd_identity_is_operator(const struct msd_identity *i);

#endif
