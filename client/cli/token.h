#ifndef MSD_CLI_TOKEN_H
#define MSD_CLI_TOKEN_H
/* The token that says whose this client is: of --token-file, else $MODSER_TOKEN. */
#include "client/cli/cli.h"
#include "proto/bytes.h"

/**
 * The token for a daemon at @address, ended by a NUL, in @ret, to be freed with
 * msd_buf_finish(); empty: none is shown. Over plain TCP, where others could read it,
 * the environment's is kept back and that of the option refused. What fails is
 * reported.
 */
enum msd_exit msd_token_find(const struct msd_cli *cli, const char *address,
			     struct msd_buf *ret);

#endif
