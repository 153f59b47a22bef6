/*
 * Read the names of a certificate. Its authority is trusted, but the client may have
 * chosen the names. A name that could be mistaken for another, or is too long, makes
 * the whole certificate invalid.
 */
#include <openssl/evp.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "daemon/tls/parts.h"

static msd_err check(const uint8_t *p, int n, struct msd_diag *d)
{
	if (n < 0 || (unsigned)n > MSD_TLS_NAME_MAX) {
		return msd_diag_set(d, MSD_REFUSED,
				    "a name in the certificate has more than %u bytes",
				    MSD_TLS_NAME_MAX);
	}
	for (int i = 0; i < n; i++) {
		if (p[i] < 0x20 || p[i] == 0x7f) {
			return msd_diag_set(d, MSD_REFUSED,
					    "a name in the certificate holds a NUL or "
					    "a control character");
		}
	}
	return MSD_OK;
}

static msd_err read_cn(X509 *cert, struct msd_tls_peer *p, struct msd_diag *d)
{
	X509_NAME *subject = X509_get_subject_name(cert);
	const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
	uint8_t *text = NULL;

	if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0)
		return MSD_OK; /* several names: ambiguous */
	const int n = ASN1_STRING_to_UTF8(
		&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
	msd_err err = check(text, n, d);
	if (err == MSD_OK)
		memcpy(p->cn, text, (size_t)n);
	OPENSSL_free(text);
	return err;
}

static msd_err add_san(struct msd_tls_peer *p, size_t *at, const ASN1_STRING *name,
		       struct msd_diag *d)
{
	const int n = ASN1_STRING_length(name);
	msd_err err = check(ASN1_STRING_get0_data(name), n, d);

	if (err != MSD_OK)
		return err;
	if (p->n_sans == MSD_TLS_MAX_SANS || (size_t)n >= sizeof(p->sans) - *at) {
		return msd_diag_set(d, MSD_REFUSED,
				    "the certificate has more than %u names, or %u "
				    "bytes of them",
				    MSD_TLS_MAX_SANS, MSD_TLS_SANS_BYTES);
	}
	memcpy(p->sans + *at, ASN1_STRING_get0_data(name), (size_t)n);
	*at += (size_t)n + 1;
	p->n_sans++;
	return MSD_OK;
}

static msd_err read_sans(X509 *cert, struct msd_tls_peer *p, struct msd_diag *d)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	msd_err err = MSD_OK;
	size_t at = 0;

	for (int i = 0; i < sk_GENERAL_NAME_num(names) && err == MSD_OK; i++) {
		int kind;
		const ASN1_STRING *text =
			GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, i), &kind);
		if (kind == GEN_DNS || kind == GEN_URI || kind == GEN_EMAIL)
			err = add_san(p, &at, text, d);
	}
	GENERAL_NAMES_free(names);
	return err;
}

msd_err msd_tls_names_read(X509 *cert, struct msd_tls_peer *ret, struct msd_diag *d)
{
	struct msd_tls_peer p = {0};
	msd_err err;

	if (X509_digest(cert, EVP_sha256(), p.sha256, NULL) != 1)
		return msd_diag_no_memory(d);
	err = read_cn(cert, &p, d);
	if (err == MSD_OK)
		err = read_sans(cert, &p, d);
	if (err == MSD_OK)
		*ret = p;
	return err;
}
