#ifndef MSD_CLI_PKI_H
#define MSD_CLI_PKI_H
/*
 * Manages a folder of certificates: an authority (ca.pem, ca.key), and the
 * certificates that it signed, NAME.pem and NAME.key. Only the owner can read keys,
 * and no file is ever overwritten.
 */
#include <stddef.h>

#include "proto/base/diag.h"

/**
 * Create @folder, if it does not exist, with an authority, a server certificate for
 * @hosts (names or IP addresses; @n of them, at least one), and a client certificate.
 * On failure none of the files remains. Errors: MSD_BAD_REQUEST (a host), MSD_REFUSED
 * (a file exists), MSD_UNSUPPORTED, MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_pki_init(const char *folder, const char *const *hosts,
				    size_t n, struct msd_diag *d);
/**
 * Create a server certificate as msd_pki_init() does, signed by the authority in
 * @folder. Errors: those above, and MSD_NOT_FOUND: there is no authority.
 */
MSD_MUST_CHECK msd_err msd_pki_add_server(const char *folder, const char *const *hosts,
					  size_t n, struct msd_diag *d);
/** The same for a client called @name. */
MSD_MUST_CHECK msd_err msd_pki_add_client(const char *folder, const char *name,
					  struct msd_diag *d);

#endif
