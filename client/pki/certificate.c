/* Happy path: libcrypto is loaded, a key is made, and the certificate gets the fields
 * of its role and is signed. Failures: the error quotes OpenSSL's text. */
#include "client/pki/certificate.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#include "client/symbols.h"

#define LIBRARY "libcrypto.so.3"
#define HOUR_S 3600L
#define YEAR_S (365 * 24 * HOUR_S)
#define MSD_CRYPTO_MAP(X)                                                              \
	X(ASN1_INTEGER_set_uint64)                                                     \
	X(ERR_peek_error)                                                              \
	X(ERR_reason_error_string)                                                     \
	X(EVP_PKEY_Q_keygen)                                                           \
	X(EVP_PKEY_free)                                                               \
	X(EVP_sha256)                                                                  \
	X(PEM_read_PrivateKey)                                                         \
	X(PEM_read_X509)                                                               \
	X(PEM_write_PrivateKey)                                                        \
	X(PEM_write_X509)                                                              \
	X(X509V3_EXT_conf_nid)                                                         \
	X(X509V3_set_ctx)                                                              \
	X(X509_EXTENSION_free)                                                         \
	X(X509_NAME_add_entry_by_txt)                                                  \
	X(X509_add_ext)                                                                \
	X(X509_check_ca)                                                               \
	X(X509_check_private_key)                                                      \
	X(X509_free)                                                                   \
	X(X509_get_serialNumber)                                                       \
	X(X509_get_subject_name)                                                       \
	X(X509_getm_notAfter)                                                          \
	X(X509_getm_notBefore)                                                         \
	X(X509_gmtime_adj)                                                             \
	X(X509_new)                                                                    \
	X(X509_set_issuer_name)                                                        \
	X(X509_set_pubkey)                                                             \
	X(X509_set_version)                                                            \
	X(X509_sign)

static struct {
#define MSD_CRYPTO_FIELD(name) __typeof__(name) *name;
	MSD_CRYPTO_MAP(MSD_CRYPTO_FIELD)
#undef MSD_CRYPTO_FIELD
} crypto;

struct msd_certificate {
	EVP_PKEY *key;
	X509 *x;
};

static msd_err find_crypto(struct msd_diag *d)
{
	static const char *const names[] = {
#define MSD_CRYPTO_NAME(name) #name,
		MSD_CRYPTO_MAP(MSD_CRYPTO_NAME)
#undef MSD_CRYPTO_NAME
	};
	const char *missing = NULL;

	if (crypto.X509_sign == NULL) {
		missing = msd_symbols_find(LIBRARY, names,
					   sizeof(names) / sizeof(names[0]), &crypto);
	}
	if (missing == NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "certificates need OpenSSL 3 (Debian: libssl3), but %s is "
			    "not installed",
			    missing);
}

static msd_err fail(msd_err err, const char *what, struct msd_diag *d)
{
	const char *text = crypto.ERR_reason_error_string(crypto.ERR_peek_error());

	return msd_diag_set(d, err, "%s%s%s", what, text != NULL ? ": " : "",
			    text != NULL ? text : "");
}

static bool add_extension(X509 *x, X509V3_CTX *ctx, int nid, const char *value)
{
	X509_EXTENSION *e = crypto.X509V3_EXT_conf_nid(NULL, ctx, nid, value);
	const bool is_added = e != NULL && crypto.X509_add_ext(x, e, -1) == 1;

	crypto.X509_EXTENSION_free(e);
	return is_added;
}

/* Add the extensions that an RFC 5280 verifier expects for each role. */
static bool add_extensions(X509 *x, X509 *issuer,
			   const struct msd_certificate_wish *wish)
{
	const bool is_authority = wish->role == MSD_CERTIFICATE_AUTHORITY;
	X509V3_CTX ctx;

	X509V3_set_ctx_nodb(&ctx);
	crypto.X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
	if (!add_extension(x, &ctx, NID_basic_constraints,
			   is_authority ? "critical,CA:TRUE,pathlen:0"
					: "critical,CA:FALSE") ||
	    !add_extension(x, &ctx, NID_key_usage,
			   is_authority ? "critical,keyCertSign,cRLSign"
					: "critical,digitalSignature") ||
	    !add_extension(x, &ctx, NID_subject_key_identifier, "hash") ||
	    !add_extension(x, &ctx, NID_authority_key_identifier, "keyid:always"))
		return false;
	if (!is_authority &&
	    !add_extension(x, &ctx, NID_ext_key_usage,
			   wish->role == MSD_CERTIFICATE_SERVER ? "serverAuth"
								: "clientAuth"))
		return false;
	return wish->alt_names == NULL ||
	       add_extension(x, &ctx, NID_subject_alt_name, wish->alt_names);
}

/* Set a random serial number, positive as RFC 5280 requires. */
static bool draw_serial(X509 *x)
{
	uint64_t serial;

	if (getrandom(&serial, sizeof(serial), 0) != (ssize_t)sizeof(serial))
		return false;
	return crypto.ASN1_INTEGER_set_uint64(crypto.X509_get_serialNumber(x),
					      serial >> 1 | 1u) == 1;
}

/* Start earlier than now, because the clocks of other machines may be behind. */
static bool set_times(X509 *x, enum msd_certificate_role role)
{
	const long years = role == MSD_CERTIFICATE_AUTHORITY ? 10 : 1;

	return crypto.X509_gmtime_adj(crypto.X509_getm_notBefore(x), -HOUR_S) != NULL &&
	       crypto.X509_gmtime_adj(crypto.X509_getm_notAfter(x), years * YEAR_S) !=
		       NULL;
}

static bool fill(struct msd_certificate *c, const struct msd_certificate *issuer,
		 const struct msd_certificate_wish *wish)
{
	X509 *x = c->x;

	return crypto.X509_set_version(x, X509_VERSION_3) == 1 && draw_serial(x) &&
	       set_times(x, wish->role) && crypto.X509_set_pubkey(x, c->key) == 1 &&
	       crypto.X509_NAME_add_entry_by_txt(
		       crypto.X509_get_subject_name(x), "CN", MBSTRING_UTF8,
		       (const unsigned char *)wish->name, -1, -1, 0) == 1 &&
	       crypto.X509_set_issuer_name(
		       x, crypto.X509_get_subject_name(issuer->x)) == 1 &&
	       add_extensions(x, issuer->x, wish) &&
	       crypto.X509_sign(x, issuer->key, crypto.EVP_sha256()) != 0;
}

msd_err msd_certificate_make(const struct msd_certificate_wish *wish,
			     const struct msd_certificate *issuer,
			     struct msd_certificate **ret, struct msd_diag *d)
{
	msd_err err = find_crypto(d);

	if (err != MSD_OK)
		return err;
	struct msd_certificate *c = calloc(1, sizeof(*c));
	if (c == NULL)
		return msd_diag_no_memory(d);
	c->x = crypto.X509_new();
	c->key = crypto.EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	if (c->x == NULL || c->key == NULL ||
	    !fill(c, issuer != NULL ? issuer : c, wish)) {
		err = fail(MSD_IO, "OpenSSL cannot create the certificate", d);
		msd_certificate_destroy(c);
		return err;
	}
	*ret = c;
	return MSD_OK;
}

msd_err msd_certificate_read(FILE *cert, FILE *key, struct msd_certificate **ret,
			     struct msd_diag *d)
{
	char no_password[] = "";
	msd_err err = find_crypto(d);

	if (err != MSD_OK)
		return err;
	struct msd_certificate *c = calloc(1, sizeof(*c));
	if (c == NULL)
		return msd_diag_no_memory(d);
	c->x = crypto.PEM_read_X509(cert, NULL, NULL, NULL);
	if (c->x == NULL) {
		err = fail(MSD_BAD_REQUEST, "expected a certificate as PEM", d);
	} else if (crypto.X509_check_ca(c->x) != 1) {
		err = msd_diag_set(d, MSD_BAD_REQUEST,
				   "is not the certificate of an authority");
	} else {
		c->key = crypto.PEM_read_PrivateKey(key, NULL, NULL, no_password);
		if (c->key == NULL)
			err = fail(MSD_BAD_REQUEST, "expected its key as PEM", d);
	}
	if (err == MSD_OK && crypto.X509_check_private_key(c->x, c->key) != 1) {
		err = fail(MSD_BAD_REQUEST,
			   "the key does not belong to the certificate", d);
	}
	if (err != MSD_OK) {
		msd_certificate_destroy(c);
		return err;
	}
	*ret = c;
	return MSD_OK;
}

bool msd_certificate_write(const struct msd_certificate *c, FILE *cert, FILE *key)
{
	return crypto.PEM_write_X509(cert, c->x) == 1 &&
	       crypto.PEM_write_PrivateKey(key, c->key, NULL, NULL, 0, NULL, NULL) == 1;
}

void msd_certificate_destroy(struct msd_certificate *c)
{
	if (c == NULL)
		return;
	crypto.EVP_PKEY_free(c->key);
	crypto.X509_free(c->x);
	free(c);
}
