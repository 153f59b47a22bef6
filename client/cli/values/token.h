#ifndef MSD_CLI_TOKEN_H
#define MSD_CLI_TOKEN_H
/* The token that identifies this client's user: from --token-file, else
 * $MODSER_TOKEN. */
#include "client/cli/cli.h"
#include "proto/base/bytes.h"

/**
 * Read the token for a daemon at @address into @ret, with a final NUL; free it with
 * msd_buf_finish(). Empty: no token. On plain TCP the network could read it: a token
 * from the environment is not sent, and one from the option is an error. Reports
 * failures.
 */
enum msd_exit msd_token_find(const struct msd_cli *cli, const char *address,
			     struct msd_buf *ret);

#endif
