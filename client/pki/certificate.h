#ifndef MSD_CLI_CERTIFICATE_H
#define MSD_CLI_CERTIFICATE_H
/* Creates an X.509 certificate with its key. Uses OpenSSL's libcrypto, which is
 * loaded on first use. Keys are P-256 and have no password. */
#include <stdbool.h>
#include <stdio.h>

#include "proto/base/diag.h"

#define MSD_CERTIFICATE_NAME_MAX 64u /* bytes of a common name: X.520 */

struct msd_certificate;

enum msd_certificate_role {
	MSD_CERTIFICATE_AUTHORITY, /* signs certificates; 10 years */
	MSD_CERTIFICATE_SERVER,    /* 1 year */
	MSD_CERTIFICATE_CLIENT     /* 1 year */
};

struct msd_certificate_wish {
	enum msd_certificate_role role;
	const char *name;      /* common name */
	const char *alt_names; /* "DNS:localhost,IP:::1"; NULL: none */
};

/**
 * Create the certificate @wish, signed by @issuer, an authority; NULL: self-signed.
 * Errors: MSD_UNSUPPORTED (no libcrypto, or built without TLS), MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_certificate_make(const struct msd_certificate_wish *wish,
					    const struct msd_certificate *issuer,
					    struct msd_certificate **ret,
					    struct msd_diag *d);
/** Read an authority from PEM. Errors: MSD_BAD_REQUEST and those above. */
MSD_MUST_CHECK msd_err msd_certificate_read(FILE *cert, FILE *key,
					    struct msd_certificate **ret,
					    struct msd_diag *d);
/** Write PEM. False: a write failed; fclose() may report one later, too. */
MSD_MUST_CHECK bool msd_certificate_write(const struct msd_certificate *c, FILE *cert,
					  FILE *key);
/** NULL is fine. */
void msd_certificate_destroy(struct msd_certificate *c);

#endif
