/* tls: creates the user's own certificates, without a daemon. */
#include <string.h>

#include "artifact/json.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"
#include "client/pki/pki.h"

static const char hint[] =
	"modser tls init DIR [HOST...], server DIR [HOST...], or client DIR NAME";

/* Default server names, for clients on the daemon's machine. */
static const char *const at_home[] = {"localhost", "127.0.0.1", "::1"};

static void put_files(const struct msd_cli *cli, const char *const *names, size_t n,
		      struct msd_buf *out)
{
	static const char *const ends[] = {"pem", "key"};
	json_t *json = cli->json ? json_array() : NULL;

	for (size_t i = 0; i < 2 * n; i++) {
		struct msd_buf path = {0};

		msd_buf_printf(&path, "%s/%s.%s", cli->words[1], names[i / 2],
			       ends[i % 2]);
		msd_buf_put_u8(&path, 0);
		if (path.bad) {
			out->bad = true;
		} else if (cli->json) {
			msd_json_add(&json, msd_json_string((const char *)path.p));
		} else {
			msd_buf_printf(out, "%s\n", (const char *)path.p);
		}
		msd_buf_finish(&path);
	}
	if (cli->json) {
		msd_json_put(out, json, 0);
		msd_buf_put_u8(out, '\n');
	}
}

static enum msd_exit report(const struct msd_diag *d)
{
	switch ((int)d->code) {
	case MSD_REFUSED:
		return msd_report_diag(MSD_EXIT_REFUSED,
				       "choose another name, or remove the file", d);
	case MSD_UNSUPPORTED:
		return msd_report_diag(MSD_EXIT_REFUSED,
				       "the openssl command makes certificates, too: "
				       "docs/reference/tls.md",
				       d);
	case MSD_NOT_FOUND:
		return msd_report_diag(MSD_EXIT_NOT_FOUND,
				       "`modser tls init DIR` makes an authority", d);
	default:
		return msd_report_diag(MSD_EXIT_USAGE, hint, d);
	}
}

static enum msd_exit finish(const struct msd_cli *cli, msd_err err,
			    const char *const *names, size_t n, struct msd_diag *d)
{
	enum msd_exit code = err == MSD_OK ? MSD_EXIT_OK : report(d);
	struct msd_buf out = {0};

	if (err == MSD_OK)
		put_files(cli, names, n, &out);
	if (out.bad) {
		code = msd_report_no_memory();
	} else {
		msd_print_flush(&out);
	}
	msd_buf_finish(&out);
	msd_diag_finish(d);
	return code;
}

/* For init and server: the words after the folder are the server's names. */
static enum msd_exit with_hosts(const struct msd_cli *cli, bool is_init)
{
	static const char *const made[] = {"server", "ca", "client"};
	const bool is_said = cli->n_words > 2;
	const char *const *hosts = is_said ? cli->words + 2 : at_home;
	const size_t n =
		is_said ? cli->n_words - 2 : sizeof(at_home) / sizeof(at_home[0]);
	struct msd_diag d = {0};
	const msd_err err = is_init ? msd_pki_init(cli->words[1], hosts, n, &d)
				    : msd_pki_add_server(cli->words[1], hosts, n, &d);

	return finish(cli, err, made, is_init ? sizeof(made) / sizeof(made[0]) : 1, &d);
}

enum msd_exit msd_verb_tls(const struct msd_cli *cli)
{
	const char *word = cli->words[0];
	struct msd_diag d = {0};

	if (strcmp(word, "init") == 0 || strcmp(word, "server") == 0)
		return with_hosts(cli, word[0] == 'i');
	if (strcmp(word, "client") != 0)
		return msd_report_usage(hint, "tls: unknown word \"%s\"", word);
	if (cli->n_words != 3) {
		return msd_report_usage(hint,
					"tls client takes DIR and NAME, %zu given",
					cli->n_words - 1);
	}
	const msd_err err = msd_pki_add_client(cli->words[1], cli->words[2], &d);
	return finish(cli, err, &cli->words[2], 1, &d);
}
