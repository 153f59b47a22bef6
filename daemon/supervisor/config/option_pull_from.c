/* Read and write URL prefixes. modserd-fetch compares them
 * (daemon/fetch/transfer/pull_prefixes.h); this file accepts only prefixes that are
 * unambiguous.
 */
#include <ctype.h>
#include <string.h>

#include "daemon/supervisor/config/config_text.h"
#include "daemon/supervisor/config/option_values.h"

/* The text after the scheme; NULL if the scheme is not supported. */
static const char *behind_scheme(const char *url, bool *ret_is_file)
{
	static const char *const schemes[] = {"file://", "https://", "http://",
					      "oci://", "modser://"};

	for (unsigned i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		const size_t n = strlen(schemes[i]);

		*ret_is_file = i == 0;
		if (strncmp(url, schemes[i], n) == 0)
			return url + n;
	}
	return NULL;
}

/* HOST or HOST:PORT; HOST may be an address in brackets. */
static bool is_host(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)text[i]) &&
		    strchr(".-:[]", text[i]) == NULL)
			return false;
	}
	return n > 0;
}

/* True if no character of @path has a special meaning in a URL. */
static bool is_path(const char *path)
{
	for (const char *p = path; *p != '\0'; p++) {
		if (!isgraph((unsigned char)*p) || strchr("%?#\\@", *p) != NULL)
			return false;
		if (p[0] == '/' && p[1] == '.')
			return false;
	}
	return true;
}

msd_err msd_option_read_pull_from(struct msd_options *o, const struct msd_option *row,
				  const char *value, struct msd_diag *d)
{
	struct msd_pull_from *list = &o->terms.pull_from;
	const char *copy = msd_options_keep(o, value);
	bool is_file = false;

	(void)row;
	if (copy == NULL)
		return msd_diag_no_memory(d);
	if (list->n == MSD_PULL_FROM_MAX) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "at most %u of them",
				    MSD_PULL_FROM_MAX);
	}
	const char *host = behind_scheme(copy, &is_file);
	const size_t n = host != NULL ? strcspn(host, "/") : 0;
	if (host == NULL || (is_file ? n > 0 || host[0] == '\0' : !is_host(host, n)) ||
	    !is_path(host + n)) {
		return msd_option_expected(
			"the beginning of URLs, such as https://HOST/FOLDER/ or "
			"file:///FOLDER/, without a user, %, ? or names that begin "
			"with a dot",
			d);
	}
	list->each[list->n++] = copy;
	return MSD_OK;
}

void msd_option_write_pull_from(const struct msd_options *o,
				const struct msd_option *row, struct msd_buf *ret)
{
	(void)row;
	msd_config_quote_list(o->terms.pull_from.each, o->terms.pull_from.n, ret);
}
