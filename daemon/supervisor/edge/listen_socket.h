#ifndef MSD_SUPERVISOR_LISTEN_SOCKET_H
#define MSD_SUPERVISOR_LISTEN_SOCKET_H
/* The socket of a listener. */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/principal.h"
#include "daemon/wire/transport.h"

struct msd_client_peer;

/** Takes over a connection of @who, with @peer's reference and place at the door. */
typedef void msd_enter(struct msd_edge *e, struct msd_transport transport,
		       struct msd_principal who, struct msd_client_peer *peer);

/** Takes over @fd, by which @who has connected; @about: msd_listen_options'. */
typedef void msd_enter_plain(struct msd_edge *e, int fd, struct msd_principal who,
			     const char *about);

struct msd_listen_options {
	bool insecure_tcp; /* addresses beyond loopback are allowed */
	bool asks_names;   /* on TLS: whoever comes must show a certificate, or has the
			    * rights alone that a file gives to anybody */
	unsigned socket_mode;
	/** Who does not speak the protocol there. NULL: they do. */
	msd_enter_plain *enter;
	msd_enter *enter_tls; /* the same of who has come by TLS; with @enter */
	const char *about;    /* for @enter */
	const char *scheme;   /* what they speak, in its address; with @enter */
	bool is_of_proxies;   /* they come for themselves: there is no gate */
	/* Of sockets that are handed over: what speaks TLS is one of these. */
	const struct msd_address *wanted;
	uint32_t n_wanted;
};

/**
 * Make a socket that listens on @a, whose port becomes what the system chose where it
 * is 0. A socket file that no program has any more is replaced. Errors: MSD_REFUSED
 * (beyond loopback; a directory that is not the user's own), MSD_EXISTS (another
 * program has a socket there, or something else is there), MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_listen_socket_open(struct msd_address *a,
					      const struct msd_listen_options *options,
					      int *ret_fd, struct msd_diag *d);
/** Whether @a may be listened on at all, of which nothing is opened here. MSD_REFUSED
 * (beyond loopback), MSD_IO (nobody knows the name). */
MSD_MUST_CHECK msd_err msd_listen_socket_check(const struct msd_address *a,
					       const struct msd_listen_options *options,
					       struct msd_diag *d);
/**
 * The address that @fd, which was handed over, listens on, in numbers; what does not
 * listen is nobody's door. Errors: MSD_BAD_REQUEST (it is none), MSD_REFUSED (beyond
 * loopback).
 */
MSD_MUST_CHECK msd_err
msd_listen_socket_inherited(int fd, const struct msd_listen_options *options,
			    struct msd_address *ret, struct msd_diag *d);

#endif
