/*
 * Happy path: copy the text up to the next number that is too wide, and write that
 * number with quotes and its mark. Failures: a number that JSON's grammar does not
 * allow is copied unchanged, and jansson refuses it.
 */
#include "daemon/http/infer_wide.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUL "\\u0000"      /* JSON escape */
#define NUMBER_BYTES 512u  /* longer: too wide only by its digits */
#define MAX_INT_DIGITS 18u /* always fits in an integer */

static size_t count_digits(struct msd_span s, size_t at)
{
	size_t n = 0;

	while (at + n < s.n && s.p[at + n] >= '0' && s.p[at + n] <= '9')
		n++;
	return n;
}

static bool is_one_of(struct msd_span s, size_t at, const char *these)
{
	return at < s.n && s.p[at] != 0 && strchr(these, s.p[at]) != NULL;
}

struct number {
	size_t n; /* bytes; 0 if none */
	bool is_integer;
};

/* The number at the start of @s. */
static struct number read_number(struct msd_span s)
{
	struct number r = {.n = is_one_of(s, 0, "-"), .is_integer = true};
	size_t digits = count_digits(s, r.n);

	if (digits == 0 || (digits > 1 && s.p[r.n] == '0'))
		return (struct number){0};
	r.n += digits;
	if (is_one_of(s, r.n, ".")) {
		digits = count_digits(s, r.n + 1);
		r.is_integer = false;
		r.n = digits > 0 ? r.n + 1 + digits : r.n;
	}
	if (is_one_of(s, r.n, "eE")) {
		const size_t sign = is_one_of(s, r.n + 1, "+-");
		digits = count_digits(s, r.n + 1 + sign);
		r.is_integer = false;
		r.n = digits > 0 ? r.n + 1 + sign + digits : r.n;
	}
	return is_one_of(s, r.n, ".eE+-") ? (struct number){0} : r;
}

static bool is_wide(const uint8_t *p, struct number number)
{
	char text[NUMBER_BYTES];

	if (number.n >= sizeof(text))
		return number.is_integer;
	if (number.is_integer && number.n <= MAX_INT_DIGITS)
		return false;
	memcpy(text, p, number.n);
	text[number.n] = '\0';
	errno = 0;
	if (!number.is_integer)
		return isinf(strtod(text, NULL));
	(void)strtoll(text, NULL, 10);
	return errno == ERANGE;
}

/* Length of the string at the start of @s. */
static size_t string_bytes(struct msd_span s)
{
	size_t n = 1;

	while (n < s.n && s.p[n] != '"')
		n += s.p[n] == '\\' ? 2 : 1;
	return n < s.n ? n + 1 : s.n;
}

bool msd_infer_wide_write(struct msd_span text, struct msd_buf *out)
{
	bool has_wide = false;

	if (memmem(text.p, text.n, NUL, strlen(NUL)) != NULL)
		return false;
	while (text.n > 0) {
		struct number number = {0};
		size_t n = 1;
		if (*text.p == '"') {
			n = string_bytes(text);
		} else if (is_one_of(text, 0, "-0123456789")) {
			number = read_number(text);
			n = number.n > 0 ? number.n : 1 + count_digits(text, 1);
		}
		const bool is_text = number.n > 0 && is_wide(text.p, number);
		if (is_text)
			msd_buf_put(out, "\"" NUL, strlen("\"" NUL));
		msd_buf_put(out, text.p, n);
		if (is_text)
			msd_buf_put(out, "\"", 1);
		has_wide = has_wide || is_text;
		text.p += n;
		text.n -= n;
	}
	return has_wide;
}

struct msd_span msd_infer_wide_number(const json_t *v)
{
	const char *text = json_string_value(v);
	const size_t n = json_string_length(v);

	if (n < 2 || text[0] != '\0')
		return (struct msd_span){0};
	return (struct msd_span){(const uint8_t *)text + 1, n - 1};
}
