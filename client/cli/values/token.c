#include "client/cli/values/token.h"

#include <stdlib.h>
#include <string.h>

#include "client/cli/values/file.h"
#include "client/cli/verbs/report.h"
#include "proto/address_list.h"

#define TOKEN_MAX 4096u /* bytes; a larger file is not a token */

/* True if one of several addresses qualifies, because the answering daemon is not
 * known yet. */
static bool is_readable(const char *address)
{
	return msd_address_list_has(address, "tcp://");
}

static enum msd_exit read_file(const char *path, struct msd_buf *ret)
{
	struct msd_diag d = {0};

	if (msd_file_read(path, ret, &d) != MSD_OK) {
		enum msd_exit code = msd_report_diag(MSD_EXIT_USAGE, NULL, &d);
		msd_diag_finish(&d);
		return code;
	}
	/* Remove the newline that editors append. */
	while (ret->n > 0 && (ret->p[ret->n - 1] == '\n' || ret->p[ret->n - 1] == '\r'))
		ret->n--;
	if (ret->n == 0 || ret->n > TOKEN_MAX || memchr(ret->p, 0, ret->n) != NULL) {
		msd_buf_finish(ret);
		return msd_report_usage("a token is one line of text",
					"--token-file %s: the file contains no token",
					path);
	}
	return MSD_EXIT_OK;
}

enum msd_exit msd_token_find(const struct msd_cli *cli, const char *address,
			     struct msd_buf *ret)
{
	const char *from_env = getenv("MODSER_TOKEN");
	enum msd_exit code = MSD_EXIT_OK;

	if (cli->token_file != NULL && is_readable(address)) {
		return msd_report_usage(
			"connect to the unix socket, or to a tls:// address",
			"--token-file: modser sends no token to %s, because others "
			"could read it",
			address);
	}
	if (cli->token_file != NULL) {
		code = read_file(cli->token_file, ret);
	} else if (from_env != NULL && !is_readable(address)) {
		msd_buf_put(ret, from_env, strlen(from_env));
	}
	if (code == MSD_EXIT_OK && ret->n > 0)
		msd_buf_put_u8(ret, 0);
	return code == MSD_EXIT_OK && ret->bad ? msd_report_no_memory() : code;
}
