/*
 * Happy path: lists are split at commas outside of brackets, so types can be nested.
 * Failures: a text of another form is refused or, in a signature, is unknown.
 */
#include "proto/type_text.h"

#include <inttypes.h>
#include <string.h>

#define MAX_EXTENT_DIGITS 18u

void msd_shape_put(struct msd_buf *out, const int64_t *dim, uint32_t ndim,
		   const char *between)
{
	msd_buf_put_u8(out, '[');
	for (uint32_t i = 0; i < ndim; i++)
		msd_buf_printf(out, "%s%" PRId64, i > 0 ? between : "", dim[i]);
	msd_buf_put_u8(out, ']');
}

struct msd_span msd_type_trim(struct msd_span s)
{
	while (s.n > 0 && s.p[0] == ' ') {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && s.p[s.n - 1] == ' ')
		s.n--;
	return s;
}

static bool parse_number(struct msd_span s, int64_t *ret)
{
	const bool is_negative = s.n > 0 && s.p[0] == '-';
	int64_t v = 0;

	for (size_t i = is_negative; i < s.n; i++) {
		const int64_t digit = (int64_t)s.p[i] - '0';
		if (digit < 0 || digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_sub_overflow(v, digit, &v))
			return false;
	}
	/* The least number has no positive counterpart. */
	if (s.n == is_negative || (!is_negative && v == INT64_MIN))
		return false;
	*ret = is_negative ? v : -v;
	return true;
}

bool msd_shape_parse(struct msd_span text, bool has_open,
		     int64_t shape[static MSD_MAX_NDIM], uint32_t *ret_ndim)
{
	uint32_t ndim = 0;

	if (!msd_type_unwrap(&text, "[", "]"))
		return false;
	text = msd_type_trim(text);
	if (text.n > 0 && text.p[text.n - 1] == ',')
		return false;
	const uint32_t n = msd_type_items(text);
	for (; ndim < n && ndim < MSD_MAX_NDIM; ndim++) {
		const struct msd_span item = msd_type_item(&text, ',');
		const bool is_open = has_open && msd_span_is(item, "?");

		shape[ndim] = -1;
		if (!is_open && (!parse_number(item, &shape[ndim]) ||
				 (has_open && shape[ndim] < 0)))
			return false;
	}
	*ret_ndim = ndim;
	return ndim == n;
}

void msd_tensor_type_put(struct msd_buf *out, const int64_t *shape, int32_t ndim,
			 char *const *names, const struct msd_dtype *dtype)
{
	char name[MSD_DTYPE_NAME_MAX];

	msd_buf_printf(out, "Tensor([");
	for (int32_t i = 0; i < ndim; i++) {
		const char *comma = i > 0 ? ", " : "";
		if (shape != NULL && shape[i] >= 0) {
			msd_buf_printf(out, "%s%" PRId64, comma, shape[i]);
		} else {
			msd_buf_printf(out, "%s%s", comma,
				       names != NULL && names[i] != NULL ? names[i]
									 : "?");
		}
	}
	msd_buf_printf(out, "%s], %s)", ndim < 0 ? "..." : "",
		       dtype != NULL ? msd_dtype_format(*dtype, name) : "?");
}

bool msd_type_unwrap(struct msd_span *s, const char *head, const char *tail)
{
	const size_t h = strlen(head);
	const size_t t = strlen(tail);

	if (s->n < h + t || memcmp(s->p, head, h) != 0 ||
	    memcmp(s->p + s->n - t, tail, t) != 0)
		return false;
	s->p += h;
	s->n -= h + t;
	return true;
}

struct msd_span msd_type_item(struct msd_span *in, char stop)
{
	struct msd_span item = {in->p, 0};
	int depth = 0;

	for (; item.n < in->n; item.n++) {
		const char c = (char)in->p[item.n];
		if (depth == 0 && c == stop)
			break;
		depth += c == '(' || c == '[';
		depth -= c == ')' || c == ']';
	}
	const size_t used = item.n < in->n ? item.n + 1 : item.n;
	in->p += used;
	in->n -= used;
	return msd_type_trim(item);
}

uint32_t msd_type_items(struct msd_span list)
{
	uint32_t n = 0;

	for (; msd_type_trim(list).n > 0; n++)
		(void)msd_type_item(&list, ',');
	return n;
}

bool msd_tensor_type_split(struct msd_span type, struct msd_tensor_type *ret)
{
	type = msd_type_trim(type);
	*ret = (struct msd_tensor_type){0};
	if (msd_span_is(type, "Tensor"))
		return true;
	if (!msd_type_unwrap(&type, "Tensor(", ")"))
		return false;
	struct msd_span extents = msd_type_item(&type, ',');
	if (!msd_span_is(extents, "[...]") && msd_type_unwrap(&extents, "[", "]"))
		ret->extents = extents;
	ret->dtype = msd_type_trim(type);
	return true;
}

int64_t msd_extent_parse(struct msd_span item)
{
	int64_t v;

	return item.n <= MAX_EXTENT_DIGITS && parse_number(item, &v) && v >= 0 ? v : -1;
}
