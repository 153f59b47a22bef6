#include <stdio.h>

#include "daemon/supervisor/config/option_rows.h"
#include "daemon/supervisor/config/option_values.h"
#include "daemon/supervisor/config/options.h"
#include "daemon/supervisor/config/preload.h"

/* The help text inserts the limits of the option table between these parts. */
static const char words[] =
	"usage: modserd --listen [unix:PATH | tcp://HOST:PORT | "
	"tls://HOST:PORT] ... [options]\n"
	"\n"
	"Serve compiled modules. Runs in the foreground; SIGTERM drains and "
	"ends it.\n"
	"\n"
	"  --listen [ADDRESS]    listen there; without ADDRESS on the default "
	"unix "
	"socket\n"
	"  --http ADDRESS        answer HTTP there, too (HOST:PORT, [IPV6]:PORT, "
	"unix:PATH):\n"
	"                        health, readiness and models; by the rules of "
	"tcp://;\n"
	"                        https://HOST:PORT by those of tls://\n"
	"  --agent-check [NAME=]ADDRESS\n"
	"                        tell haproxy there, in a line, how much it, or that "
	"module,\n"
	"                        can take (repeatable)\n";

static const char modules[] =
	"  --load NAME=FILE[,device=DEVICE][,workers=N][,graph=FILE]"
	"[,params=FILE]\n"
	"                   [,with=FILE[:FILE]...]\n"
	"                   [,tvm_inputs=yes][,fill=zero|seeded][,keep_alive=TIME]\n"
	"                   [,format=FORMAT][,input=NAME=DTYPE[EXTENTS][:...]]\n"
	"                   [,sandbox=WORD][,batch=N][,within=TIME][,max_run=TIME]\n"
	"                        load FILE as NAME at the start, on DEVICE "
	"(cpu,\n"
	"                        opencl:0; default: what FILE has code for); "
	"in N\n"
	"                        processes (1), for so many calls at the same "
	"time; with a\n"
	"                        graph executor's graph.json, or a VM's program, and "
	".params\n"
	"                        where FILE does not hold them; with: the files that a "
	"model names;\n"
	"                        tvm_inputs: set_input ignores "
	"what the\n"
	"                        model lacks;\n"
	"                        format, input: of a framework's model, what it is, "
	"and\n"
	"                        shapes of inputs, such as x=float32[1,3,224,224];\n"
	"                        batch: calls that wait are joined to so many rows, "
	"and\n"
	"                        within: one waits so long for others (0);\n"
	"                        max_run: a call that runs longer ends its worker "
	"(--max-run);\n"
	"                        keep_alive: its processes end when nobody has "
	"called it for\n"
	"                        so long, until somebody does; repeatable\n";

static const char more_words[] =
	"  --socket-mode MODE    of unix sockets, octal (0600): whoever may "
	"connect\n"
	"                        runs code as this daemon\n"
	"  --insecure-tcp        allow TCP addresses beyond loopback\n"
	"  --allow-load-tcp      allow loading modules over TCP\n"
	"  --threads N           threads of each worker's pool "
	"(TVM_NUM_THREADS, its\n"
	"                        part of the cores)\n"
	"  --store DIR           keep there what is loaded with keep, and load "
	"it again at\n"
	"                        the start (~/.local/state/modserd); none: keep "
	"nothing\n"
	"  --tls-cert FILE, --tls-key FILE\n"
	"                        of tls:// and https:// addresses, PEM; read again by "
	"SIGHUP\n"
	"  --tls-ca FILE         whose certificates clients may show; read again, too\n"
	"  --tls-crl FILE        which of these are revoked: a list of each authority, "
	"PEM; read\n"
	"                        again, too\n"
	"  --proxy-from ADDRESS[/BITS]\n"
	"                        of a proxy whose PROXY header (version 2) says who "
	"connects;\n"
	"                        repeatable\n"
	"  --acl FILE            who may do what, one line a user "
	"(docs/reference/rights.md);\n"
	"                        read again by SIGHUP\n"
	"  --plugin FILE         a shared object of formats, operators and "
	"kernels that\n"
	"                        each worker opens; repeatable\n"
	"  --sandbox WORD        what a module may do beside computing: auto "
	"(default), as\n"
	"                        its device needs it, cpu, opencl, cuda, or trusted: "
	"all\n"
	"                        that this daemon may; of --load, too "
	"(docs/explanation/sandbox.md)\n"
	"  --may-read PATH       a file or folder that modules in a sandbox may read, "
	"and\n"
	"                        execute; repeatable\n"
	"  --may-write PATH      a file or folder that they may write; repeatable\n"
	"  --worker-user NAME    the account that modules run as, where the daemon may "
	"change\n"
	"                        users (docs/explanation/sandbox.md)\n"
	"  --keep-workers        workers outlive a restart by a service manager that "
	"keeps\n"
	"                        their descriptors (docs/how-to/systemd.md)\n"
	"  --trust FILE          a minisign public key: what is pulled must be "
	"signed by\n"
	"                        one of these; repeatable\n"
	"  --trust-least N       by so many of them (1)\n"
	"  --policy WORD         what a pull takes: signed (where --trust is "
	"there),\n"
	"                        digest (what --sha256 says), unsigned\n"
	"  --auth FILE           names and passwords by host, for what is pulled: as "
	"docker\n"
	"                        login and skopeo login write it\n"
	"  --ca FILE             whose certificates servers of pulls may show "
	"(PEM)\n"
	"  --proxy URL           that pulls go by\n"
	"  --realm HOST[,...]    other servers that give registries' tokens and may "
	"have "
	"the\n"
	"                        names and passwords of --auth for that\n"
	"  --insecure            pull by plain http from other machines, too\n"
	"  --pull-from URL       what begins with it users other than the operator "
	"may pull,\n"
	"                        beside what is public: files and private addresses; "
	"repeatable\n"
	"  --config FILE         read this configuration "
	"(" MSD_CONFIG_DEFAULT "\n"
	"                        where that is): the same options and modules\n"
	"  --check-config FILE   say what a start would refuse of it, and end\n"
	"  --print-config        print what would be used, with each value's "
	"origin\n"
	"  --api                 print the method table and end\n"
	"  --version, --help\n"
	"\n"
	"Limits (sizes take K, M, G; times their unit: ms, s, m, h):";

static const char environment[] =
	"\nEnvironment: MODSERD_LOG (error, warn, info, debug), MODSERD_WORKER (path "
	"of modserd-worker),\nMODSERD_FETCH, MODSERD_CACHE, TVM_NUM_THREADS, "
	"MODSERD_STORE, STATE_DIRECTORY,\nXDG_STATE_HOME, XDG_RUNTIME_DIR. See "
	"modserd(8).";

void msd_options_print_help(void)
{
	static struct msd_options defaults;
	const struct msd_option *row;

	msd_option_defaults(&defaults);
	(void)printf("%s%s%s\n", words, modules, more_words);
	for (unsigned i = 0; (row = msd_option_row(i)) != NULL; i++) {
		char text[MSD_LIMIT_TEXT_MAX];

		if (row->limit != NULL) {
			(void)printf("  --%-19s %s (%s)\n", row->name, row->limit,
				     msd_option_limit_text(
					     row,
					     *msd_option_limit(&defaults.limits, row),
					     text));
		}
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
