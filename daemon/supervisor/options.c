#include "daemon/supervisor/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
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
	if (o->n_listen == MSD_MAX_LISTEN)
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "--listen: at most %u addresses", MSD_MAX_LISTEN);
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
		return msd_diag_set(d, MSD_NOMEM, "--load: out of memory");
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

	if (*value == '\0' || *end != '\0' || mode > 0777)
		return bad_value("--socket-mode", value, "an octal mode such as 0660",
				 d);
	o->socket_mode = (unsigned)mode;
	return MSD_OK;
}

/* Options that take a value. MSD_NOT_FOUND: it is none of them. */
static msd_err read_valued(struct msd_options *o, const char *option, const char *value,
			   struct msd_diag *d)
{
	uint64_t number;

	if (strcmp(option, "--load") == 0)
		return add_preload(o, value, d);
	if (strcmp(option, "--socket-mode") == 0)
		return read_mode(o, value, d);
	if (strcmp(option, "--threads") == 0) {
		if (!read_number(value, &number) || number < 1 || number > 1024)
			return bad_value(option, value, "a number from 1 to 1024", d);
		o->threads = (uint32_t)number;
		return MSD_OK;
	}
	for (size_t i = 0; i < N_LIMITS; i++) {
		if (strcmp(option, limit_rows[i].name) != 0)
			continue;
		if (!read_number(value, limit_field(&o->limits, i)))
			return bad_value(option, value, "a number (K, M, G may follow)",
					 d);
		return MSD_OK;
	}
	return MSD_NOT_FOUND;
}

static bool read_flag(struct msd_options *o, const char *option)
{
	if (strcmp(option, "--insecure-tcp") == 0)
		o->insecure_tcp = true;
	else if (strcmp(option, "--allow-load-tcp") == 0)
		o->allow_load_tcp = true;
	else if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0)
		o->action = MSD_RUN_HELP;
	else if (strcmp(option, "--version") == 0)
		o->action = MSD_RUN_VERSION;
	else if (strcmp(option, "--api") == 0)
		o->action = MSD_RUN_API;
	else
		return false;
	return true;
}

static bool is_address(const char *text)
{
	return text != NULL &&
	       (strncmp(text, "unix:", 5) == 0 || strncmp(text, "tcp://", 6) == 0);
}

/* One option and its value at argv[*i]; `--option=value` works like `--option value`.
 */
static msd_err read_one(struct msd_options *o, char **argv, int *i, struct msd_diag *d)
{
	char option[64];
	const char *arg = argv[*i];
	const char *equals = strncmp(arg, "--", 2) == 0 ? strchr(arg, '=') : NULL;
	const char *value = equals != NULL ? equals + 1 : argv[*i + 1];

	(void)snprintf(option, sizeof(option), "%.*s",
		       (int)(equals != NULL ? equals - arg : (long)strlen(arg)), arg);
	if (strcmp(option, "--listen") == 0) {
		bool takes = equals != NULL || is_address(value);
		*i += takes && equals == NULL;
		return add_listen(o, takes ? value : NULL, d);
	}
	if (equals == NULL && read_flag(o, option))
		return MSD_OK;
	msd_err err = read_valued(o, option, value != NULL ? value : "", d);
	if (err == MSD_NOT_FOUND && strcmp(option, "--max-instances") == 0)
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: say --max-workers",
				    option);
	if (err == MSD_NOT_FOUND && arg[0] != '-')
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: neither an option nor an address, unix:PATH "
				    "or tcp://HOST:PORT, behind --listen",
				    arg);
	if (err == MSD_NOT_FOUND)
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: no such option (see --help)", arg);
	if (value == NULL)
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: a value must follow",
				    option);
	*i += equals == NULL;
	return err;
}

msd_err msd_options_read(struct msd_options *o, int argc, char **argv,
			 struct msd_diag *d)
{
	*o = (struct msd_options){.socket_mode = 0600};
	for (size_t i = 0; i < N_LIMITS; i++)
		*limit_field(&o->limits, i) = limit_rows[i].value;
	for (int i = 1; i < argc; i++) {
		msd_err err = read_one(o, argv, &i, d);
		if (err != MSD_OK)
			return err;
	}
	if (o->action == MSD_RUN_SERVE && o->n_listen == 0)
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"nothing to listen on: give --listen (alone, for the default "
			"unix socket), unix:PATH or tcp://HOST:PORT after it");
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
		"                        load FILE as NAME at the start, on DEVICE "
		"(cpu,\n"
		"                        opencl:0; default: what FILE has code for); "
		"in N\n"
		"                        processes (1), for so many calls at the same "
		"time; with a\n"
		"                        graph executor's graph.json and .params where "
		"FILE does\n"
		"                        not hold them; repeatable\n"
		"  --socket-mode MODE    of unix sockets, octal (0600): whoever may "
		"connect\n"
		"                        runs code as this daemon\n"
		"  --insecure-tcp        allow TCP addresses beyond loopback\n"
		"  --allow-load-tcp      allow loading modules over TCP\n"
		"  --threads N           threads of each worker's pool "
		"(TVM_NUM_THREADS, its\n"
		"                        part of the cores)\n"
		"  --api                 print the method table and end\n"
		"  --version, --help\n"
		"\n"
		"Limits (sizes take K, M, G; times are milliseconds):");
	for (size_t i = 0; i < N_LIMITS; i++)
		(void)printf("  %-21s %s (%" PRIu64 ")\n", limit_rows[i].name,
			     limit_rows[i].sentence, limit_rows[i].value);
	(void)puts("\nEnvironment: MODSERD_LOG (error, warn, info, debug), "
		   "MODSERD_WORKER (path "
		   "of modserd-worker),\nTVM_NUM_THREADS, XDG_RUNTIME_DIR. See "
		   "modserd(8).");
}
