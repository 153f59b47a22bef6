/*
 * Operators of several formats that become several nodes. Normal path: nodes are built
 * from the inputs to the result, and each is inferred as far as shapes are known. A
 * failure has the error of the graph; the functions return NULL then, and pass on a
 * NULL that they get.
 */
#include "graph/serializer/build/compose.h"

#include <stddef.h>

modser_sg_tensor *msd_build_compare(const struct msd_build *b, int64_t type,
				    modser_sg_tensor *x, modser_sg_tensor *y)
{
	modser_sg_tensor *const in[] = {x, y};
	modser_sg_tensor *t = msd_build_done(
		msd_build_int(msd_build_node(b, "Comparison", in, 2), "type", type));

	return t != NULL && modser_sg_tensor_set_dtype(t, "bool") == 0 ? t : NULL;
}

modser_sg_tensor *msd_build_choose(const struct msd_build *b,
				   modser_sg_tensor *condition, modser_sg_tensor *yes,
				   modser_sg_tensor *no)
{
	modser_sg_tensor *const in[] = {condition, yes, no};
	modser_sg_tensor *t = msd_build_done(msd_build_node(b, "Where", in, 3));

	return t != NULL && modser_sg_tensor_set_dtype(t,
						       modser_sg_tensor_dtype(yes)) == 0
		       ? t
		       : NULL;
}

modser_sg_tensor *msd_build_cast(const struct msd_build *b, modser_sg_tensor *x,
				 const char *dtype)
{
	modser_sg_tensor *t = msd_build_done(
		msd_build_text(msd_build_node(b, "Cast", &x, 1), "to", dtype));

	/* Its inference may have to wait for a call. */
	return t != NULL && modser_sg_tensor_set_dtype(t, dtype) == 0 ? t : NULL;
}

modser_sg_tensor *msd_build_atan2(const struct msd_build *b, modser_sg_tensor *y,
				  modser_sg_tensor *x)
{
	const float pi = 3.14159265358979f;
	modser_sg_tensor *zero = msd_build_number(b, 0);
	modser_sg_tensor *half = msd_build_number(b, pi);
	modser_sg_tensor *angle =
		msd_build_one(b, "Atan", msd_build_two(b, "Div", y, x));
	modser_sg_tensor *turned =
		msd_build_choose(b, msd_build_compare(b, MSD_COMPARE_LESS, y, zero),
				 msd_build_two(b, "Sub", angle, half),
				 msd_build_two(b, "Add", angle, half));
	modser_sg_tensor *upright = msd_build_two(b, "Mul", msd_build_one(b, "Sign", y),
						  msd_build_number(b, pi / 2));

	return msd_build_choose(
		b, msd_build_compare(b, MSD_COMPARE_EQUAL, x, zero), upright,
		msd_build_choose(b, msd_build_compare(b, MSD_COMPARE_LESS, x, zero),
				 turned, angle));
}

modser_sg_tensor *msd_build_range(const struct msd_build *b, modser_sg_tensor *x,
				  int64_t axis, int64_t begin, int64_t end)
{
	modser_sg_tensor *const in[] = {x, msd_build_ints(b, &begin, 1),
					msd_build_ints(b, &end, 1),
					msd_build_ints(b, &axis, 1)};
	modser_sg_tensor *t = msd_build_node(b, "Slice", in, 4);

	return msd_build_done(msd_build_int(t, "isonnx", 1));
}

/* Elements of @axis from @begin down to behind @end. */
static modser_sg_tensor *downwards(const struct msd_build *b, modser_sg_tensor *x,
				   int64_t axis, int64_t begin, int64_t end)
{
	static const int64_t step = -1;
	modser_sg_tensor *const in[] = {
		x, msd_build_ints(b, &begin, 1), msd_build_ints(b, &end, 1),
		msd_build_ints(b, &axis, 1), msd_build_ints(b, &step, 1)};
	modser_sg_tensor *t = msd_build_node(b, "Slice", in, 5);

	return msd_build_done(msd_build_int(t, "isonnx", 1));
}

modser_sg_tensor *msd_build_mirror(const struct msd_build *b, modser_sg_tensor *x,
				   int64_t axis, int64_t before, int64_t after)
{
	modser_sg_tensor *parts[3];
	size_t n = 0;

	if (before > 0)
		parts[n++] = downwards(b, x, axis, before - 1, -INT32_MAX);
	parts[n++] = x;
	if (after > 0)
		parts[n++] = downwards(b, x, axis, -1, -1 - after);
	return n > 1 ? msd_build_concat(b, parts, n, axis) : x;
}

modser_sg_tensor *msd_build_gather(const struct msd_build *b, modser_sg_tensor *x,
				   modser_sg_tensor *indices, int64_t axis)
{
	modser_sg_tensor *const in[] = {x, indices};
	modser_sg_tensor *t =
		msd_build_int(msd_build_node(b, "Gather", in, 2), "axis", axis);

	t = msd_build_done(msd_build_int(t, "is_onnx", 1));
	return t != NULL && modser_sg_tensor_set_dtype(t, modser_sg_tensor_dtype(x)) ==
				       0
		       ? t
		       : NULL;
}

modser_sg_tensor *msd_build_concat(const struct msd_build *b,
				   modser_sg_tensor *const *parts, size_t n,
				   int64_t axis)
{
	return msd_build_done(
		msd_build_int(msd_build_node(b, "Concat", parts, n), "axis", axis));
}

/* One element as a vector. */
static modser_sg_tensor *vector(const struct msd_build *b, modser_sg_tensor *x)
{
	static const int64_t one[] = {1};

	return msd_build_reshape(b, x, one, 1);
}

modser_sg_tensor *msd_build_suppress(const struct msd_build *b,
				     const struct msd_suppression *s)
{
	static const int64_t boxes[] = {1, -1, 4};
	static const int64_t scores[] = {1, 1, -1};
	static const int64_t flat[] = {-1};
	modser_sg_tensor *const in[] = {msd_build_reshape(b, s->boxes, boxes, 3),
					msd_build_reshape(b, s->scores, scores, 3),
					vector(b, msd_build_cast(b, s->max, "int64")),
					vector(b, s->overlap),
					s->least != NULL ? vector(b, s->least) : NULL};
	modser_sg_tensor *t = msd_build_done(
		msd_build_node(b, "NonMaxSuppression", in, s->least != NULL ? 5 : 4));

	/* rows of batch, class and box */
	return msd_build_reshape(b, msd_build_range(b, t, 1, 2, 3), flat, 1);
}

modser_sg_tensor *msd_build_count(const struct msd_build *b, modser_sg_tensor *x,
				  const char *dtype)
{
	static const int64_t scalar[] = {1};
	modser_sg_tensor *t = msd_build_one(b, "Shape", x);

	if (t == NULL || modser_sg_tensor_set_dtype(t, "int64") != 0)
		return NULL;
	return msd_build_cast(b, msd_build_reshape(b, t, scalar, 0), dtype);
}

modser_sg_tensor *msd_build_fill(const struct msd_build *b, modser_sg_tensor *x,
				 modser_sg_tensor *n)
{
	static const int64_t zero = 0;
	modser_sg_tensor *count = msd_build_one(b, "Shape", x);

	if (count == NULL || modser_sg_tensor_set_dtype(count, "int64") != 0)
		return NULL;
	modser_sg_tensor *const parts[] = {
		msd_build_ints(b, &zero, 1),
		msd_build_two(b, "Sub", vector(b, msd_build_cast(b, n, "int64")),
			      count)};
	modser_sg_tensor *const in[] = {x, msd_build_concat(b, parts, 2, 0)};
	modser_sg_tensor *t = msd_build_done(msd_build_node(b, "Pad", in, 2));

	return t != NULL && modser_sg_tensor_set_dtype(t, modser_sg_tensor_dtype(x)) ==
				       0
		       ? t
		       : NULL;
}

modser_sg_tensor *msd_build_segments(const struct msd_build *b, modser_sg_tensor *data,
				     modser_sg_tensor *ids, modser_sg_tensor *count)
{
	static const int64_t column[] = {-1, 1};
	static const int64_t last = -1;
	static const int64_t one = 1;

	ids = msd_build_cast(b, ids, "int64");
	if (count == NULL) {
		count = msd_build_two(
			b, "Add",
			msd_build_gather(b, ids, msd_build_ints(b, &last, 1), 0),
			msd_build_ints(b, &one, 1));
	}
	modser_sg_tensor *shape = msd_build_one(b, "Shape", data);
	if (shape == NULL || modser_sg_tensor_set_dtype(shape, "int64") != 0)
		return NULL;
	modser_sg_tensor *const parts[] = {vector(b, msd_build_cast(b, count, "int64")),
					   msd_build_range(b, shape, 0, 1, INT32_MAX)};
	const char *dtype = modser_sg_tensor_dtype(data);
	modser_sg_tensor *zeros = msd_build_two(
		b, "Expand", msd_build_cast(b, msd_build_number(b, 0), dtype),
		msd_build_concat(b, parts, 2, 0));
	if (zeros == NULL || modser_sg_tensor_set_dtype(zeros, dtype) != 0)
		return NULL;
	modser_sg_tensor *const in[] = {zeros, msd_build_reshape(b, ids, column, 2),
					data};
	modser_sg_tensor *t = msd_build_node(b, "ScatterND", in, 3);
	t = msd_build_done(msd_build_text(t, "reduction", "add"));
	return t != NULL && modser_sg_tensor_set_dtype(t, dtype) == 0 ? t : NULL;
}
