#include <openssl/err.h>
#include <stdio.h>

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
