#ifndef MSD_CLI_PKI_H
#define MSD_CLI_PKI_H
/*
 * A folder of certificates: an authority's (ca.pem, ca.key), and what it has signed,
 * NAME.pem and NAME.key of each. Keys are their owner's alone, and no file is ever
 * written over.
 */
#include <stddef.h>

#include "proto/diag.h"

/**
 * Make @folder, if it is not there, an authority in it, a certificate of a server
 * called @hosts (names or numbers; @n of them, at least one), and one of a client. When
 * something fails none of them is left. Errors: MSD_BAD_REQUEST (a host), MSD_REFUSED
 * (a file is there), MSD_UNSUPPORTED, MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_pki_init(const char *folder, const char *const *hosts,
				    size_t n, struct msd_diag *d);
/** Make a server's certificate as msd_pki_init() does, by the authority in @folder.
 * Errors: those of above, and MSD_NOT_FOUND: there is no authority. */
MSD_MUST_CHECK msd_err msd_pki_add_server(const char *folder, const char *const *hosts,
					  size_t n, struct msd_diag *d);
/** The same of a client called @name. */
MSD_MUST_CHECK msd_err msd_pki_add_client(const char *folder, const char *name,
					  struct msd_diag *d);

#endif
