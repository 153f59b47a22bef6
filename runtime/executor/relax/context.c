#include "runtime/executor/relax/context.h"

#include <string.h>

#include "runtime/value/error.h"

/* The text after @word, if @at begins with it; else NULL. */
static const char *skip(const char *at, const char *word)
{
	const size_t n = strlen(word);

	return at != NULL && strncmp(at, word, n) == 0 ? at + n : NULL;
}

/* The parenthesis that closes the one opened before @at; NULL if there is none.
 * Quoted dtypes in between contain no parentheses. */
static const char *find_close(const char *at)
{
	unsigned depth = 1;

	for (; *at != '\0'; at++) {
		depth += *at == '(';
		depth -= *at == ')';
		if (depth == 0)
			return at;
	}
	return NULL;
}

bool msd_relax_context_argument(const char *text, const char *function,
				struct msd_buf *out)
{
	const char *at = strstr(text, "ErrorContext(");
	const char *open = skip(at, "ErrorContext(");
	const char *name = skip(skip(skip(open, "fn="), function), ", loc=param[");

	if (name == NULL)
		return false;
	const size_t n_number = strspn(name, "0123456789");
	const char *number = name;
	name = skip(skip(name + n_number, "]"), ", param=");
	const char *close = find_close(open);
	if (n_number == 0 || name == NULL || close == NULL)
		return false;
	const char *comma = strstr(name, ", annotation=");
	if (comma == NULL || comma > close)
		return false;
	const char *type = comma + strlen(", annotation=");
	const char *rest = close + 1;
	while (*rest == ' ')
		rest++;
	msd_buf_printf(out, "argument %.*s (%.*s: %.*s): %s", (int)n_number, number,
		       (int)(comma - name), name, (int)(close - type), type, rest);
	return true;
}

bool msd_relax_blame_argument(const char *function)
{
	struct msd_diag d = {0};
	struct msd_buf text = {0};
	const msd_err err = msd_abi_fetch_error(&d);
	const bool is_argument =
		msd_relax_context_argument(msd_diag_text(&d), function, &text) &&
		!text.bad;

	if (is_argument) {
		(void)msd_abi_raise_code(MSD_BAD_ARGUMENT, "%.*s", (int)text.n,
					 (const char *)text.p);
	} else {
		(void)msd_abi_raise_code(err, "%s", msd_diag_text(&d));
	}
	msd_buf_finish(&text);
	msd_diag_finish(&d);
	return is_argument;
}
