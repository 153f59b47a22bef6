#ifndef MSD_WIRE_TLS_H
#define MSD_WIRE_TLS_H
/*
 * TLS, as the rest of the daemon knows it: a transport (transport.h) whose handshake is
 * stepped until it is done, and who the other side has proved to be by then.
 *
 * What speaks it is modserd-tls.so (daemon/tls/), which alone knows OpenSSL and is
 * opened by the first listener that wants it: libssl costs 4 MiB and 6 ms, which a
 * daemon without TLS does not pay. It is entered by one symbol, MSD_TLS_ENTRY, a struct
 * msd_tls_library.
 */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/wire/transport.h"
#include "proto/diag.h"

#define MSD_TLS_ENTRY "msd_tls_entry"
#define MSD_TLS_VERSION 4u /* of this header; both sides are built together */

#define MSD_TLS_DIGEST_BYTES 32u
#define MSD_TLS_NAME_MAX 255u   /* bytes of a name; a longer one ends the handshake */
#define MSD_TLS_MAX_SANS 32u    /* names of a certificate, likewise */
#define MSD_TLS_SANS_BYTES 2048 /* of them all with their NULs, likewise */

/*
 * Who is at the other side, by its certificate. The names are bytes of a certificate
 * that an authority of ours signed; they hold no NUL and no control character, and are
 * to be compared as they stand: a wildcard in them is a text like any other.
 */
struct msd_tls_peer {
	bool is_verified; /* else it showed no certificate, and all below is empty */
	uint8_t sha256[MSD_TLS_DIGEST_BYTES]; /* of the certificate, as DER */
	char cn[MSD_TLS_NAME_MAX + 1]; /* of the subject; "": it has none, or several */
	uint32_t n_sans;               /* DNS names, URIs and mail addresses */
	char sans[MSD_TLS_SANS_BYTES]; /* one behind the other, each with its NUL */
};

#define MSD_TLS_TIME_BYTES 21u /* 2026-11-23T12:00:00Z */
/* The server's own certificate. */
struct msd_tls_shown {
	uint8_t sha256[MSD_TLS_DIGEST_BYTES]; /* as DER */
	char until[MSD_TLS_TIME_BYTES];       /* when it expires */
	const char *fault; /* why clients will not take it; NULL: they may */
};

/* Whom the server believes. */
struct msd_tls_trust {
	/* Of the authorities, and of their lists of revoked certificates. */
	uint8_t ca[MSD_TLS_DIGEST_BYTES], crl[MSD_TLS_DIGEST_BYTES];
	char authorities[256];              /* their names; "": clients are not asked */
	char crl_until[MSD_TLS_TIME_BYTES]; /* when the first list expires; "": none */
};

/* PEM files. */
struct msd_tls_files {
	const char *cert; /* the chain, the server's own first */
	const char *key;
	const char *ca;       /* authorities of clients; NULL: clients are not asked */
	const char *crl;      /* of these, lists of revoked certificates; NULL: none */
	bool takes_strangers; /* with ca: who shows no certificate may come in, too */
};

/* What connections are made from: certificate, key, authorities. */
struct msd_tls_context;

struct msd_tls_library {
	uint32_t version; /* MSD_TLS_VERSION */
	/** Read the files. Errors: MSD_BAD_REQUEST, naming the file and what is wrong
	 * with it. */
	msd_err (*context_open)(const struct msd_tls_files *files,
				struct msd_tls_context **ret, struct msd_diag *d);
	void (*context_shows)(const struct msd_tls_context *c,
			      struct msd_tls_shown *ret);
	void (*context_trusts)(const struct msd_tls_context *c,
			       struct msd_tls_trust *ret);
	/** One context_close() more is due: for a thread that makes a connection of it.
	 */
	void (*context_hold)(struct msd_tls_context *c);
	/** On any thread. Legal while there are connections of it: they go on. NULL is
	 * fine. */
	void (*context_close)(struct msd_tls_context *c);
	/** The server's side of a connection on @fd, a connected socket that does not
	 * block and is the transport's from here on. On failure it stays the caller's.
	 * Takes as long as a hundred small requests, hence on any thread.
	 */
	msd_err (*accept)(struct msd_tls_context *c, int fd, struct msd_transport *ret,
			  struct msd_diag *d);
	/**
	 * Go on with the handshake: as much as what has come allows. MSD_WAIT: for what
	 * wants() names. MSD_OK: it is done, and t->peer says with whom. Else it has
	 * failed, with a text for people: MSD_IO (the other side has gone), MSD_REFUSED
	 * (for its certificate), MSD_PROTOCOL; then @t has no state any more, and its
	 * socket is the caller's again. On any thread, one at a time for each
	 * connection.
	 */
	msd_err (*handshake)(struct msd_transport *t, struct msd_diag *d);
	/** Whether @t, a connection of an earlier context whose handshake is done,
	 * would be let in by @c. MSD_REFUSED, with a text for people; MSD_NOMEM. */
	msd_err (*judge)(struct msd_tls_context *c, const struct msd_transport *t,
			 struct msd_diag *d);
};

#endif
