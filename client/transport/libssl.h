#ifndef MSD_CLIENT_LIBSSL_H
#define MSD_CLIENT_LIBSSL_H
/* The functions of OpenSSL that the client uses, loaded on first use. To use another
 * function, add its name here. */
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "proto/base/diag.h"

#define MSD_LIBSSL_MAP(X)                                                              \
	X(TLS_client_method)                                                           \
	X(SSL_CTX_new)                                                                 \
	X(SSL_CTX_free)                                                                \
	X(SSL_CTX_ctrl)                                                                \
	X(SSL_CTX_set_options)                                                         \
	X(SSL_CTX_set_verify)                                                          \
	X(SSL_CTX_set_default_passwd_cb)                                               \
	X(SSL_CTX_set_default_verify_paths)                                            \
	X(SSL_CTX_load_verify_locations)                                               \
	X(SSL_CTX_use_certificate_chain_file)                                          \
	X(SSL_CTX_use_PrivateKey_file)                                                 \
	X(SSL_new)                                                                     \
	X(SSL_free)                                                                    \
	X(SSL_ctrl)                                                                    \
	X(SSL_set_fd)                                                                  \
	X(SSL_set1_host)                                                               \
	X(SSL_get0_param)                                                              \
	X(X509_VERIFY_PARAM_set1_ip_asc)                                               \
	X(SSL_connect)                                                                 \
	X(SSL_read_ex)                                                                 \
	X(SSL_write_ex)                                                                \
	X(SSL_get_error)                                                               \
	X(SSL_get_verify_result)                                                       \
	X(SSL_shutdown)                                                                \
	X(X509_verify_cert_error_string)                                               \
	X(ERR_clear_error)                                                             \
	X(ERR_peek_error)                                                              \
	X(ERR_peek_last_error)                                                         \
	X(ERR_reason_error_string)

struct msd_libssl {
#define MSD_LIBSSL_FIELD(name) __typeof__(name) *name;
	MSD_LIBSSL_MAP(MSD_LIBSSL_FIELD)
#undef MSD_LIBSSL_FIELD
};

/** The functions, or NULL, and @d names what is missing. The library stays open. */
const struct msd_libssl *msd_libssl_open(struct msd_diag *d);

#endif
