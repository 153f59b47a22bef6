/*
 * Parses the dict of an .npy file: the Python literals that numpy writes there,
 * 'descr', 'fortran_order' and 'shape' in any order and each once. Every step reads
 * the expected token from a cursor or fails with an error that names it; nothing is
 * evaluated.
 */
#include <string.h>

#include "client/cli/values/npy.h"

static msd_err bad(struct msd_diag *d, const char *what)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "not a .npy file: header: %s", what);
}

static void skip_space(struct msd_cur *c)
{
	while (c->left > 0 && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t')) {
		c->p++;
		c->left--;
	}
}

/* Read @mark and the spaces before it. */
static bool take(struct msd_cur *c, char mark)
{
	skip_space(c);
	if (c->left == 0 || *c->p != (uint8_t)mark)
		return false;
	c->p++;
	c->left--;
	return true;
}

/* Read a string without escapes, in either kind of quotes. */
static bool take_string(struct msd_cur *c, struct msd_span *ret)
{
	skip_space(c);
	if (c->left == 0 || (*c->p != '\'' && *c->p != '"'))
		return false;
	const uint8_t *end = memchr(c->p + 1, *c->p, c->left - 1);
	if (end == NULL)
		return false;
	*ret = (struct msd_span){c->p + 1, (size_t)(end - c->p - 1)};
	c->left -= ret->n + 2;
	c->p = end + 1;
	return memchr(ret->p, '\\', ret->n) == NULL;
}

static bool take_word(struct msd_cur *c, const char *word)
{
	size_t n = strlen(word);

	skip_space(c);
	if (n > c->left || memcmp(c->p, word, n) != 0)
		return false;
	c->p += n;
	c->left -= n;
	return true;
}

static bool take_number(struct msd_cur *c, int64_t *ret)
{
	int64_t v = 0;
	bool any = false;

	skip_space(c);
	while (c->left > 0 && *c->p >= '0' && *c->p <= '9') {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (int64_t)(*c->p - '0'), &v))
			return false;
		any = true;
		c->p++;
		c->left--;
	}
	(void)take(c, 'L'); /* Python 2 wrote it after a long */
	*ret = v;
	return any;
}

/* "(3, 4)", "(3,)", "()" */
static msd_err read_shape(struct msd_cur *c, struct msd_npy_header *h,
			  struct msd_diag *d)
{
	if (!take(c, '('))
		return bad(d, "shape is not a tuple");
	while (!take(c, ')')) {
		if (h->ndim == MSD_MAX_NDIM) {
			return msd_diag_set(d, MSD_UNSUPPORTED,
					    "more than %u dimensions", MSD_MAX_NDIM);
		}
		if (!take_number(c, &h->shape[h->ndim++]))
			return bad(d, "a dimension is not a number");
		if (take(c, ','))
			continue;
		if (!take(c, ')'))
			return bad(d, "shape does not end");
		return MSD_OK;
	}
	return MSD_OK;
}

static msd_err refuse_descr(struct msd_span descr, const char *what, struct msd_diag *d)
{
	return msd_diag_set(
		d, MSD_UNSUPPORTED, "elements of type %.*s: %s; expected numbers",
		(int)(descr.n < 64 ? descr.n : 64), (const char *)descr.p, what);
}

/* "<f4", "|b1", ">c16", "|V2" */
static msd_err read_descr(struct msd_cur *c, struct msd_npy_header *h,
			  struct msd_diag *d)
{
	struct msd_cur number;
	struct msd_span s;
	int64_t size;

	skip_space(c);
	if (c->left > 0 && (*c->p == '[' || *c->p == '(')) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "its elements are structured; expected numbers");
	}
	if (!take_string(c, &s) || s.n < 2)
		return bad(d, "descr is not a string");
	bool has_order = strchr("<>|=", s.p[0]) != NULL && s.p[0] != '\0';
	h->is_big_endian = s.p[0] == '>';
	number = (struct msd_cur){.p = s.p + has_order, .left = s.n - has_order};
	h->kind = (char)msd_cur_u8(&number);
	if (h->kind == 'O')
		return refuse_descr(s, "Python objects", d);
	if (h->kind == '\0' || strchr("biufcV", h->kind) == NULL)
		return refuse_descr(s, "not numeric", d);
	if (number.left == 0 || *number.p < '0' || *number.p > '9' ||
	    !take_number(&number, &size) || number.left != 0 || size < 1 ||
	    size > UINT16_MAX)
		return refuse_descr(s, "no size", d);
	h->size_bytes = (uint32_t)size;
	return MSD_OK;
}

static msd_err read_order(struct msd_cur *c, struct msd_npy_header *h,
			  struct msd_diag *d)
{
	h->is_fortran = take_word(c, "True");
	if (!h->is_fortran && !take_word(c, "False"))
		return bad(d, "fortran_order is neither True nor False");
	return MSD_OK;
}

static const struct {
	const char *key;
	msd_err (*read)(struct msd_cur *c, struct msd_npy_header *h,
			struct msd_diag *d);
} keys[] = {
	{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

static msd_err read_pair(struct msd_cur *c, struct msd_npy_header *h, unsigned *seen,
			 struct msd_diag *d)
{
	struct msd_span key;

	if (!take_string(c, &key) || !take(c, ':'))
		return bad(d, "a key and a colon expected");
	for (unsigned i = 0; i < N_KEYS; i++) {
		if (!msd_span_is(key, keys[i].key))
			continue;
		if ((*seen & 1u << i) != 0)
			return bad(d, "a key twice");
		*seen |= 1u << i;
		return keys[i].read(c, h, d);
	}
	return bad(d, "a key that is not descr, fortran_order or shape");
}

msd_err msd_npy_header_read(struct msd_span text, struct msd_npy_header *ret,
			    struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(text);
	struct msd_npy_header h = {0};
	unsigned seen = 0;

	if (!take(&c, '{'))
		return bad(d, "not a dict");
	while (!take(&c, '}')) {
		msd_err err = read_pair(&c, &h, &seen, d);
		if (err != MSD_OK)
			return err;
		if (take(&c, ','))
			continue;
		if (!take(&c, '}'))
			return bad(d, "the dict does not end");
		break;
	}
	skip_space(&c);
	if (c.left != 0)
		return bad(d, "extra text after the dict");
	if (seen != (1u << N_KEYS) - 1)
		return bad(d, "expected descr, fortran_order and shape");
	*ret = h;
	return MSD_OK;
}
