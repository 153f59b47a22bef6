#include "graph/serializer/tensorflow/numbers.h"

#include "graph/serializer/tensorflow/stride.h"

static bool divide(int64_t a, int64_t b, bool rest, int64_t *ret)
{
	if (b == 0 || (a == INT64_MIN && b == -1))
		return false;
	const int64_t q = a / b - (a % b != 0 && (a < 0) != (b < 0));
	*ret = rest ? a - q * b : q;
	return true;
}

static bool compute(enum tf_operation op, int64_t a, int64_t b, int64_t *ret)
{
	switch (op) {
	case TF_ADD:
		return !__builtin_add_overflow(a, b, ret);
	case TF_SUB:
		return !__builtin_sub_overflow(a, b, ret);
	case TF_MUL:
		return !__builtin_mul_overflow(a, b, ret);
	case TF_FLOOR_DIV:
	case TF_FLOOR_MOD:
		return divide(a, b, op == TF_FLOOR_MOD, ret);
	case TF_MAX:
		*ret = a > b ? a : b;
		return true;
	case TF_MIN:
		*ret = a < b ? a : b;
		return true;
	case TF_LESS:
		*ret = a < b;
		return true;
	case TF_LESS_EQUAL:
		*ret = a <= b;
		return true;
	case TF_GREATER:
		*ret = a > b;
		return true;
	case TF_GREATER_EQUAL:
		*ret = a >= b;
		return true;
	case TF_EQUAL:
		*ret = a == b;
		return true;
	case TF_NOT_EQUAL:
		*ret = a != b;
		return true;
	case TF_AND:
		*ret = a != 0 && b != 0;
		return true;
	case TF_OR:
		*ret = a != 0 || b != 0;
		return true;
	}
	return false;
}

static bool compute_known(enum tf_operation op, int64_t a, int64_t b, int64_t *ret)
{
	if (a != TF_UNKNOWN && b != TF_UNKNOWN)
		return compute(op, a, b, ret);
	*ret = TF_UNKNOWN;
	return true;
}

bool tf_numbers_combine(enum tf_operation op, const struct tf_numbers *a,
			const struct tf_numbers *b, struct tf_numbers *ret)
{
	const size_t n = a->is_vector && b->is_vector && b->n == 1 ? a->n
			 : b->is_vector                            ? b->n
								   : a->n;

	if ((a->n != n && a->n != 1) || (b->n != n && b->n != 1))
		return false;
	ret->n = n;
	ret->is_vector = a->is_vector || b->is_vector;
	for (size_t i = 0; i < n; i++) {
		if (!compute_known(op, a->v[a->n == n ? i : 0], b->v[b->n == n ? i : 0],
				   &ret->v[i]))
			return false;
	}
	return true;
}

bool tf_numbers_reduce(enum tf_operation op, const struct tf_numbers *in, int64_t *ret)
{
	*ret = in->v[0];
	for (size_t i = 1; i < in->n; i++) {
		if (!compute_known(op, *ret, in->v[i], ret))
			return false;
	}
	return true;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* A negative place counts from the end of @n numbers; INT64_MIN is before the first. */
static int64_t place_in(int64_t at, int64_t n)
{
	return at < 0 && at != INT64_MIN ? at + n : at;
}

void tf_numbers_slice(const struct tf_numbers *in, const struct tf_stride *s,
		      struct tf_numbers *ret)
{
	const int64_t n = (int64_t)in->n;
	const int64_t low = s->step > 0 ? 0 : -1;
	const int64_t high = s->step > 0 ? n : n - 1;
	/* A longer step leaves the list, too, and its sum fits. */
	const int64_t step = clamp(s->step, -n - 1, n + 1);
	const int64_t end = clamp(place_in(s->end, n), low, high);

	for (int64_t i = clamp(place_in(s->begin, n), low, high);
	     step > 0 ? i < end : i > end; i += step)
		ret->v[ret->n++] = in->v[i];
}
