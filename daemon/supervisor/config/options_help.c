/*
 * Prints modserd's help: a line of usage, the options with their meanings, and the
 * environment. The limits bring their text from their table (daemon/limits.h).
 */
#include <stdio.h>
#include <string.h>

#include "daemon/supervisor/config/option_rows.h"
#include "daemon/supervisor/config/option_values.h"
#include "daemon/supervisor/config/options.h"
#include "daemon/supervisor/config/preload.h"

#define INDENT 24
#define WIDTH 78

#define RUN_KEY(NAME, member, KIND, parameter, fronts, key, ...) ", " key

static const struct {
	const char *name, *value, *text; /* text NULL: that of the limit */
	bool is_common;
} meanings[] = {
	{"listen", "[ADDRESS]",
	 "listen on unix:PATH, tcp://HOST:PORT or tls://HOST:PORT; without ADDRESS on "
	 "the default unix socket; repeatable",
	 true},
	{"http", "ADDRESS",
	 "serve HTTP (health, readiness, models, inference) on HOST:PORT, [IPV6]:PORT, "
	 "unix:PATH or https://HOST:PORT",
	 true},
	{"tvm-rpc",
	 "HOST:PORT[,key=WORD|,key=@FILE][,tracker=HOST:PORT[,as=ADDRESS]][,sessions="
	 "N]",
	 "serve unchanged clients of TVM's RPC (tvm.rpc.connect), up to N sessions at "
	 "a time (16; 1 with a tracker, which sends its clients to ADDRESS); needs "
	 "--allow-load-tcp, because each session loads code",
	 false},
	{"load", "NAME=FILE[,KEY=VALUE]...",
	 "load FILE as NAME at the start; repeatable. KEY is one of: graph, params, "
	 "external-data" MSD_RUN_KEY_MAP(
		 RUN_KEY) "; `modser load --help` explains them",
	 true},
	{"config", "FILE",
	 "read this configuration file (" MSD_CONFIG_DEFAULT
	 " if it exists): the same options, and modules",
	 true},
	{"check-config", "FILE", "report the errors of this file and exit", true},
	{"print-config", "", "print the effective values with their origins and exit",
	 false},
	{"socket-mode", "MODE",
	 "mode of unix sockets, octal (0600); a client that may connect can run code "
	 "as the daemon's user",
	 true},
	{"store", "DIR",
	 "keep modules of `modser load --keep` in DIR and load them at each start "
	 "(~/.local/state/modserd); none: keep no modules",
	 true},
	{"acl", "FILE",
	 "the file of rights, one line per user (docs/reference/rights.md); read again "
	 "by SIGHUP",
	 true},
	{"tls-cert", "FILE",
	 "certificate chain for tls:// and https:// addresses, PEM; read again by "
	 "SIGHUP",
	 true},
	{"tls-key", "FILE", "key of the certificate, PEM; read again by SIGHUP", true},
	{"tls-ca", "FILE",
	 "authorities that sign the clients' certificates, PEM; read again by SIGHUP",
	 true},
	{"tls-crl", "FILE",
	 "revocation lists of these authorities, PEM; read again by SIGHUP", false},
	{"insecure-tcp", "", "allow TCP addresses beyond loopback", true},
	{"allow-load-tcp", "", "allow TCP clients to load modules", true},
	{"proxy-from", "ADDRESS[/BITS]",
	 "trust the PROXY header (version 2) of proxies at this address; repeatable",
	 false},
	{"agent-check", "[NAME=]ADDRESS",
	 "answer haproxy's agent checks there, for the daemon or for one module; "
	 "repeatable",
	 false},
	{"sandbox", "WORD",
	 "rights of modules: auto (default: by their device), cpu, opencl, cuda, or "
	 "trusted (all rights of the daemon); see docs/reference/sandbox.md",
	 true},
	{"may-read", "PATH",
	 "a file or folder that modules in a sandbox may read and execute; repeatable",
	 false},
	{"may-write", "PATH",
	 "a file or folder that modules in a sandbox may write; repeatable", false},
	{"worker-user", "NAME",
	 "run modules as this user; the daemon needs the right to change users", false},
	{"threads", "N",
	 "threads of each worker's pool (TVM_NUM_THREADS, else its share of the cores)",
	 true},
	{"keep-workers", "",
	 "workers survive a restart of the daemon by a service manager that keeps "
	 "their descriptors (docs/how-to/systemd.md)",
	 false},
	{"plugin", "FILE",
	 "a shared object with formats, operators, kernels or functions that each "
	 "worker opens; repeatable",
	 false},
	{"trust", "FILE",
	 "a minisign public key; pulled modules must be signed by such a key; "
	 "repeatable",
	 false},
	{"trust-least", "N", "number of these keys that must have signed (1)", false},
	{"policy", "WORD",
	 "modules that a pull accepts: signed (default with --trust), digest (the "
	 "SHA-256 is given), unsigned (default otherwise)",
	 false},
	{"auth", "FILE",
	 "names and passwords by host for pulls, as `docker login` writes them", false},
	{"ca", "FILE", "authorities that sign the certificates of pull servers, PEM",
	 false},
	{"proxy", "URL", "the proxy for pulls", false},
	{"realm", "HOST[,...]",
	 "other servers that issue registry tokens and may get the passwords of --auth",
	 false},
	{"insecure", "", "pull from other machines by plain http, too", false},
	{"pull-from", "URL",
	 "a prefix from which users other than the operator may pull; by default only "
	 "from public addresses; repeatable",
	 false},
	{"max-memory", "BYTES", NULL, true},
	{"max-worker-memory", "BYTES", NULL, true},
	{"max-run", "TIME", NULL, true},
	{"drain", "TIME", NULL, true},
	{"api", "", "print the method table and exit", false},
	{"version", "", "print the version and exit", true},
	{"help", "", "print the common options and exit", true},
	{"help-all", "", "print all options and exit", true},
};
#define N_MEANINGS (sizeof(meanings) / sizeof(meanings[0]))

static const char usage[] =
	"usage: modserd --listen [ADDRESS] ... [OPTION]...\n"
	"       modserd MODEL... [OPTION]...\n"
	"Serve machine learning models: ONNX and other frameworks' files, libraries "
	"compiled by TVM.\nmodserd runs in the foreground; SIGTERM drains and ends it. "
	"`modserd MODEL...` serves files\nunder their names, on the default unix "
	"socket "
	"and by HTTP on 127.0.0.1:8000.\n\n";

static const char environment[] =
	"\nSizes take K, M, G; times need a unit: us, ms, s, m, h. Instead of 0 write "
	"off,\nunlimited or auto, as the default in parentheses shows.\n"
	"\nEnvironment: MODSERD_LOG (error, warn, info, debug), MODSERD_WORKER (path "
	"of modserd-worker),\nMODSERD_RPC, MODSERD_FETCH, MODSERD_CACHE, "
	"TVM_NUM_THREADS, "
	"MODSERD_STORE, STATE_DIRECTORY,\nXDG_STATE_HOME, XDG_RUNTIME_DIR. See "
	"modserd(8).";

/* Print @text from column @at on, in lines that begin at INDENT. */
static void print_wrapped(const char *text, size_t at)
{
	if (at + 2 > INDENT) {
		(void)printf("\n");
		at = 0;
	}
	(void)printf("%*s", (int)(INDENT - at), "");
	at = INDENT;
	while (*text != '\0') {
		const size_t n = strcspn(text, " ");

		if (at > INDENT && at + 1 + n > WIDTH) {
			(void)printf("\n%*s", INDENT, "");
			at = INDENT;
		}
		at += (size_t)printf("%s%.*s", at > INDENT ? " " : "", (int)n, text);
		text += n + (text[n] == ' ');
	}
	(void)printf("\n");
}

static void print_option(const struct msd_option *row, const char *value,
			 const char *text)
{
	static struct msd_options defaults;
	char limit[MSD_LIMIT_TEXT_MAX], said[512];
	const int at =
		printf("  --%s%s%s", row->name, value[0] != '\0' ? " " : "", value);

	msd_option_defaults(&defaults);
	if (row->limit != NULL) {
		(void)snprintf(
			said, sizeof(said), "%s (%s)", row->limit,
			msd_option_limit_text(
				row, *msd_option_limit(&defaults.limits, row), limit));
		text = said;
	}
	print_wrapped(text, (size_t)at);
}

static bool has_meaning(const struct msd_option *row)
{
	for (size_t i = 0; i < N_MEANINGS; i++) {
		if (strcmp(meanings[i].name, row->name) == 0)
			return true;
	}
	return false;
}

void msd_options_print_help(bool is_all)
{
	const struct msd_option *row;

	(void)printf("%s%s:\n", usage, is_all ? "Options" : "Common options");
	for (size_t i = 0; i < N_MEANINGS; i++) {
		row = msd_option_row(msd_option_find(meanings[i].name));
		if (row != NULL && (is_all || meanings[i].is_common))
			print_option(row, meanings[i].value, meanings[i].text);
	}
	if (is_all) {
		(void)printf("\nMore limits:\n");
		for (unsigned i = 0; (row = msd_option_row(i)) != NULL; i++) {
			if (row->limit != NULL && !has_meaning(row)) {
				print_option(row, msd_option_limit_unit(row),
					     row->limit);
			}
		}
	} else {
		(void)printf("\n--help-all lists all options.\n");
	}
	(void)puts(environment);
}

static void write_row(const struct msd_options *o, unsigned i,
		      const struct msd_option *row, struct msd_buf *ret)
{
	struct msd_buf value = {0};

	row->write(o, row, &value);
	if (value.n > 0) {
		msd_buf_printf(ret, "%s = %.*s  # %s\n", row->name, (int)value.n,
			       (const char *)value.p,
			       o->origins[i] != NULL ? o->origins[i] : "default");
	}
	ret->bad = ret->bad || value.bad;
	msd_buf_finish(&value);
}

void msd_options_write(const struct msd_options *o, struct msd_buf *ret)
{
	const struct msd_option *row;

	for (unsigned i = 0; (row = msd_option_row(i)) != NULL; i++) {
		if (row->write != NULL)
			write_row(o, i, row, ret);
	}
	for (uint32_t i = 0; i < o->n_preloads; i++) {
		const struct msd_preload *p = &o->preloads[i];

		if (msd_options_preload(o, p->name) != p)
			continue; /* a later module has the same name */
		msd_preload_write(p, ret);
		msd_buf_printf(ret, "  # %s\n", p->origin);
	}
}
