#ifndef MSD_WIRE_TLS_H
#define MSD_WIRE_TLS_H
/*
 * TLS as the rest of the daemon knows it: a transport (transport.h) with a handshake
 * in steps, and the verified identity of the other side.
 *
 * modserd-tls.so (daemon/tls/) implements it, and only that library knows OpenSSL.
 * The first listener that needs TLS opens it: libssl costs 4 MiB and 6 ms, which a
 * daemon without TLS does not pay. Its only entry point is the symbol MSD_TLS_ENTRY,
 * a struct msd_tls_library.
 */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/stream/transport.h"
#include "proto/base/diag.h"

#define MSD_TLS_ENTRY "msd_tls_entry"
#define MSD_TLS_VERSION 4u /* version of this header; both sides are built together */

#define MSD_TLS_DIGEST_BYTES 32u
#define MSD_TLS_NAME_MAX 255u   /* bytes of a name; a longer one ends the handshake */
#define MSD_TLS_MAX_SANS 32u    /* names of a certificate; more end the handshake */
#define MSD_TLS_SANS_BYTES 2048 /* all names with NULs; more end the handshake */

/*
 * Identity of the other side, from its certificate. The names are bytes of a
 * certificate that a configured authority signed. They hold no NUL and no control
 * character. Compare them literally: a wildcard has no special meaning.
 */
struct msd_tls_peer {
	bool is_verified; /* false: no certificate was shown, and all fields below are
			     empty */
	uint8_t sha256[MSD_TLS_DIGEST_BYTES]; /* over the certificate's DER form */
	char cn[MSD_TLS_NAME_MAX + 1]; /* subject's common name; "": none, or several */
	uint32_t n_sans;               /* DNS names, URIs and mail addresses */
	char sans[MSD_TLS_SANS_BYTES]; /* concatenated, each with its NUL */
};

#define MSD_TLS_TIME_BYTES 21u /* 2026-11-23T12:00:00Z */
/* The server's own certificate. */
struct msd_tls_shown {
	uint8_t sha256[MSD_TLS_DIGEST_BYTES]; /* over the certificate's DER form */
	char until[MSD_TLS_TIME_BYTES];       /* expiry time */
	const char *fault; /* why clients will reject it; NULL: they may accept it */
};

/* Authorities that the server trusts. */
struct msd_tls_trust {
	/* Digests of the authorities, and of their lists of revoked certificates. */
	uint8_t ca[MSD_TLS_DIGEST_BYTES], crl[MSD_TLS_DIGEST_BYTES];
	char authorities[256]; /* their names; "": no client certificates wanted */
	char crl_until[MSD_TLS_TIME_BYTES]; /* expiry of the first list; "": none */
};

/* PEM files. */
struct msd_tls_files {
	const char *cert; /* the chain, the server's own certificate first */
	const char *key;
	const char *ca;  /* authorities of clients; NULL: client certificates are not
			    requested */
	const char *crl; /* lists of revoked certificates of these; NULL: none */
	bool takes_strangers; /* with ca: clients without a certificate are accepted,
				 too */
};

/* Settings for connections: certificate, key, authorities. */
struct msd_tls_context;

struct msd_tls_library {
	uint32_t version; /* MSD_TLS_VERSION */
	/**
	 * Read the files. Errors: MSD_BAD_REQUEST, which names the file and its
	 * error.
	 */
	msd_err (*context_open)(const struct msd_tls_files *files,
				struct msd_tls_context **ret, struct msd_diag *d);
	void (*context_shows)(const struct msd_tls_context *c,
			      struct msd_tls_shown *ret);
	void (*context_trusts)(const struct msd_tls_context *c,
			       struct msd_tls_trust *ret);
	/**
	 * Take a reference, for a thread that makes a connection of it; needs one
	 * more context_close().
	 */
	void (*context_hold)(struct msd_tls_context *c);
	/**
	 * Release a reference. Any thread. Legal while connections of it exist: they
	 * stay open. NULL is allowed.
	 */
	void (*context_close)(struct msd_tls_context *c);
	/**
	 * Make the server's side of a connection on @fd, a connected non-blocking
	 * socket. The transport takes @fd; on failure it stays the caller's. Takes as
	 * long as a hundred small requests, so it may run on any thread.
	 */
	msd_err (*accept)(struct msd_tls_context *c, int fd, struct msd_transport *ret,
			  struct msd_diag *d);
	/**
	 * Continue the handshake with the received bytes. MSD_WAIT: wait for the
	 * events of wants(). MSD_OK: it is done, and t->peer is the identity.
	 * Otherwise it has failed, with a text for people: MSD_IO (the other side has
	 * closed), MSD_REFUSED (for its certificate), MSD_PROTOCOL; then @t has no
	 * state any more, and the caller owns the socket again. Any thread, one at a
	 * time per connection.
	 */
	msd_err (*handshake)(struct msd_transport *t, struct msd_diag *d);
	/**
	 * Check whether @c would accept @t, a connection of an earlier context whose
	 * handshake is done. MSD_REFUSED, with a text for people; MSD_NOMEM.
	 */
	msd_err (*judge)(struct msd_tls_context *c, const struct msd_transport *t,
			 struct msd_diag *d);
};

#endif
