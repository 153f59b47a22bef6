/*
 * Read and write option values.
 *
 * Happy path: `read` checks a value and stores it at the row's `offset`, or in a
 * field of its own. `write` formats it in the syntax of the file. Failures say what
 * was expected; the caller adds the option and its origin.
 */
#include "daemon/supervisor/config/option_values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/config/config_text.h"
#include "daemon/supervisor/config/preload.h"
#include "proto/base/argv.h"

static void *field(const struct msd_options *o, const struct msd_option *row)
{
	return (char *)(uintptr_t)o + row->offset;
}

/* The name of a limit's field ends with its unit. */
static bool is_in(const struct msd_option *row, const char *unit)
{
	const size_t n = strlen(row->limit_field);

	return n > strlen(unit) &&
	       strcmp(row->limit_field + n - strlen(unit), unit) == 0;
}

const char *msd_option_limit_unit(const struct msd_option *row)
{
	if (is_in(row, "_ms") || is_in(row, "_us"))
		return "TIME";
	return strstr(row->limit, "bytes") != NULL ? "BYTES" : "N";
}

const char *msd_option_limit_text(const struct msd_option *row, uint64_t value,
				  char ret[MSD_LIMIT_TEXT_MAX])
{
	const char *zero = msd_option_zero(row);

	if (value == 0 && zero != NULL)
		return zero;
	if (is_in(row, "_ms"))
		return msd_duration_format(value, ret);
	if (is_in(row, "_us"))
		return msd_duration_format_us(value, ret);
	(void)snprintf(ret, MSD_LIMIT_TEXT_MAX, "%" PRIu64, value);
	return ret;
}

msd_err msd_option_read_limit(struct msd_options *o, const struct msd_option *row,
			      const char *value, struct msd_diag *d)
{
	const char *zero = msd_option_zero(row);

	if (zero != NULL && strcmp(value, zero) == 0)
		value = "0";
	if (is_in(row, "_ms"))
		return msd_duration_parse(value, field(o, row), d);
	if (is_in(row, "_us"))
		return msd_duration_parse_us(value, field(o, row), d);
	if (msd_argv_size(value, field(o, row)))
		return MSD_OK;
	return msd_option_expected("a number (K, M, G may follow)", d);
}

void msd_option_write_limit(const struct msd_options *o, const struct msd_option *row,
			    struct msd_buf *ret)
{
	char text[MSD_LIMIT_TEXT_MAX];

	msd_buf_printf(
		ret, "%s",
		msd_option_limit_text(row, *(const uint64_t *)field(o, row), text));
}

msd_err msd_option_read_threads(struct msd_options *o, const struct msd_option *row,
				const char *value, struct msd_diag *d)
{
	uint64_t number;

	(void)row;
	if (!msd_argv_size(value, &number) || number < 1 || number > 1024)
		return msd_option_expected("a number from 1 to 1024", d);
	o->threads = (uint32_t)number;
	return MSD_OK;
}

void msd_option_write_threads(const struct msd_options *o, const struct msd_option *row,
			      struct msd_buf *ret)
{
	(void)row;
	if (o->threads > 0)
		msd_buf_printf(ret, "%" PRIu32, o->threads);
}

msd_err msd_option_read_mode(struct msd_options *o, const struct msd_option *row,
			     const char *value, struct msd_diag *d)
{
	char *end;
	unsigned long mode = strtoul(value, &end, 8);

	(void)row;
	if (*value == '\0' || *end != '\0' || mode > 0777)
		return msd_option_expected("an octal mode such as 0660", d);
	o->socket_mode = (uint32_t)mode;
	return MSD_OK;
}

void msd_option_write_mode(const struct msd_options *o, const struct msd_option *row,
			   struct msd_buf *ret)
{
	(void)row;
	msd_buf_printf(ret, "0%" PRIo32, o->socket_mode);
}

/* It has no value on the command line. */
msd_err msd_option_read_flag(struct msd_options *o, const struct msd_option *row,
			     const char *value, struct msd_diag *d)
{
	bool *flag = field(o, row);

	*flag = value == NULL;
	if (value == NULL || msd_argv_flag(value, flag))
		return MSD_OK;
	return msd_option_expected("yes or no", d);
}

void msd_option_write_flag(const struct msd_options *o, const struct msd_option *row,
			   struct msd_buf *ret)
{
	msd_buf_printf(ret, *(const bool *)field(o, row) ? "yes" : "no");
}

msd_err msd_option_read_path(struct msd_options *o, const struct msd_option *row,
			     const char *value, struct msd_diag *d)
{
	const char *copy = msd_options_keep(o, value);

	if (copy == NULL)
		return msd_diag_no_memory(d);
	if (*copy == '\0')
		return msd_option_expected("a path", d);
	*(const char **)field(o, row) = copy;
	return MSD_OK;
}

void msd_option_write_path(const struct msd_options *o, const struct msd_option *row,
			   struct msd_buf *ret)
{
	const char *path = *(const char *const *)field(o, row);

	if (path != NULL)
		msd_config_quote(path, ret);
}

/* Workers may have another working directory: make the path absolute. */
msd_err msd_option_read_paths(struct msd_options *o, const struct msd_option *row,
			      const char *value, struct msd_diag *d)
{
	struct msd_option_paths *list = field(o, row);
	char *path = realpath(value, NULL);

	if (path == NULL) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"expected the path of an existing file or folder: %s",
			strerror(errno));
	}
	const char *copy = msd_options_keep(o, path);
	free(path);
	if (copy == NULL)
		return msd_diag_no_memory(d);
	if (list->n == MSD_MAX_PATHS) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "expected at most %u values",
				    MSD_MAX_PATHS);
	}
	list->paths[list->n++] = copy;
	list->paths[list->n] = NULL;
	return MSD_OK;
}

void msd_option_write_paths(const struct msd_options *o, const struct msd_option *row,
			    struct msd_buf *ret)
{
	const struct msd_option_paths *list = field(o, row);

	msd_config_quote_list(list->paths, list->n, ret);
}

msd_err msd_option_read_proxies(struct msd_options *o, const struct msd_option *row,
				const char *value, struct msd_diag *d)
{
	struct msd_networks *ns = &o->proxies.networks;
	const char *copy = msd_options_keep(o, value);

	(void)row;
	if (copy == NULL)
		return msd_diag_no_memory(d);
	if (ns->n == MSD_MAX_NETWORKS) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "expected at most %u values",
				    MSD_MAX_NETWORKS);
	}
	if (!msd_network_parse(value, &ns->of[ns->n]))
		return msd_option_expected("ADDRESS or ADDRESS/BITS", d);
	o->proxies.texts[ns->n++] = copy;
	return MSD_OK;
}

void msd_option_write_proxies(const struct msd_options *o, const struct msd_option *row,
			      struct msd_buf *ret)
{
	(void)row;
	msd_config_quote_list(o->proxies.texts, o->proxies.networks.n, ret);
}

msd_err msd_option_read_sandbox(struct msd_options *o, const struct msd_option *row,
				const char *value, struct msd_diag *d)
{
	const struct msd_span word = msd_span_of(value);

	(void)row;
	return msd_word_list_find(&msd_sandbox_words, word, &o->sandbox)
		       ? MSD_OK
		       : msd_option_expected(MSD_SANDBOX_WORDS, d);
}

void msd_option_write_sandbox(const struct msd_options *o, const struct msd_option *row,
			      struct msd_buf *ret)
{
	(void)row;
	msd_buf_printf(ret, "%s", msd_sandbox_word_name(o->sandbox));
}

msd_err msd_option_read_trust(struct msd_options *o, const struct msd_option *row,
			      const char *value, struct msd_diag *d)
{
	const char *copy = msd_options_keep(o, value);

	(void)row;
	return copy != NULL ? msd_trust_option_add(&o->trust, copy, d)
			    : msd_diag_no_memory(d);
}

void msd_option_write_trust(const struct msd_options *o, const struct msd_option *row,
			    struct msd_buf *ret)
{
	(void)row;
	msd_config_quote_list(o->trust.files, o->trust.n, ret);
}

msd_err msd_option_read_least(struct msd_options *o, const struct msd_option *row,
			      const char *value, struct msd_diag *d)
{
	uint64_t number;

	(void)row;
	if (!msd_argv_size(value, &number) || number < 1 || number > MSD_TRUST_KEYS)
		return msd_option_expected("a number from 1 to 16", d);
	o->trust.trust.least = (uint32_t)number;
	return MSD_OK;
}

void msd_option_write_least(const struct msd_options *o, const struct msd_option *row,
			    struct msd_buf *ret)
{
	const uint32_t least = o->trust.trust.least;

	(void)row;
	msd_buf_printf(ret, "%" PRIu32, least > 0 ? least : 1);
}

msd_err msd_option_read_policy(struct msd_options *o, const struct msd_option *row,
			       const char *value, struct msd_diag *d)
{
	(void)row;
	return msd_trust_option_policy(&o->trust, value, d);
}

void msd_option_write_policy(const struct msd_options *o, const struct msd_option *row,
			     struct msd_buf *ret)
{
	(void)row;
	msd_config_quote(msd_policy_word(o->trust.trust.policy), ret);
}

msd_err msd_option_read_load(struct msd_options *o, const struct msd_option *row,
			     const char *value, struct msd_diag *d)
{
	struct msd_preload *p = msd_options_add_preload(o);

	(void)row;
	return p != NULL ? msd_preload_read(value, p, d) : msd_diag_no_memory(d);
}

msd_err msd_option_read_check(struct msd_options *o, const struct msd_option *row,
			      const char *value, struct msd_diag *d)
{
	o->action = MSD_RUN_CHECK_CONFIG;
	return msd_option_read_path(o, row, value, d);
}

msd_err msd_option_read_action(struct msd_options *o, const struct msd_option *row,
			       const char *value, struct msd_diag *d)
{
	(void)value;
	(void)d;
	o->action = (enum msd_run)row->value;
	return MSD_OK;
}
