#ifndef MSD_CLI_TLS_OPTION_H
#define MSD_CLI_TLS_OPTION_H
/* --tls-ca, --tls-cert and --tls-key: what libmodser finds in MODSER_TLS_*. */
#include "client/cli/cli.h"

/**
 * Let what connects to @address believe and show what the options name. Refused, and
 * reported, when that address does not speak TLS: who names certificates does not want
 * to be heard by others.
 */
enum msd_exit msd_tls_option_apply(const struct msd_cli *cli, const char *address);

#endif
