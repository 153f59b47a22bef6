/*
 * Read modserd's options: the command line overrides the configuration file, and the
 * file overrides the defaults.
 *
 * Happy path: the command line is split into options, the file is read, then the
 * values of the command line are applied. The row of each option checks its value at
 * once (option_rows.h). Failures name the option, the given value and the expected
 * value; nothing has been started.
 */
#include "daemon/supervisor/config/options_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/supervisor/config/config.h"
#include "daemon/supervisor/config/default_store.h"
#include "daemon/supervisor/config/option_rows.h"
#include "daemon/supervisor/config/preload.h"
#include "proto/base/argv.h"
#include "proto/name.h"

#define COMMAND_LINE "command line"

/* An option of the command line. */
struct word {
	unsigned row;
	const char *value; /* NULL: no value */
};

static bool is_address(const char *text)
{
	return text != NULL &&
	       (strncmp(text, "unix:", 5) == 0 || strncmp(text, "tcp://", 6) == 0 ||
		strncmp(text, "tls://", 6) == 0);
}

/* Reject @text: it is not an option, or its value is missing. */
static msd_err refuse(int val, const char *text, struct msd_diag *d)
{
	if (val == MSD_ARGV_NO_VALUE) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: expected a value after it",
				    text);
	}
	if (val == MSD_ARGV_WORD) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: expected an option, a model file, or after "
				    "--listen an address (unix:PATH, tcp://HOST:PORT "
				    "or tls://HOST:PORT)",
				    text);
	}
	const char *near = msd_option_near(text + strspn(text, "-"));
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "%s: no such option%s%s%s (see --help-all)", text,
			    near != NULL ? "; did you mean --" : "",
			    near != NULL ? near : "", near != NULL ? "?" : "");
}

/* Build getopt's table. The code of a row is MSD_ARGV_NO_LETTER plus its number,
 * except for -h. */
static void
getopt_rows(struct option ret[static MSD_MAX_OPTIONS + MSD_FORMER_OPTIONS + 1])
{
	const struct msd_option *row;
	const char *former;
	unsigned n = 0;

	for (; (row = msd_option_row(n)) != NULL; n++) {
		const bool is_help = strcmp(row->name, "help") == 0;

		ret[n] = (struct option){.name = row->name,
					 .has_arg = row->argument,
					 .val = is_help ? 'h'
							: MSD_ARGV_NO_LETTER + (int)n};
	}
	for (unsigned i = 0; (former = msd_option_former(i)) != NULL; i++) {
		const unsigned is = msd_option_find(former);

		ret[n + i] = (struct option){.name = former,
					     .has_arg = msd_option_row(is)->argument,
					     .val = MSD_ARGV_NO_LETTER + (int)is};
	}
}

/* The model file @path, as the value of --load: its name is the file's, without the
 * ending. Characters that a name may not have become hyphens. */
static msd_err add_model(struct msd_options *o, const char *path, struct word *words,
			 unsigned *n, struct msd_diag *d)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(file, '.');
	const size_t bytes =
		dot != NULL && dot > file ? (size_t)(dot - file) : strlen(file);
	struct msd_buf text = {0};

	msd_buf_put(&text, file,
		    bytes < MSD_MAX_NAME_BYTES ? bytes : MSD_MAX_NAME_BYTES);
	for (size_t i = 0; i < text.n; i++) {
		if (!msd_name_valid((struct msd_span){text.p + i, 1}))
			text.p[i] = '-';
	}
	msd_buf_printf(&text, "=%s", path);
	msd_buf_put_u8(&text, '\0');
	const char *value = text.bad ? NULL : msd_options_keep(o, (const char *)text.p);
	msd_buf_finish(&text);
	if (value == NULL)
		return msd_diag_no_memory(d);
	words[(*n)++] = (struct word){msd_option_find("load"), value};
	o->has_model = true;
	return MSD_OK;
}

/* Split @argv into @words, which has room for all of them. */
static msd_err read_words(struct msd_options *o, int argc, char **argv,
			  struct word *words, unsigned *ret_n, struct msd_diag *d)
{
	struct option rows[MSD_MAX_OPTIONS + MSD_FORMER_OPTIONS + 1] = {0};
	struct msd_argv line;
	const char *value;
	unsigned n = 0;
	int val;

	getopt_rows(rows);
	msd_argv_start(&line, argc, argv, rows, NULL);
	while ((val = msd_argv_next(&line, &value)) != MSD_ARGV_END) {
		unsigned row = val == 'h' ? msd_option_find("help")
					  : (unsigned)(val - MSD_ARGV_NO_LETTER);

		if (val == MSD_ARGV_WORD && access(value, R_OK) == 0) {
			const msd_err err = add_model(o, value, words, &n, d);

			if (err != MSD_OK)
				return err;
			continue;
		}
		if (val != 'h' && val < MSD_ARGV_NO_LETTER)
			return refuse(val, value, d);
		/* An address is in the same argument, or in the next argument if that
		 * looks like an address. */
		if (msd_option_row(row)->argument == optional_argument &&
		    value == NULL && is_address(msd_argv_peek(&line))) {
			value = msd_argv_peek(&line);
			msd_argv_skip(&line);
		}
		words[n++] = (struct word){row, value};
	}
	*ret_n = n;
	return MSD_OK;
}

static msd_err apply(struct msd_options *o, const struct word *w, struct msd_diag *d)
{
	const struct msd_option *row = msd_option_row(w->row);
	const char *origin = o->origins[w->row];

	/* A list of the command line replaces the list of the file. */
	if (row->is_list && (origin == NULL || strcmp(origin, COMMAND_LINE) != 0))
		*(uint32_t *)(void *)((char *)o + row->offset) = 0;
	o->origins[w->row] = COMMAND_LINE;
	msd_err err = row->read(o, row, w->value, d);
	/* The error text of a module is already complete. */
	if (err != MSD_OK && strcmp(row->name, "load") != 0) {
		err = msd_diag_wrap(d, err, "--%s%s%s", row->name,
				    w->value != NULL ? " " : "",
				    w->value != NULL ? w->value : "");
	}
	return err;
}

/* Apply the words of the command line; the first pass applies only the action and the
 * configuration file. */
static msd_err apply_words(struct msd_options *o, const struct word *words, unsigned n,
			   bool first, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (unsigned i = 0; i < n && err == MSD_OK; i++) {
		const struct msd_option *row = msd_option_row(words[i].row);

		if ((row->when == MSD_OPTION_NOW) == first)
			err = apply(o, &words[i], d);
	}
	return err;
}

static msd_err read_file(struct msd_options *o, struct msd_diag *d)
{
	if (o->action == MSD_RUN_HELP || o->action == MSD_RUN_HELP_ALL ||
	    o->action == MSD_RUN_VERSION || o->action == MSD_RUN_API)
		return MSD_OK;
	if (o->config == NULL && access(MSD_CONFIG_DEFAULT, F_OK) != 0 &&
	    errno == ENOENT)
		return MSD_OK;
	if (o->config == NULL)
		o->config = MSD_CONFIG_DEFAULT;
	return msd_config_read(o, o->config, d);
}

/* If no store is named, use the environment. */
static msd_err read_environment(struct msd_options *o, struct msd_diag *d)
{
	const char *origin;
	char *folder;

	if (o->store != NULL)
		return MSD_OK;
	msd_err err = msd_default_store(&folder, &origin, d);
	if (err == MSD_OK && folder != NULL) {
		o->store = msd_options_keep(o, folder);
		err = o->store != NULL ? MSD_OK : msd_diag_no_memory(d);
	}
	free(folder);
	o->origins[msd_option_find("store")] = origin;
	o->may_lack_store = origin == NULL;
	return err;
}

/* @module: the name of the section that sets the policy, or NULL. */
static msd_err refuse_signed(const char *where, const char *module, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "%s: %s%sthe policy is \"signed\", so every pull would "
			    "fail: add a public key with trust",
			    where, module != NULL ? module : "",
			    module != NULL ? ": " : "");
}

static const char *origin_of(const struct msd_options *o, const char *name)
{
	const char *origin = o->origins[msd_option_find(name)];

	return origin != NULL ? origin : COMMAND_LINE;
}

/* Check that trusted keys exist if signatures are required. */
static msd_err check_trust(const struct msd_options *o, struct msd_diag *d)
{
	const struct msd_trust *t = &o->trust.trust;

	if (t->n_keys == 0 && t->policy == MSD_POLICY_SIGNED)
		return refuse_signed(origin_of(o, "policy"), NULL, d);
	for (uint32_t i = 0; t->n_keys == 0 && i < o->n_preloads; i++) {
		const struct msd_preload *p = &o->preloads[i];

		if (p->terms.has_policy && p->terms.policy == MSD_POLICY_SIGNED)
			return refuse_signed(p->origin, p->name, d);
	}
	if (t->n_keys == 0 || t->least <= t->n_keys)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "%s: trust-least = %u, but trust names %u keys, so every "
			    "pull would fail",
			    origin_of(o, "trust-least"), t->least, t->n_keys);
}

/* A model file without an address is served on the default socket and by HTTP. */
static msd_err serve_model(struct msd_options *o, struct msd_diag *d)
{
	const struct word words[] = {{msd_option_find("listen"), NULL},
				     {msd_option_find("http"), "127.0.0.1:8000"}};

	if (!o->has_model || o->n_listen > 0 || o->has_http)
		return MSD_OK;
	const msd_err err = apply(o, &words[0], d);
	return err == MSD_OK ? apply(o, &words[1], d) : err;
}

static msd_err read_all(struct msd_options *o, const struct word *words, unsigned n,
			struct msd_diag *d)
{
	msd_err err = apply_words(o, words, n, true, d);

	if (err == MSD_OK)
		err = read_file(o, d);
	if (err == MSD_OK)
		err = apply_words(o, words, n, false, d);
	if (err == MSD_OK)
		err = serve_model(o, d);
	if (err == MSD_OK)
		err = read_environment(o, d);
	return err == MSD_OK ? check_trust(o, d) : err;
}

static msd_err read_new(struct msd_options *o, int argc, char **argv, bool is_again,
			struct msd_diag *d)
{
	struct word *words = calloc((size_t)argc + 1, sizeof(*words));
	unsigned n = 0;

	*o = (struct msd_options){.is_again = is_again};
	msd_option_defaults(o);
	if (words == NULL)
		return msd_diag_no_memory(d);
	msd_err err = read_words(o, argc, argv, words, &n, d);
	if (err == MSD_OK)
		err = read_all(o, words, n, d);
	free(words);
	return err;
}

msd_err msd_options_read(struct msd_options *o, int argc, char **argv,
			 struct msd_diag *d)
{
	return read_new(o, argc, argv, false, d);
}

msd_err msd_options_read_again(struct msd_options *o, int argc, char **argv,
			       struct msd_diag *d)
{
	return read_new(o, argc, argv, true, d);
}

msd_err msd_options_check_listen(const struct msd_options *o, uint32_t n_handed,
				 struct msd_diag *d)
{
	const bool is_checked =
		o->action == MSD_RUN_SERVE || o->action == MSD_RUN_CHECK_CONFIG;

	if (is_checked && o->rpc.text != NULL && !o->allow_load_tcp) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "--tvm-rpc: each session of TVM's RPC loads code, "
				    "and --allow-load-tcp is not given\n"
				    "  to do: add --allow-load-tcp, or allow-load-tcp "
				    "= yes in the file of --config");
	}
	if (o->action != MSD_RUN_SERVE || o->n_listen + n_handed > 0 || o->has_http ||
	    o->rpc.text != NULL)
		return MSD_OK;
	return msd_diag_set(
		d, MSD_BAD_REQUEST,
		"no address to listen on: give --listen (alone for the default unix "
		"socket, or with unix:PATH, tcp://HOST:PORT or tls://HOST:PORT), "
		"--http, --tvm-rpc, or listen = {...} in the file of --config");
}
