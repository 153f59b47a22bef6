/*
 * The table of options, and how their values are read and written.
 *
 * Happy path: a row's `read` checks a value and puts it where `offset` says, or where
 * it alone goes; `write` says the same as a file has it. Failures say what was
 * expected: who called knows which option it is, and where it was said.
 */
#include "daemon/supervisor/option_rows.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/config_text.h"
#include "daemon/supervisor/preload.h"
#include "proto/argv.h"

static void *field(const struct msd_options *o, const struct msd_option *row)
{
	return (char *)(uintptr_t)o + row->offset;
}

static msd_err expected(const char *what, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "expected %s", what);
}

/* A limit's field ends with its unit. */
static bool is_time(const struct msd_option *row)
{
	const size_t n = strlen(row->limit_field);

	return n > 3 && strcmp(row->limit_field + n - 3, "_ms") == 0;
}

const char *msd_option_limit_text(const struct msd_option *row, uint64_t value,
				  char ret[MSD_LIMIT_TEXT_MAX])
{
	if (is_time(row))
		return msd_duration_format(value, ret);
	(void)snprintf(ret, MSD_LIMIT_TEXT_MAX, "%" PRIu64, value);
	return ret;
}

static msd_err read_limit(struct msd_options *o, const struct msd_option *row,
			  const char *value, struct msd_diag *d)
{
	if (is_time(row))
		return msd_duration_parse(value, field(o, row), d);
	if (msd_argv_size(value, field(o, row)))
		return MSD_OK;
	return expected("a number (K, M, G may follow)", d);
}

static void write_limit(const struct msd_options *o, const struct msd_option *row,
			struct msd_buf *ret)
{
	char text[MSD_LIMIT_TEXT_MAX];

	msd_buf_printf(
		ret, "%s",
		msd_option_limit_text(row, *(const uint64_t *)field(o, row), text));
}

static msd_err read_threads(struct msd_options *o, const struct msd_option *row,
			    const char *value, struct msd_diag *d)
{
	uint64_t number;

	(void)row;
	if (!msd_argv_size(value, &number) || number < 1 || number > 1024)
		return expected("a number from 1 to 1024", d);
	o->threads = (uint32_t)number;
	return MSD_OK;
}

static void write_threads(const struct msd_options *o, const struct msd_option *row,
			  struct msd_buf *ret)
{
	(void)row;
	if (o->threads > 0)
		msd_buf_printf(ret, "%" PRIu32, o->threads);
}

static msd_err read_mode(struct msd_options *o, const struct msd_option *row,
			 const char *value, struct msd_diag *d)
{
	char *end;
	unsigned long mode = strtoul(value, &end, 8);

	(void)row;
	if (*value == '\0' || *end != '\0' || mode > 0777)
		return expected("an octal mode such as 0660", d);
	o->socket_mode = (uint32_t)mode;
	return MSD_OK;
}

static void write_mode(const struct msd_options *o, const struct msd_option *row,
		       struct msd_buf *ret)
{
	(void)row;
	msd_buf_printf(ret, "0%" PRIo32, o->socket_mode);
}

/* On the command line it has no value. */
static msd_err read_flag(struct msd_options *o, const struct msd_option *row,
			 const char *value, struct msd_diag *d)
{
	bool *flag = field(o, row);

	*flag = value == NULL;
	if (value == NULL || msd_argv_flag(value, flag))
		return MSD_OK;
	return expected("yes or no", d);
}

static void write_flag(const struct msd_options *o, const struct msd_option *row,
		       struct msd_buf *ret)
{
	msd_buf_printf(ret, *(const bool *)field(o, row) ? "yes" : "no");
}

static msd_err read_path(struct msd_options *o, const struct msd_option *row,
			 const char *value, struct msd_diag *d)
{
	const char *copy = msd_options_keep(o, value);

	if (copy == NULL)
		return msd_diag_no_memory(d);
	if (*copy == '\0')
		return expected("a path", d);
	*(const char **)field(o, row) = copy;
	return MSD_OK;
}

static void write_path(const struct msd_options *o, const struct msd_option *row,
		       struct msd_buf *ret)
{
	const char *path = *(const char *const *)field(o, row);

	if (path != NULL)
		msd_config_quote(path, ret);
}

static msd_err read_listen(struct msd_options *o, const struct msd_option *row,
			   const char *value, struct msd_diag *d)
{
	(void)row;
	if (o->n_listen == MSD_MAX_LISTEN) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "at most %u addresses",
				    MSD_MAX_LISTEN);
	}
	struct msd_address *a = &o->listen[o->n_listen];
	msd_err err = value != NULL ? msd_address_parse(value, a, d)
				    : msd_address_default(false, a, d);
	if (err == MSD_OK)
		o->n_listen++;
	return err;
}

static void write_listen(const struct msd_options *o, const struct msd_option *row,
			 struct msd_buf *ret)
{
	char text[MSD_ADDRESS_TEXT_MAX];

	(void)row;
	for (uint32_t i = 0; i < o->n_listen; i++) {
		msd_buf_printf(ret, i == 0 ? "{" : ", ");
		msd_config_quote(msd_address_format(&o->listen[i], text), ret);
	}
	if (o->n_listen > 0)
		msd_buf_put(ret, "}", 1);
}

#define HTTP_FORMS "HOST:PORT, [IPV6]:PORT or unix:PATH"

static msd_err read_http(struct msd_options *o, const struct msd_option *row,
			 const char *value, struct msd_diag *d)
{
	const bool is_unix = strncmp(value, "unix:", 5) == 0;
	char text[MSD_ADDRESS_TEXT_MAX];

	(void)row;
	if (!is_unix && strstr(value, "://") != NULL)
		return expected(HTTP_FORMS, d);
	const int n =
		snprintf(text, sizeof(text), "%s%s", is_unix ? "" : "tcp://", value);
	if (n < 0 || (size_t)n >= sizeof(text) ||
	    msd_address_parse(text, &o->http, d) != MSD_OK)
		return expected(HTTP_FORMS, d);
	o->has_http = true;
	return MSD_OK;
}

static void write_http(const struct msd_options *o, const struct msd_option *row,
		       struct msd_buf *ret)
{
	char text[MSD_ADDRESS_TEXT_MAX];

	(void)row;
	if (!o->has_http)
		return;
	(void)msd_address_format(&o->http, text);
	msd_config_quote(o->http.kind == MSD_ADDRESS_UNIX ? text : text + 6, ret);
}

/* Workers may have another folder: the path becomes an absolute one. */
static msd_err read_paths(struct msd_options *o, const struct msd_option *row,
			  const char *value, struct msd_diag *d)
{
	struct msd_option_paths *list = field(o, row);
	char *path = realpath(value, NULL);

	if (path == NULL) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "expected what is there: %s",
				    strerror(errno));
	}
	const char *copy = msd_options_keep(o, path);
	free(path);
	if (copy == NULL)
		return msd_diag_no_memory(d);
	if (list->n == MSD_MAX_PATHS) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "at most %u of them",
				    MSD_MAX_PATHS);
	}
	list->paths[list->n++] = copy;
	list->paths[list->n] = NULL;
	return MSD_OK;
}

static void write_list(const char *const *values, uint32_t n, struct msd_buf *ret)
{
	for (uint32_t i = 0; i < n; i++) {
		msd_buf_printf(ret, i == 0 ? "{" : ", ");
		msd_config_quote(values[i], ret);
	}
	if (n > 0)
		msd_buf_put(ret, "}", 1);
}

static void write_paths(const struct msd_options *o, const struct msd_option *row,
			struct msd_buf *ret)
{
	const struct msd_option_paths *list = field(o, row);

	write_list(list->paths, list->n, ret);
}

static msd_err read_sandbox(struct msd_options *o, const struct msd_option *row,
			    const char *value, struct msd_diag *d)
{
	const struct msd_span word = {(const uint8_t *)value, strlen(value)};

	(void)row;
	return msd_sandbox_word_parse(word, &o->sandbox)
		       ? MSD_OK
		       : expected(MSD_SANDBOX_WORDS, d);
}

static void write_sandbox(const struct msd_options *o, const struct msd_option *row,
			  struct msd_buf *ret)
{
	(void)row;
	msd_buf_printf(ret, "%s", msd_sandbox_word_name(o->sandbox));
}

static msd_err read_trust(struct msd_options *o, const struct msd_option *row,
			  const char *value, struct msd_diag *d)
{
	const char *copy = msd_options_keep(o, value);

	(void)row;
	return copy != NULL ? msd_trust_option_add(&o->trust, copy, d)
			    : msd_diag_no_memory(d);
}

static void write_trust(const struct msd_options *o, const struct msd_option *row,
			struct msd_buf *ret)
{
	(void)row;
	write_list(o->trust.files, o->trust.n, ret);
}

static msd_err read_least(struct msd_options *o, const struct msd_option *row,
			  const char *value, struct msd_diag *d)
{
	uint64_t number;

	(void)row;
	if (!msd_argv_size(value, &number) || number < 1 || number > MSD_TRUST_KEYS)
		return expected("a number from 1 to 16", d);
	o->trust.trust.least = (uint32_t)number;
	return MSD_OK;
}

static void write_least(const struct msd_options *o, const struct msd_option *row,
			struct msd_buf *ret)
{
	const uint32_t least = o->trust.trust.least;

	(void)row;
	msd_buf_printf(ret, "%" PRIu32, least > 0 ? least : 1);
}

static msd_err read_policy(struct msd_options *o, const struct msd_option *row,
			   const char *value, struct msd_diag *d)
{
	(void)row;
	return msd_trust_option_policy(&o->trust, value, d);
}

static void write_policy(const struct msd_options *o, const struct msd_option *row,
			 struct msd_buf *ret)
{
	(void)row;
	msd_config_quote(msd_policy_word(o->trust.trust.policy), ret);
}

static msd_err read_load(struct msd_options *o, const struct msd_option *row,
			 const char *value, struct msd_diag *d)
{
	struct msd_preload *p = msd_options_add_preload(o);

	(void)row;
	return p != NULL ? msd_preload_read(value, p, d) : msd_diag_no_memory(d);
}

static msd_err read_check(struct msd_options *o, const struct msd_option *row,
			  const char *value, struct msd_diag *d)
{
	o->action = MSD_RUN_CHECK_CONFIG;
	return read_path(o, row, value, d);
}

static msd_err read_action(struct msd_options *o, const struct msd_option *row,
			   const char *value, struct msd_diag *d)
{
	(void)value;
	(void)d;
	o->action = (enum msd_run)row->value;
	return MSD_OK;
}

#define OF(field) offsetof(struct msd_options, field)
static const struct msd_option rows[] = {
	{.name = "listen",
	 .when = MSD_OPTION_RESTART,
	 .argument = optional_argument,
	 .offset = OF(n_listen),
	 .read = read_listen,
	 .write = write_listen,
	 .is_list = true},
	{.name = "http",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .read = read_http,
	 .write = write_http},
	{.name = "load", /* in a file it is a section */
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .read = read_load},
	{.name = "socket-mode",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .read = read_mode,
	 .write = write_mode},
	{.name = "threads",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .read = read_threads,
	 .write = write_threads},
	{.name = "insecure-tcp",
	 .when = MSD_OPTION_RESTART,
	 .offset = OF(insecure_tcp),
	 .read = read_flag,
	 .write = write_flag},
	{.name = "allow-load-tcp",
	 .when = MSD_OPTION_RESTART,
	 .offset = OF(allow_load_tcp),
	 .read = read_flag,
	 .write = write_flag},
	{.name = "tls-cert",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(tls_cert),
	 .read = read_path,
	 .write = write_path},
	{.name = "tls-key",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(tls_key),
	 .read = read_path,
	 .write = write_path},
	{.name = "tls-ca",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(tls_ca),
	 .read = read_path,
	 .write = write_path},
	{.name = "store",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(store),
	 .read = read_path,
	 .write = write_path},
	{.name = "acl",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(acl),
	 .read = read_path,
	 .write = write_path},
	{.name = "plugin",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(plugins),
	 .read = read_paths,
	 .write = write_paths,
	 .is_list = true},
	{.name = "sandbox",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .read = read_sandbox,
	 .write = write_sandbox},
	{.name = "may-read",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(may_read),
	 .read = read_paths,
	 .write = write_paths,
	 .is_list = true},
	{.name = "may-write",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(may_write),
	 .read = read_paths,
	 .write = write_paths,
	 .is_list = true},
	{.name = "trust",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(trust.n),
	 .read = read_trust,
	 .write = write_trust,
	 .is_list = true},
	{.name = "trust-least",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .read = read_least,
	 .write = write_least},
	{.name = "policy",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .read = read_policy,
	 .write = write_policy},
	{.name = "auth",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(terms.auth),
	 .read = read_path,
	 .write = write_path},
	{.name = "ca",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(terms.ca),
	 .read = read_path,
	 .write = write_path},
	{.name = "proxy",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(terms.proxy),
	 .read = read_path,
	 .write = write_path},
	{.name = "insecure",
	 .when = MSD_OPTION_RELOAD,
	 .offset = OF(terms.insecure),
	 .read = read_flag,
	 .write = write_flag},
	{.name = "config",
	 .argument = required_argument,
	 .offset = OF(config),
	 .read = read_path},
	{.name = "check-config",
	 .argument = required_argument,
	 .offset = OF(config),
	 .read = read_check},
	{.name = "print-config", .value = MSD_RUN_PRINT_CONFIG, .read = read_action},
	{.name = "api", .value = MSD_RUN_API, .read = read_action},
	{.name = "version", .value = MSD_RUN_VERSION, .read = read_action},
	{.name = "help", .value = MSD_RUN_HELP, .read = read_action},
#define MSD_LIMIT_OPTION(field_, option, when_, value_, sentence)                      \
	{.name = option,                                                               \
	 .when = MSD_OPTION_##when_,                                                   \
	 .argument = required_argument,                                                \
	 .offset = OF(limits.field_),                                                  \
	 .limit = sentence,                                                            \
	 .limit_field = #field_,                                                       \
	 .value = value_,                                                              \
	 .read = read_limit,                                                           \
	 .write = write_limit},
	MSD_LIMIT_MAP(MSD_LIMIT_OPTION)
#undef MSD_LIMIT_OPTION
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))
_Static_assert(N_ROWS <= MSD_MAX_OPTIONS, "an origin for each row");

const struct msd_option *msd_option_row(unsigned i)
{
	return i < N_ROWS ? &rows[i] : NULL;
}

unsigned msd_option_find(const char *name)
{
	unsigned i = 0;

	while (i < N_ROWS && strcmp(rows[i].name, name) != 0)
		i++;
	return i;
}

uint64_t *msd_option_limit(struct msd_limits *l, const struct msd_option *row)
{
	return (uint64_t *)(void *)((char *)l + (row->offset - OF(limits)));
}

void msd_option_defaults(struct msd_options *o)
{
	o->socket_mode = 0600;
	o->sandbox = MSD_SANDBOX_TRUSTED;
	for (unsigned i = 0; i < N_ROWS; i++) {
		if (rows[i].limit != NULL)
			*msd_option_limit(&o->limits, &rows[i]) = rows[i].value;
	}
}
