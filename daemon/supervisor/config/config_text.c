#include "daemon/supervisor/config/config_text.h"

#include <string.h>

unsigned msd_config_line(const char *text, const char *at)
{
	unsigned line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

/* The text of the file @path. */
struct text {
	const char *path;
	char *p;
	unsigned n_open;    /* braces open so far */
	const char *opener; /* first open brace */
};

static msd_err refuse(const struct text *t, const char *at, const char *why,
		      struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "%s:%u: %s", t->path,
			    msd_config_line(t->p, at), why);
}

/* The position after the string whose first quote is at @at; NULL if the string is
 * not closed. */
static char *skip_string(char *at)
{
	const char quote = *at++;

	while (*at != quote) {
		if (*at == '\\' && at[1] != '\0')
			at++;
		if (*at++ == '\0')
			return NULL;
	}
	return at + 1;
}

/* The end of the comment that begins at @at. Returns @at if no comment begins there,
 * NULL if the comment is not closed. */
static char *comment_end(char *at)
{
	if (*at == '#' || strncmp(at, "//", 2) == 0)
		return at + strcspn(at, "\n");
	if (strncmp(at,
		    "/"
		    "*",
		    2) != 0)
		return at;
	at = strstr(at + 2, "*"
			    "/");
	return at != NULL ? at + 2 : NULL;
}

static void blank(char *from, const char *to)
{
	for (; from < to; from++) {
		if (*from != '\n')
			*from = ' ';
	}
}

/* Check the string at @at: libconfuse would expand environment variables in it. */
static msd_err check_string(const struct text *t, char *at, char **ret,
			    struct msd_diag *d)
{
	*ret = skip_string(at);
	if (*ret == NULL)
		return refuse(t, at, "a string is not closed", d);
	if (*at == '"' && memmem(at, (size_t)(*ret - at), "${", 2) != NULL) {
		return refuse(t, at,
			      "${...} is not expanded: if you mean these characters, "
			      "put them into single quotes",
			      d);
	}
	return MSD_OK;
}

static void count_brace(struct text *t, const char *at)
{
	if (*at == '{' && t->n_open++ == 0)
		t->opener = at;
	if (*at == '}' && t->n_open > 0) /* the parser reports an extra closing brace */
		t->n_open--;
}

msd_err msd_config_strip(const char *path, char *text, struct msd_diag *d)
{
	struct text t = {.path = path, .p = text};
	char *at = text;

	while (*at != '\0') {
		char *end = comment_end(at);

		if (end == NULL)
			return refuse(&t, at, "a comment is not closed", d);
		blank(at, end);
		if (end == at && (*at == '"' || *at == '\'')) {
			msd_err err = check_string(&t, at, &end, d);
			if (err != MSD_OK)
				return err;
		} else if (end == at) {
			/* A string or comment cannot begin inside a bare value. */
			const size_t n = strcspn(at, " \t\r\n\"'{}()=+,#");
			end = at + (n > 0 ? n : 1);
			count_brace(&t, at);
		}
		at = end;
	}
	return t.n_open == 0 ? MSD_OK
			     : refuse(&t, t.opener,
				      "the brace that opens here is not closed", d);
}

void msd_config_quote(const char *text, struct msd_buf *ret)
{
	msd_buf_put(ret, "'", 1);
	for (; *text != '\0'; text++) {
		if (*text == '\'' || *text == '\\')
			msd_buf_put(ret, "\\", 1);
		msd_buf_put(ret, text, 1);
	}
	msd_buf_put(ret, "'", 1);
}

void msd_config_quote_list(const char *const *values, uint32_t n, struct msd_buf *ret)
{
	for (uint32_t i = 0; i < n; i++) {
		msd_buf_printf(ret, i == 0 ? "{" : ", ");
		msd_config_quote(values[i], ret);
	}
	if (n > 0)
		msd_buf_put(ret, "}", 1);
}
