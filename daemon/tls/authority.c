/*
 * Verification of client certificates: the trusted authorities, and their certificate
 * revocation lists.
 *
 * Happy path: both files are read into the context's store; every authority has a
 * list, and each list is in force. Failures: the error names the list and its fault:
 * not signed by an authority of the file, expired, not yet in force, or missing for
 * an authority.
 */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/tls/parts.h"

static const char *name_of(const X509_NAME *name, char ret[static MSD_TLS_WHY_MAX])
{
	(void)X509_NAME_oneline(name, ret, (int)MSD_TLS_WHY_MAX);
	return ret;
}

static X509 *find_issuer(const STACK_OF(X509_OBJECT) * all, X509_CRL *list)
{
	for (int i = 0; i < sk_X509_OBJECT_num(all); i++) {
		X509 *ca = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i));

		if (ca != NULL &&
		    X509_NAME_cmp(X509_get_subject_name(ca),
				  X509_CRL_get_issuer(list)) == 0 &&
		    X509_CRL_verify(list, X509_get0_pubkey(ca)) == 1)
			return ca;
	}
	return NULL;
}

static msd_err check_list(const STACK_OF(X509_OBJECT) * all, X509_CRL *list,
			  const char *path, struct msd_diag *d)
{
	const ASN1_TIME *next = X509_CRL_get0_nextUpdate(list);
	char name[MSD_TLS_WHY_MAX];
	const char *fault = NULL;

	name_of(X509_CRL_get_issuer(list), name);
	if (find_issuer(all, list) == NULL) {
		fault = "it is not signed by an authority of --tls-ca";
	} else if (next != NULL && X509_cmp_current_time(next) < 0) {
		fault = "it has expired; have the authority write a new one";
	} else if (X509_cmp_current_time(X509_CRL_get0_lastUpdate(list)) > 0) {
		fault = "it is not valid yet; check this machine's clock";
	}
	ERR_clear_error();
	if (fault == NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST, "--tls-crl %s: the list of %s: %s",
			    path, name, fault);
}

static bool has_list(const STACK_OF(X509_OBJECT) * all, X509 *ca)
{
	for (int i = 0; i < sk_X509_OBJECT_num(all); i++) {
		X509_CRL *list =
			X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(all, i));

		if (list != NULL && X509_NAME_cmp(X509_get_subject_name(ca),
						  X509_CRL_get_issuer(list)) == 0)
			return true;
	}
	return false;
}

static msd_err check_lists(X509_STORE *store, const char *path, struct msd_diag *d)
{
	const STACK_OF(X509_OBJECT) *all = X509_STORE_get0_objects(store);
	char name[MSD_TLS_WHY_MAX];
	msd_err err = MSD_OK;

	for (int i = 0; err == MSD_OK && i < sk_X509_OBJECT_num(all); i++) {
		const X509_OBJECT *o = sk_X509_OBJECT_value(all, i);
		X509_CRL *list = X509_OBJECT_get0_X509_CRL(o);
		X509 *ca = X509_OBJECT_get0_X509(o);

		if (list != NULL) {
			err = check_list(all, list, path, d);
		} else if (ca != NULL && !has_list(all, ca)) {
			err = msd_diag_set(d, MSD_BAD_REQUEST,
					   "--tls-crl %s: no list of %s is in it: add "
					   "one for each "
					   "authority of --tls-ca",
					   path,
					   name_of(X509_get_subject_name(ca), name));
		}
	}
	return err;
}

msd_err msd_tls_revoked_read(SSL_CTX *ctx, const char *path, struct msd_diag *d)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	X509_LOOKUP *lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());

	if (lookup == NULL)
		return msd_diag_no_memory(d);
	if (X509_load_crl_file(lookup, path, X509_FILETYPE_PEM) <= 0) {
		ERR_clear_error();
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "--tls-crl %s: expected lists of revoked "
				    "certificates, PEM",
				    path);
	}
	(void)X509_STORE_set_flags(store,
				   X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
	return check_lists(store, path, d);
}

struct reading {
	EVP_MD_CTX *ca, *crl;
	struct msd_tls_trust *ret;
	const ASN1_TIME *until; /* expiry of the list that expires first */
};

static void add_der(EVP_MD_CTX *digest, unsigned char *der, int n)
{
	if (n > 0)
		(void)EVP_DigestUpdate(digest, der, (size_t)n);
	OPENSSL_free(der);
}

static void add_authority(struct reading *r, X509 *ca)
{
	char *names = r->ret->authorities;
	const size_t at = strlen(names);
	char name[MSD_TLS_WHY_MAX];
	unsigned char *der = NULL;

	add_der(r->ca, der, i2d_X509(ca, &der));
	name_of(X509_get_subject_name(ca), name);
	(void)snprintf(names + at, sizeof(r->ret->authorities) - at, "%s%s",
		       at > 0 ? ", " : "", name);
}

static void add_list(struct reading *r, X509_CRL *list)
{
	const ASN1_TIME *next = X509_CRL_get0_nextUpdate(list);
	unsigned char *der = NULL;

	add_der(r->crl, der, i2d_X509_CRL(list, &der));
	if (next != NULL && (r->until == NULL || ASN1_TIME_compare(next, r->until) < 0))
		r->until = next;
}

static void read_trust(const SSL_CTX *ctx, struct msd_tls_trust *ret)
{
	const STACK_OF(X509_OBJECT) *all =
		X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx));
	struct reading r = {
		.ca = EVP_MD_CTX_new(), .crl = EVP_MD_CTX_new(), .ret = ret};

	if (r.ca != NULL && r.crl != NULL && EVP_DigestInit(r.ca, EVP_sha256()) == 1 &&
	    EVP_DigestInit(r.crl, EVP_sha256()) == 1) {
		for (int i = 0; i < sk_X509_OBJECT_num(all); i++) {
			const X509_OBJECT *o = sk_X509_OBJECT_value(all, i);

			if (X509_OBJECT_get0_X509(o) != NULL)
				add_authority(&r, X509_OBJECT_get0_X509(o));
			if (X509_OBJECT_get0_X509_CRL(o) != NULL)
				add_list(&r, X509_OBJECT_get0_X509_CRL(o));
		}
		(void)EVP_DigestFinal(r.ca, ret->ca, NULL);
		(void)EVP_DigestFinal(r.crl, ret->crl, NULL);
	}
	msd_tls_time_write(r.until, ret->crl_until);
	EVP_MD_CTX_free(r.ca);
	EVP_MD_CTX_free(r.crl);
}

static void free_trust(void *parent, void *trust, CRYPTO_EX_DATA *all, int index,
		       long arg, void *user)
{
	(void)parent;
	(void)all;
	(void)index;
	(void)arg;
	(void)user;
	free(trust);
}

/* Index of the context's data slot; one thread reads contexts. */
static int trust_index(void)
{
	static int index = -1;

	if (index < 0)
		index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_trust);
	return index;
}

msd_err msd_tls_trust_keep(SSL_CTX *ctx, struct msd_diag *d)
{
	struct msd_tls_trust *trust = calloc(1, sizeof(*trust));

	if (trust == NULL || SSL_CTX_set_ex_data(ctx, trust_index(), trust) != 1) {
		free(trust);
		return msd_diag_no_memory(d);
	}
	read_trust(ctx, trust);
	return MSD_OK;
}

void msd_tls_trust_read(const SSL_CTX *ctx, struct msd_tls_trust *ret)
{
	*ret = *(const struct msd_tls_trust *)SSL_CTX_get_ex_data(ctx, trust_index());
}

static msd_err verify(SSL_CTX *ctx, SSL *ssl, X509 *cert, struct msd_diag *d)
{
	X509_STORE_CTX *v = X509_STORE_CTX_new();
	msd_err err = MSD_OK;

	if (v == NULL ||
	    X509_STORE_CTX_init(v, SSL_CTX_get_cert_store(ctx), cert,
				SSL_get_peer_cert_chain(ssl)) != 1 ||
	    X509_STORE_CTX_set_default(v, "ssl_client") != 1) {
		err = msd_diag_no_memory(d);
	} else if (X509_verify_cert(v) != 1) {
		err = msd_diag_set(
			d, MSD_REFUSED, "its certificate is no longer valid: %s",
			X509_verify_cert_error_string(X509_STORE_CTX_get_error(v)));
	}
	X509_STORE_CTX_free(v);
	ERR_clear_error();
	return err;
}

msd_err msd_tls_peer_judge(SSL_CTX *ctx, SSL *ssl, struct msd_diag *d)
{
	X509 *cert = SSL_get0_peer_certificate(ssl);

	if (cert != NULL)
		return verify(ctx, ssl, cert, d);
	if ((SSL_CTX_get_verify_mode(ctx) & SSL_VERIFY_FAIL_IF_NO_PEER_CERT) == 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_REFUSED,
			    "it sent no certificate, which --tls-ca requires now");
}
