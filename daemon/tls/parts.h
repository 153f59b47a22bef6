#ifndef MSD_TLS_PARTS_H
#define MSD_TLS_PARTS_H
/* What the files of this folder share; the daemon knows daemon/wire/tls.h alone. */
#include <openssl/ssl.h>

#include "daemon/wire/tls.h"

#define MSD_TLS_WHY_MAX 256u

/* One connection; msd_transport.state. */
struct msd_tls_stream {
	SSL *ssl;
	struct msd_tls_peer peer;
	char why[MSD_TLS_WHY_MAX]; /* it is broken; "": it is not */
	bool is_refused;           /* that is for its certificate, or for want of one */
	int ended;                 /* -errno; 1: the other side has said its end */
	bool is_open;              /* its handshake is done */
	bool is_dry;         /* it holds nothing: what comes next is told by an event */
	bool waits_to_write; /* the handshake, or reading */
	uint32_t n_updates;  /* of its keys, less those that bytes have paid for */
	size_t update_bytes; /* towards the next of these */
};

/** Read certificate, key and authorities into @ret. As msd_tls_library.context_open. */
MSD_MUST_CHECK msd_err msd_tls_context_read(const struct msd_tls_files *files,
					    SSL_CTX **ret, struct msd_diag *d);
/** What @ctx shows to clients. */
void msd_tls_shown_read(const SSL_CTX *ctx, struct msd_tls_shown *ret);
/** @time as the log has it; "" for none. */
void msd_tls_time_write(const ASN1_TIME *time, char ret[static MSD_TLS_TIME_BYTES]);
/** Read the lists of revoked certificates of the file @path into @ctx, whose
 * authorities are read. Errors: MSD_BAD_REQUEST (the file, or a list that is not in
 * force). */
MSD_MUST_CHECK msd_err msd_tls_revoked_read(SSL_CTX *ctx, const char *path,
					    struct msd_diag *d);
/** Note whom @ctx believes, before a thread works with its store. MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_tls_trust_keep(SSL_CTX *ctx, struct msd_diag *d);
/** What was noted. */
void msd_tls_trust_read(const SSL_CTX *ctx, struct msd_tls_trust *ret);
/** As msd_tls_library.judge. */
MSD_MUST_CHECK msd_err msd_tls_peer_judge(SSL_CTX *ctx, SSL *ssl, struct msd_diag *d);
/** Read the names of @cert into @ret, all but is_verified. Errors: MSD_REFUSED, for
 * names that nobody should be known by. */
MSD_MUST_CHECK msd_err msd_tls_names_read(X509 *cert, struct msd_tls_peer *ret,
					  struct msd_diag *d);
/** What OpenSSL says last of @ssl, in words for people. Empties its queue. Returns
 * whether it is about the other side's certificate. */
bool msd_tls_fault(const SSL *ssl, char ret[static MSD_TLS_WHY_MAX]);
/** From here on count in @s how often the other side changes its keys; one time too
 * many ends what can be read. */
void msd_tls_updates_watch(struct msd_tls_stream *s);
/** @n bytes of the other side's have come. */
void msd_tls_updates_note(struct msd_tls_stream *s, size_t n);
/** Is that why reading has ended? s->why says it in words. */
bool msd_tls_updates_are_too_many(const struct msd_tls_stream *s);
/** As msd_tls_library.accept, of @ctx. */
MSD_MUST_CHECK msd_err msd_tls_stream_accept(SSL_CTX *ctx, int fd,
					     struct msd_transport *ret,
					     struct msd_diag *d);
/** As msd_tls_library.handshake. */
MSD_MUST_CHECK msd_err msd_tls_stream_handshake(struct msd_transport *t,
						struct msd_diag *d);

#endif
