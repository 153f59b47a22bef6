#ifndef MSD_CLI_TLS_OPTION_H
#define MSD_CLI_TLS_OPTION_H
/* --tls-ca, --tls-cert and --tls-key: passed to libmodser as MODSER_TLS_*. */
#include "client/cli/cli.h"

/**
 * Apply the options to connections to @address. If the address does not use TLS,
 * reports an error, because the user expects an encrypted connection.
 */
enum msd_exit msd_tls_option_apply(const struct msd_cli *cli, const char *address);

#endif
