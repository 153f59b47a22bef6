#ifndef MSD_TLS_PARTS_H
#define MSD_TLS_PARTS_H
/* Declarations shared by the files of this directory; the daemon includes only
 * daemon/stream/tls.h. */
#include <openssl/ssl.h>

#include "daemon/stream/tls.h"

#define MSD_TLS_WHY_MAX 256u

/* One connection; msd_transport.state. */
struct msd_tls_stream {
	SSL *ssl;
	struct msd_tls_peer peer;
	char why[MSD_TLS_WHY_MAX]; /* the error; "" if none */
	bool is_refused;     /* because of its certificate, or because it has none */
	int ended;           /* -errno; 1 if the peer closed */
	bool is_open;        /* handshake done */
	bool is_dry;         /* nothing is buffered: an event reports the next data */
	bool waits_to_write; /* during the handshake, or while reading */
	uint32_t
		n_updates; /* key updates, minus those that later bytes have paid off */
	size_t update_bytes; /* bytes towards the next paid-off update */
};

/**
 * Read certificate, key and authorities into @ret. Implements
 * msd_tls_library.context_open.
 */
MSD_MUST_CHECK msd_err msd_tls_context_read(const struct msd_tls_files *files,
					    SSL_CTX **ret, struct msd_diag *d);
/** Describe the certificate that @ctx presents to clients. */
void msd_tls_shown_read(const SSL_CTX *ctx, struct msd_tls_shown *ret);
/** Format @time as in the log; "" if NULL. */
void msd_tls_time_write(const ASN1_TIME *time, char ret[static MSD_TLS_TIME_BYTES]);
/**
 * Read the certificate revocation lists of the file @path into @ctx, whose
 * authorities must have been read. Errors: MSD_BAD_REQUEST (the file, or a list that
 * is not in force).
 */
MSD_MUST_CHECK msd_err msd_tls_revoked_read(SSL_CTX *ctx, const char *path,
					    struct msd_diag *d);
/**
 * Store a description of the authorities of @ctx before other threads use its store.
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_tls_trust_keep(SSL_CTX *ctx, struct msd_diag *d);
/** Read the stored description. */
void msd_tls_trust_read(const SSL_CTX *ctx, struct msd_tls_trust *ret);
/** Implements msd_tls_library.judge. */
MSD_MUST_CHECK msd_err msd_tls_peer_judge(SSL_CTX *ctx, SSL *ssl, struct msd_diag *d);
/**
 * Read the names of @cert into @ret, all fields except is_verified. Errors:
 * MSD_REFUSED, for names that are not acceptable.
 */
MSD_MUST_CHECK msd_err msd_tls_names_read(X509 *cert, struct msd_tls_peer *ret,
					  struct msd_diag *d);
/**
 * Describe the last OpenSSL error of @ssl and clear the error queue. True if it is
 * about the peer's certificate.
 */
bool msd_tls_fault(const SSL *ssl, char ret[static MSD_TLS_WHY_MAX]);
/** Start to count the peer's key updates in @s; one too many ends reading. */
void msd_tls_updates_watch(struct msd_tls_stream *s);
/** @n bytes of the peer have arrived. */
void msd_tls_updates_note(struct msd_tls_stream *s, size_t n);
/** True if key updates ended reading. s->why has the text. */
bool msd_tls_updates_are_too_many(const struct msd_tls_stream *s);
/** Implements msd_tls_library.accept, with @ctx. */
MSD_MUST_CHECK msd_err msd_tls_stream_accept(SSL_CTX *ctx, int fd,
					     struct msd_transport *ret,
					     struct msd_diag *d);
/** Implements msd_tls_library.handshake. */
MSD_MUST_CHECK msd_err msd_tls_stream_handshake(struct msd_transport *t,
						struct msd_diag *d);

#endif
