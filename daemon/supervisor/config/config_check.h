#ifndef MSD_SUPERVISOR_CONFIG_CHECK_H
#define MSD_SUPERVISOR_CONFIG_CHECK_H
/* Check options that were parsed for errors that would stop a start, without starting
 * anything. It uses the same functions as the start. */
#include "daemon/supervisor/config/options.h"

struct msd_acl;

/* Paths of the daemon's components; NULL: not installed. */
struct msd_config_parts {
	const char *tls;   /* modserd-tls.so */
	const char *fetch; /* modserd-fetch */
};

/**
 * Check addresses, worker-user, store, certificates, plugins, the files that pulls
 * need, the workers and the sources of modules. @acl: the rights file, borrowed; NULL
 * if there is no file. Errors: those of the functions that open each part.
 */
MSD_MUST_CHECK msd_err msd_config_check(const struct msd_options *o,
					const struct msd_acl *acl,
					const struct msd_config_parts *parts,
					struct msd_diag *d);
/**
 * Check only the files that pulls need, auth and ca: the daemon serves without them
 * and reads them again for each pull. Errors: MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_config_check_terms(const struct msd_options *o,
					      struct msd_diag *d);
/**
 * Check that each plugin is one, of this version of the interface. The files are read,
 * not opened: the workers run their code. Errors: those of msd_elf_plugin_read();
 * MSD_UNSUPPORTED.
 */
MSD_MUST_CHECK msd_err msd_config_check_plugins(const struct msd_options *o,
						struct msd_diag *d);

#endif
