/* Describe TLS errors and the daemon's own certificate for the operator. */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <time.h>

#include "daemon/tls/parts.h"

/* For all other errors OpenSSL's own texts are clear enough. */
static const struct {
	int reason;
	const char *text;
} known[] = {
	{SSL_R_UNSUPPORTED_PROTOCOL,
	 "it does not support TLS 1.3, the only supported version"},
	{SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE,
	 "it sent no certificate, which --tls-ca requires"},
	{SSL_R_TLSV1_ALERT_UNKNOWN_CA,
	 "it does not trust the authority of this server's certificate"},
	{SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, "it rejects this server's certificate"},
	{SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
	 "it reports that this server's certificate has expired"},
	{SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, "it rejects this server's certificate"},
	{SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, "a record was modified on the way"},
};

bool msd_tls_fault(const SSL *ssl, char ret[static MSD_TLS_WHY_MAX])
{
	const unsigned long code = ERR_peek_error();
	const int reason = ERR_GET_REASON(code);
	const char *text = code != 0 ? ERR_reason_error_string(code) : "it is broken";

	ERR_clear_error();
	if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
		(void)snprintf(
			ret, MSD_TLS_WHY_MAX, "its certificate is not valid: %s",
			X509_verify_cert_error_string(SSL_get_verify_result(ssl)));
		return true;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].reason == reason)
			text = known[i].text;
	}
	(void)snprintf(ret, MSD_TLS_WHY_MAX, "%s",
		       text != NULL ? text : "it breaks TLS");
	return reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE;
}

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
