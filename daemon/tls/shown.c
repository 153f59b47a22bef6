/* Describe the daemon's own certificate for the operator. */
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <time.h>

#include "daemon/tls/parts.h"

static const char *fault_of(const X509 *cert)
{
	if (X509_cmp_current_time(X509_get0_notAfter(cert)) < 0)
		return "it has expired";
	if (X509_cmp_current_time(X509_get0_notBefore(cert)) > 0)
		return "it is not valid yet";
	return NULL;
}

void msd_tls_time_write(const ASN1_TIME *time, char ret[static MSD_TLS_TIME_BYTES])
{
	struct tm at;

	ret[0] = '\0';
	if (time != NULL &&
	    (ASN1_TIME_to_tm(time, &at) != 1 ||
	     strftime(ret, MSD_TLS_TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &at) == 0))
		(void)snprintf(ret, MSD_TLS_TIME_BYTES, "?");
}

void msd_tls_shown_read(const SSL_CTX *ctx, struct msd_tls_shown *ret)
{
	const X509 *cert = SSL_CTX_get0_certificate(ctx);

	*ret = (struct msd_tls_shown){.fault = fault_of(cert)};
	(void)X509_digest(cert, EVP_sha256(), ret->sha256, NULL);
	msd_tls_time_write(X509_get0_notAfter(cert), ret->until);
}
