#include "client/cli/tls_option.h"

#include <stdlib.h>

#include "client/cli/verbs/report.h"
#include "proto/address_list.h"

static bool put(const char *variable, const char *value)
{
	return value == NULL || setenv(variable, value, 1) == 0;
}

enum msd_exit msd_tls_option_apply(const struct msd_cli *cli, const char *address)
{
	if (cli->tls_ca == NULL && cli->tls_cert == NULL && cli->tls_key == NULL)
		return MSD_EXIT_OK;
	if (!msd_address_list_has(address, "tls://")) {
		return msd_report_usage("give a TLS address: -H tls://HOST:PORT",
					"--%s: %s does not speak TLS",
					cli->tls_ca != NULL     ? "tls-ca"
					: cli->tls_cert != NULL ? "tls-cert"
								: "tls-key",
					address);
	}
	/* The environment's key does not fit a certificate from the command line. */
	if (cli->tls_cert != NULL && cli->tls_key == NULL)
		(void)unsetenv("MODSER_TLS_KEY");
	if (put("MODSER_TLS_CA", cli->tls_ca) &&
	    put("MODSER_TLS_CERT", cli->tls_cert) &&
	    put("MODSER_TLS_KEY", cli->tls_key))
		return MSD_EXIT_OK;
	return msd_report_no_memory();
}
