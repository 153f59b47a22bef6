/*
 * modserd's command line: a table of options, those that are limits from limits.h.
 *
 * Happy path: word by word, each option's value is read and checked at once. Failures
 * name the option, what was given and what was expected; nothing was begun by then.
 */
#include "daemon/supervisor/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/preload.h"
#include "proto/argv.h"

static const struct {
	const char *option;
	size_t offset;
	uint64_t value;
	const char *sentence;
} limit_rows[] = {
#define MSD_LIMIT_ROW(field, option, value, sentence)                                  \
	{"--" option, offsetof(struct msd_limits, field), value, sentence},
	MSD_LIMIT_MAP(MSD_LIMIT_ROW)
#undef MSD_LIMIT_ROW
};
#define N_LIMITS (sizeof(limit_rows) / sizeof(limit_rows[0]))

enum {
	OPTION_HELP = 'h',
	OPTION_LISTEN = MSD_ARGV_NO_LETTER,
	OPTION_LOAD,
	OPTION_SOCKET_MODE,
	OPTION_THREADS,
	OPTION_INSECURE_TCP,
	OPTION_ALLOW_LOAD_TCP,
	OPTION_STORE,
	OPTION_API,
	OPTION_VERSION,
	OPTION_LIMIT /* that of the first row, the others behind it */
};

enum {
#define MSD_LIMIT_NUMBER(field, option, value, sentence) LIMIT_##field,
	MSD_LIMIT_MAP(MSD_LIMIT_NUMBER)
#undef MSD_LIMIT_NUMBER
};

static const struct option rows[] = {
	{"listen", optional_argument, NULL, OPTION_LISTEN},
	{"load", required_argument, NULL, OPTION_LOAD},
	{"socket-mode", required_argument, NULL, OPTION_SOCKET_MODE},
	{"threads", required_argument, NULL, OPTION_THREADS},
	{"insecure-tcp", no_argument, NULL, OPTION_INSECURE_TCP},
	{"allow-load-tcp", no_argument, NULL, OPTION_ALLOW_LOAD_TCP},
	{"store", required_argument, NULL, OPTION_STORE},
	{"api", no_argument, NULL, OPTION_API},
	{"version", no_argument, NULL, OPTION_VERSION},
	{"help", no_argument, NULL, OPTION_HELP},
#define MSD_LIMIT_OPTION(field, option, value, sentence)                               \
	{option, required_argument, NULL, OPTION_LIMIT + LIMIT_##field},
	MSD_LIMIT_MAP(MSD_LIMIT_OPTION)
#undef MSD_LIMIT_OPTION
		{0}};

static uint64_t *limit_field(struct msd_limits *limits, size_t row)
{
	return (uint64_t *)(void *)((char *)limits + limit_rows[row].offset);
}

/* 4096, 64K, 16M, 2G: powers of 1024. */
static bool read_number(const char *text, uint64_t *ret)
{
	char *end;
	unsigned shift = 0;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	uint64_t v = strtoull(text, &end, 0);
	if (*end == 'K' || *end == 'M' || *end == 'G')
		shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
	end += shift > 0;
	if (errno != 0 || *end != '\0' || v > UINT64_MAX >> shift)
		return false;
	*ret = v << shift;
	return true;
}

static msd_err add_listen(struct msd_options *o, const char *text, struct msd_diag *d)
{
	if (o->n_listen == MSD_MAX_LISTEN) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "--listen: at most %u addresses", MSD_MAX_LISTEN);
	}
	struct msd_address *a = &o->listen[o->n_listen];
	msd_err err = text != NULL ? msd_address_parse(text, a, d)
				   : msd_address_default(false, a, d);
	if (err == MSD_OK)
		o->n_listen++;
	return err;
}

static msd_err add_preload(struct msd_options *o, const char *text, struct msd_diag *d)
{
	struct msd_preload *more =
		realloc(o->preloads, (o->n_preloads + 1) * sizeof(*o->preloads));

	if (more == NULL)
		return msd_diag_no_memory(d);
	o->preloads = more;
	return msd_preload_read(text, &o->preloads[o->n_preloads++], d);
}

static msd_err bad_value(const char *option, const char *value, const char *expected,
			 struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "%s %s: expected %s", option, value,
			    expected);
}

static msd_err read_mode(struct msd_options *o, const char *value, struct msd_diag *d)
{
	char *end;
	unsigned long mode = strtoul(value, &end, 8);

	if (*value == '\0' || *end != '\0' || mode > 0777) {
		return bad_value("--socket-mode", value, "an octal mode such as 0660",
				 d);
	}
	o->socket_mode = (unsigned)mode;
	return MSD_OK;
}

static msd_err read_threads(struct msd_options *o, const char *value,
			    struct msd_diag *d)
{
	uint64_t number;

	if (!read_number(value, &number) || number < 1 || number > 1024)
		return bad_value("--threads", value, "a number from 1 to 1024", d);
	o->threads = (uint32_t)number;
	return MSD_OK;
}

static msd_err read_limit(struct msd_options *o, size_t row, const char *value,
			  struct msd_diag *d)
{
	if (read_number(value, limit_field(&o->limits, row)))
		return MSD_OK;
	return bad_value(limit_rows[row].option, value, "a number (K, M, G may follow)",
			 d);
}

static bool is_address(const char *text)
{
	return text != NULL &&
	       (strncmp(text, "unix:", 5) == 0 || strncmp(text, "tcp://", 6) == 0);
}

/* The address is in the same word, in the next one if that looks like one, or nowhere.
 */
static msd_err read_listen(struct msd_options *o, struct msd_argv *line,
			   const char *value, struct msd_diag *d)
{
	if (value == NULL && is_address(msd_argv_peek(line))) {
		value = msd_argv_peek(line);
		msd_argv_skip(line);
	}
	return add_listen(o, value, d);
}

/* What is no option, @text, or lacks its value. */
static msd_err refuse(int val, const char *text, struct msd_diag *d)
{
	static const char former[] = "--max-instances";

	if (val == MSD_ARGV_NO_VALUE) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: a value must follow",
				    text);
	}
	if (val == MSD_ARGV_WORD) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: neither an option nor an address, unix:PATH "
				    "or tcp://HOST:PORT, behind --listen",
				    text);
	}
	if (strncmp(text, former, sizeof(former) - 1) == 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: say --max-workers",
				    former);
	}
	return msd_diag_set(d, MSD_BAD_REQUEST, "%s: no such option (see --help)",
			    text);
}

/* What msd_argv_next() gave as @val and @value. */
static msd_err read_one(struct msd_options *o, struct msd_argv *line, int val,
			const char *value, struct msd_diag *d)
{
	switch (val) {
	case OPTION_LISTEN:
		return read_listen(o, line, value, d);
	case OPTION_LOAD:
		return add_preload(o, value, d);
	case OPTION_SOCKET_MODE:
		return read_mode(o, value, d);
	case OPTION_THREADS:
		return read_threads(o, value, d);
	case OPTION_INSECURE_TCP:
		o->insecure_tcp = true;
		return MSD_OK;
	case OPTION_ALLOW_LOAD_TCP:
		o->allow_load_tcp = true;
		return MSD_OK;
	case OPTION_STORE:
		o->store = value;
		return MSD_OK;
	case OPTION_HELP:
		o->action = MSD_RUN_HELP;
		return MSD_OK;
	case OPTION_VERSION:
		o->action = MSD_RUN_VERSION;
		return MSD_OK;
	case OPTION_API:
		o->action = MSD_RUN_API;
		return MSD_OK;
	default:
		return val >= OPTION_LIMIT
			       ? read_limit(o, (size_t)(val - OPTION_LIMIT), value, d)
			       : refuse(val, value, d);
	}
}

msd_err msd_options_read(struct msd_options *o, int argc, char **argv,
			 struct msd_diag *d)
{
	struct msd_argv line;
	const char *value;
	int val;

	*o = (struct msd_options){.socket_mode = 0600};
	for (size_t i = 0; i < N_LIMITS; i++)
		*limit_field(&o->limits, i) = limit_rows[i].value;
	msd_argv_start(&line, argc, argv, rows, NULL);
	while ((val = msd_argv_next(&line, &value)) != MSD_ARGV_END) {
		msd_err err = read_one(o, &line, val, value, d);
		if (err != MSD_OK)
			return err;
	}
	if (o->action == MSD_RUN_SERVE && o->n_listen == 0) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"nothing to listen on: give --listen (alone, for the default "
			"unix socket), unix:PATH or tcp://HOST:PORT after it");
	}
	return MSD_OK;
}

void msd_options_finish(struct msd_options *o)
{
	for (uint32_t i = 0; i < o->n_preloads; i++)
		msd_preload_finish(&o->preloads[i]);
	free(o->preloads);
	o->preloads = NULL;
	o->n_preloads = 0;
}

void msd_options_print_help(void)
{
	(void)puts(
		"usage: modserd --listen [unix:PATH | tcp://HOST:PORT] ... [options]\n"
		"\n"
		"Serve compiled modules. Runs in the foreground; SIGTERM drains and "
		"ends it.\n"
		"\n"
		"  --listen [ADDRESS]    listen there; without ADDRESS on the default "
		"unix "
		"socket\n"
		"  --load NAME=FILE[,device=DEVICE][,workers=N][,graph=FILE]"
		"[,params=FILE]\n"
		"                   [,tvm_inputs=yes][,fill=zero|seeded]\n"
		"                        load FILE as NAME at the start, on DEVICE "
		"(cpu,\n"
		"                        opencl:0; default: what FILE has code for); "
		"in N\n"
		"                        processes (1), for so many calls at the same "
		"time; with a\n"
		"                        graph executor's graph.json and .params where "
		"FILE does\n"
		"                        not hold them; tvm_inputs: set_input ignores "
		"what the\n"
		"                        model lacks; repeatable\n"
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
		"                        the start\n"
		"  --api                 print the method table and end\n"
		"  --version, --help\n"
		"\n"
		"Limits (sizes take K, M, G; times are milliseconds):");
	for (size_t i = 0; i < N_LIMITS; i++) {
		(void)printf("  %-21s %s (%" PRIu64 ")\n", limit_rows[i].option,
			     limit_rows[i].sentence, limit_rows[i].value);
	}
	(void)puts("\nEnvironment: MODSERD_LOG (error, warn, info, debug), "
		   "MODSERD_WORKER (path "
		   "of modserd-worker),\nTVM_NUM_THREADS, XDG_RUNTIME_DIR. See "
		   "modserd(8).");
}
