/*
 * The scanner: each call skips spaces and comments and takes the longest token. A
 * string that its line does not end, and a character of no token, become MSD_TOKEN_BAD,
 * which no grammar accepts.
 */
#include "graph/serializer/text/token.h"

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       is_digit(c);
}

static uint8_t at(const struct msd_tokens *t, size_t i)
{
	return i < t->left.n ? t->left.p[i] : 0;
}

static void drop(struct msd_tokens *t, size_t n)
{
	t->left.p += n;
	t->left.n -= n;
}

static void skip_space(struct msd_tokens *t)
{
	while (t->left.n > 0) {
		const uint8_t c = t->left.p[0];

		if (c == '#') {
			while (t->left.n > 0 && t->left.p[0] != '\n')
				drop(t, 1);
		} else if (c == '\n') {
			t->line++;
			drop(t, 1);
		} else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' ||
			   c == '\f') {
			drop(t, 1);
		} else {
			return;
		}
	}
}

/* A sign belongs to a number only in an exponent. */
static size_t number_length(const struct msd_tokens *t)
{
	const bool is_hex = at(t, 0) == '0' && (at(t, 1) | 0x20) == 'x';
	size_t n = 0;

	for (;; n++) {
		const uint8_t c = at(t, n);
		const bool is_exponent = !is_hex && n > 0 &&
					 (at(t, n - 1) | 0x20) == 'e' &&
					 (c == '+' || c == '-');

		if (!is_name(c) && c != '.' && !is_exponent)
			return n;
	}
}

/* 0 if the string does not end on its line. */
static size_t string_length(const struct msd_tokens *t)
{
	const uint8_t quote = at(t, 0);

	for (size_t n = 1; n < t->left.n && t->left.p[n] != '\n'; n++) {
		if (t->left.p[n] == quote)
			return n + 1;
		if (t->left.p[n] == '\\')
			n++;
	}
	return 0;
}

void msd_tokens_next(struct msd_tokens *t)
{
	size_t n = 1;

	skip_space(t);
	const uint8_t c = at(t, 0);
	if (t->left.n == 0) {
		t->kind = MSD_TOKEN_END;
		n = 0;
	} else if (is_digit(c) || (c == '.' && is_digit(at(t, 1)))) {
		t->kind = MSD_TOKEN_NUMBER;
		n = number_length(t);
	} else if (is_name(c)) {
		t->kind = MSD_TOKEN_NAME;
		for (n = 1; is_name(at(t, n));)
			n++;
	} else if (c == '"' || c == '\'') {
		n = string_length(t);
		t->kind = n > 0 ? MSD_TOKEN_STRING : MSD_TOKEN_BAD;
	} else {
		t->kind = c >= 0x20 && c < 0x7f ? MSD_TOKEN_SIGN : MSD_TOKEN_BAD;
	}
	t->text = (struct msd_span){t->left.p, n};
	drop(t, n);
}

void msd_tokens_init(struct msd_tokens *t, struct msd_span text)
{
	*t = (struct msd_tokens){.left = text, .line = 1};
	msd_tokens_next(t);
}

bool msd_tokens_at(const struct msd_tokens *t, char c)
{
	return t->kind == MSD_TOKEN_SIGN && t->text.p[0] == (uint8_t)c;
}

bool msd_tokens_skip(struct msd_tokens *t, char c)
{
	const bool is_there = msd_tokens_at(t, c);

	if (is_there)
		msd_tokens_next(t);
	return is_there;
}

/* -1: no digit of this base. */
static int digit(uint8_t c, unsigned base)
{
	const int v = is_digit(c)                              ? c - '0'
		      : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
							       : 16;

	return v < (int)base ? v : -1;
}

/* Read the number of an escape at s[*i]: at most @most digits. */
static bool put_code(struct msd_span s, size_t *i, unsigned base, size_t most,
		     struct msd_buf *out)
{
	unsigned v = 0;
	size_t n = 0;

	for (; n < most && *i < s.n && digit(s.p[*i], base) >= 0; n++, ++*i)
		v = v * base + (unsigned)digit(s.p[*i], base);
	msd_buf_put_u8(out, (uint8_t)v);
	return n > 0 && v <= UINT8_MAX;
}

bool msd_tokens_string(const struct msd_tokens *t, struct msd_buf *out)
{
	static const char from[] = "abfnrtv\\'\"?";
	static const char to[] = "\a\b\f\n\r\t\v\\'\"?";
	const struct msd_span s = {t->text.p + 1, t->text.n - 2};

	for (size_t i = 0; i < s.n;) {
		if (s.p[i] != '\\') {
			msd_buf_put_u8(out, s.p[i++]);
			continue;
		}
		i++; /* a string does not end with an escape that is not complete */
		const char *known = memchr(from, s.p[i], sizeof(from) - 1);
		bool is_fine = true;
		if (known != NULL) {
			msd_buf_put_u8(out, (uint8_t)to[known - from]);
			i++;
		} else if ((s.p[i] | 0x20) == 'x') {
			i++;
			is_fine = put_code(s, &i, 16, 2, out);
		} else {
			is_fine = put_code(s, &i, 8, 3, out);
		}
		if (!is_fine)
			return false;
	}
	return true;
}
