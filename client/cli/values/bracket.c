/*
 * Happy path: one pass over the brackets; each element of the innermost lists is kept
 * as text. With a dtype, each text becomes a number. Failures quote the element, or
 * name the list whose length differs from the first.
 */
#include "client/cli/values/bracket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/values/number.h"
#include "proto/base/bytes.h"
#include "proto/base/grow.h"
#include "proto/base/half.h"

struct walk {
	const char *at;
	struct msd_bracket *b;
	struct msd_diag *d;
};

static void skip_spaces(struct walk *w)
{
	w->at += strspn(w->at, " \t\n");
}

static msd_err fail(struct walk *w, const char *why)
{
	return msd_diag_set(w->d, MSD_BAD_REQUEST,
			    "a tensor written out: %s at \"%.20s\"", why, w->at);
}

static msd_err add_item(struct walk *w, size_t n)
{
	struct msd_bracket *b = w->b;

	if (!msd_grow(&b->items, b->n, sizeof(*b->items)))
		return msd_diag_no_memory(w->d);
	b->items[b->n++] = (struct msd_span){(const uint8_t *)w->at, n};
	w->at += n;
	return MSD_OK;
}

static msd_err take_list(struct walk *w, uint32_t depth);

/* Parse an element, or a list one level down; all entries must be of one kind. */
static msd_err take_entry(struct walk *w, uint32_t depth)
{
	const size_t n = strcspn(w->at, "[], \t\n");

	if (*w->at == '[')
		return take_list(w, depth + 1);
	if (n == 0)
		return fail(w, "an element is missing");
	if (w->b->ndim == 0)
		w->b->ndim = depth + 1;
	if (w->b->ndim != depth + 1)
		return fail(w, "a number next to a list");
	return add_item(w, n);
}

/* The first list of each level sets the required length. */
static msd_err end_list(struct walk *w, uint32_t depth, int64_t n)
{
	struct msd_bracket *b = w->b;

	if (b->ndim == 0 && n == 0)
		b->ndim = depth + 1;
	if (b->shape[depth] < 0)
		b->shape[depth] = n;
	if (b->shape[depth] != n || (n == 0 && b->ndim != depth + 1))
		return fail(w, "the lists have different lengths");
	w->at++;
	return MSD_OK;
}

static msd_err take_list(struct walk *w, uint32_t depth)
{
	int64_t n = 0;

	if (depth == MSD_MAX_NDIM || (w->b->ndim != 0 && depth >= w->b->ndim))
		return fail(w, "a list too deep");
	w->at++;
	for (;;) {
		msd_err err;

		skip_spaces(w);
		if (n == 0 && *w->at == ']')
			return end_list(w, depth, 0);
		err = take_entry(w, depth);
		if (err != MSD_OK)
			return err;
		n++;
		skip_spaces(w);
		if (*w->at == ']')
			return end_list(w, depth, n);
		if (*w->at != ',')
			return fail(w, "expected , or ]");
		w->at++;
	}
}

msd_err msd_bracket_parse(const char *text, struct msd_bracket *ret, struct msd_diag *d)
{
	struct walk w = {.at = text, .b = ret, .d = d};

	*ret = (struct msd_bracket){0};
	for (uint32_t i = 0; i < MSD_MAX_NDIM; i++)
		ret->shape[i] = -1;
	if (*text != '[')
		return fail(&w, "no [");
	msd_err err = take_list(&w, 0);
	if (err == MSD_OK && *w.at != '\0')
		err = fail(&w, "extra text after the end");
	return err;
}

/* Copy an element as a text of its own; false: it is too long for a number. */
static bool copy(struct msd_span item, char ret[64])
{
	if (item.n >= 64)
		return false;
	memcpy(ret, item.p, item.n);
	ret[item.n] = '\0';
	return true;
}

static bool float_bits(struct msd_dtype t, const char *text, uint64_t *ret)
{
	char *end;
	const double v = strtod(text, &end);
	const float single = (float)v;
	uint8_t small;
	uint32_t bits;

	if (*end != '\0')
		return false;
	if (t.bits == 64) {
		memcpy(ret, &v, sizeof(v));
	} else if (t.bits == 32) {
		memcpy(&bits, &single, sizeof(bits));
		*ret = bits;
	} else if (t.bits == 16) {
		*ret = t.code == MSD_DT_BFLOAT ? msd_bfloat_from_float(single)
					       : msd_half_from_float(single);
	} else if (msd_number_small_bits((modser_dtype){t.code, t.bits, 1}, v,
					 &small)) {
		*ret = small;
	} else {
		return false;
	}
	return true;
}

static bool int_bits(struct msd_dtype t, const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	if (t.code == MSD_DT_INT) {
		const long long v = strtoll(text, &end, 10);
		const long long most = (long long)(UINT64_MAX >> (65 - t.bits));

		if (v > most || v < -most - 1)
			return false;
		*ret = (uint64_t)v;
	} else {
		*ret = strtoull(text, &end, 10);
		if (*text == '-' || *ret > UINT64_MAX >> (64 - t.bits))
			return false;
	}
	return errno == 0 && *end == '\0';
}

static bool bool_bits(const char *text, uint64_t *ret)
{
	*ret = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
	return *ret != 0 || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

static bool item_bits(struct msd_dtype t, const char *text, uint64_t *ret)
{
	switch (t.code) {
	case MSD_DT_INT:
	case MSD_DT_UINT:
		return int_bits(t, text, ret);
	case MSD_DT_BOOL:
		return bool_bits(text, ret);
	default:
		return float_bits(t, text, ret);
	}
}

static bool can_be_made(struct msd_dtype t)
{
	const modser_dtype small = {t.code, t.bits, 1};
	const bool is_known = t.code <= MSD_DT_FLOAT || t.code == MSD_DT_BFLOAT ||
			      t.code == MSD_DT_BOOL;
	uint8_t zero;

	if (t.lanes != 1 || t.bits < (t.code == MSD_DT_INT ? 2 : 1) || t.bits > 64)
		return false;
	return is_known ? t.code != MSD_DT_FLOAT || t.bits >= 16
			: msd_number_small_bits(small, 0, &zero);
}

msd_err msd_bracket_make(const struct msd_bracket *b, struct msd_dtype t, void **ret,
			 struct msd_diag *d)
{
	char text[64], name[MSD_DTYPE_NAME_MAX];
	uint8_t *data;

	if (!can_be_made(t)) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"elements of type %s cannot be written on the command line",
			msd_dtype_format(t, name));
	}
	data = calloc(b->n + 1, (t.bits + 7u) / 8u);
	if (data == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < b->n; i++) {
		uint64_t bits = 0;

		if (copy(b->items[i], text) && item_bits(t, text, &bits)) {
			msd_number_put_bits(data, (uint64_t)i * t.bits, t.bits, bits);
			continue;
		}
		free(data);
		return msd_diag_set(d, MSD_BAD_REQUEST, "\"%.*s\" is not a %s",
				    (int)(b->items[i].n < 64 ? b->items[i].n : 64),
				    (const char *)b->items[i].p,
				    msd_dtype_format(t, name));
	}
	*ret = data;
	return MSD_OK;
}

void msd_bracket_finish(struct msd_bracket *b)
{
	free(b->items);
	*b = (struct msd_bracket){0};
}
