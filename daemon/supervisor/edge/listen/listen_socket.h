#ifndef MSD_SUPERVISOR_LISTEN_SOCKET_H
#define MSD_SUPERVISOR_LISTEN_SOCKET_H
/* Creates or checks the socket of a listener. */
#include "daemon/stream/transport.h"
#include "daemon/supervisor/edge/access/principal.h"
#include "daemon/supervisor/edge/edge.h"

struct msd_client_peer;

/**
 * Takes over a connection of @who, together with the reference and the connection
 * slot of @peer.
 */
typedef void msd_enter(struct msd_edge *e, struct msd_transport transport,
		       struct msd_principal who, struct msd_client_peer *peer);

/** Takes over the connection @fd of @who. @about: msd_listen_options.about. */
typedef void msd_enter_plain(struct msd_edge *e, int fd, struct msd_principal who,
			     const char *about);

struct msd_listen_options {
	bool insecure_tcp; /* addresses beyond loopback are allowed */
	bool asks_names;   /* for TLS: a client without a certificate has only the
			      anonymous rights of the ACL file */
	unsigned socket_mode;
	/** Handler for another protocol. NULL: the daemon's protocol. */
	msd_enter_plain *enter;
	msd_enter *enter_tls; /* the same for TLS connections; set with @enter */
	const char *about;    /* argument of @enter */
	const char *scheme;   /* name of the protocol in the address; set with @enter */
	bool is_of_proxies;   /* the proxies themselves connect: no PROXY header is
				 expected */
	/* Configured addresses, which say which inherited sockets use TLS. */
	const struct msd_address *wanted;
	uint32_t n_wanted;
};

/**
 * Create a socket that listens on @a. Port 0 is replaced by the port that the system
 * chose. A socket file that no program uses is replaced. Errors: MSD_REFUSED (beyond
 * loopback; the directory does not belong to the user), MSD_EXISTS (another program
 * has a socket there, or another file exists), MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_listen_socket_open(struct msd_address *a,
					      const struct msd_listen_options *options,
					      int *ret_fd, struct msd_diag *d);
/**
 * Check whether a listener on @a is allowed, without opening it. Errors: MSD_REFUSED
 * (beyond loopback), MSD_IO (the name cannot be resolved).
 */
MSD_MUST_CHECK msd_err msd_listen_socket_check(const struct msd_address *a,
					       const struct msd_listen_options *options,
					       struct msd_diag *d);
/**
 * Return the numeric address of the inherited socket @fd. Errors: MSD_BAD_REQUEST
 * (not a listening socket), MSD_REFUSED (beyond loopback).
 */
MSD_MUST_CHECK msd_err
msd_listen_socket_inherited(int fd, const struct msd_listen_options *options,
			    struct msd_address *ret, struct msd_diag *d);
/** True if the inherited socket @fd listens on @a, whose host is written in numbers. */
bool msd_listen_socket_is_at(int fd, const struct msd_address *a);

#endif
