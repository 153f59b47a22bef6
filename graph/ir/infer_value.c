/* Inference helpers that read values and check indices. */
#include <math.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "proto/base/bytes.h"

const void *msd_infer_value(const modser_sg_node *node, size_t i)
{
	const modser_sg_tensor *t = node->inputs[i];

	return t->type == MODSER_TENSOR_CONST ? t->data : t->value;
}

int msd_infer_ints(const modser_sg_node *node, size_t i,
		   int64_t ret[static MSD_INFER_MAX_INTS], size_t *ret_n)
{
	const modser_sg_tensor *t = node->inputs[i];
	const uint8_t *p = msd_infer_value(node, i);
	const bool is_wide = t->dtype.bits == 64;
	const int64_t n = t->ndim == 0 ? 1 : t->dims[0];

	if (t->dtype.code != MSD_DT_INT || (!is_wide && t->dtype.bits != 32) ||
	    t->ndim > 1) {
		return msd_infer_fail(node, "\"%s\" is not a list of integers",
				      t->name);
	}
	if (n > (int64_t)MSD_INFER_MAX_INTS)
		return msd_infer_fail(node, "\"%s\" has too many numbers", t->name);
	if (p == NULL && n > 0) /* an empty constant has no bytes */
		return MSD_INFER_LATER;
	for (size_t k = 0; k < (size_t)n; k++) {
		ret[k] = is_wide ? (int64_t)msd_le64(p + 8 * k)
				 : (int32_t)msd_le32(p + 4 * k);
	}
	*ret_n = (size_t)n;
	return 0;
}

/* Read an integer of the width of @dtype. */
static int64_t integer(const uint8_t *p, struct msd_dtype dtype)
{
	const unsigned unused = 64u - dtype.bits;
	uint64_t v = 0;

	for (size_t k = 0; k < dtype.bits / 8u; k++)
		v |= (uint64_t)p[k] << 8 * k;
	v <<= unused;
	return dtype.code == MSD_DT_INT ? (int64_t)v >> unused : (int64_t)(v >> unused);
}

/* Read a float16 or bfloat16. */
static double short_float(const uint8_t *p, struct msd_dtype dtype)
{
	const int mantissa = dtype.code == MSD_DT_BFLOAT ? 7 : 10;
	const unsigned bits = (unsigned)p[0] | (unsigned)p[1] << 8;
	const int most = (1 << (15 - mantissa)) - 1;
	const int exponent = (int)(bits & 0x7fff) >> mantissa;
	const int one = 1 << mantissa;
	const int m = (int)bits & (one - 1);
	double v = ldexp(exponent > 0 ? m + one : m,
			 (exponent > 0 ? exponent : 1) - most / 2 - mantissa);

	if (exponent == most)
		v = m == 0 ? INFINITY : NAN;
	return (bits & 0x8000) != 0 ? -v : v;
}

int msd_infer_number(const modser_sg_node *node, size_t i, double *ret)
{
	const modser_sg_tensor *t = node->inputs[i];
	const uint8_t *p = msd_infer_value(node, i);
	const bool is_float = t->dtype.code == MSD_DT_FLOAT;
	const bool is_integer =
		t->dtype.code == MSD_DT_INT || t->dtype.code == MSD_DT_UINT;
	float f;

	if (msd_infer_product(node, i, 0, msd_infer_ndim(node, i)) != 1)
		return msd_infer_fail(node, "\"%s\" is not one number", t->name);
	if (t->dtype.bits % 8 != 0 || t->dtype.bits > 64 || t->dtype.lanes != 1 ||
	    !(is_float || is_integer || t->dtype.code == MSD_DT_BFLOAT)) {
		return msd_infer_fail(node,
				      "\"%s\" is %s, which is not read as a number",
				      t->name, t->dtype_name);
	}
	if (p == NULL)
		return MSD_INFER_LATER;
	if (is_integer) {
		*ret = (double)integer(p, t->dtype);
	} else if (t->dtype.bits == 16) {
		*ret = short_float(p, t->dtype);
	} else if (t->dtype.bits == 64) {
		memcpy(ret, p, sizeof(*ret));
	} else {
		memcpy(&f, p, sizeof(f));
		*ret = (double)f;
	}
	return 0;
}

int msd_infer_indices(const modser_sg_node *node, size_t i)
{
	const struct msd_dtype dtype = msd_infer_dtype_of(node, i);

	if (dtype.code != MSD_DT_INT || dtype.bits < 32)
		return msd_infer_fail(node, "its indices are not int32 or int64");
	return 0;
}

int msd_infer_inside(const modser_sg_node *node, size_t i, size_t axis)
{
	if (msd_infer_rank(node, i, msd_infer_ndim(node, 0)) != 0)
		return -1;
	for (size_t k = 0; k < msd_infer_ndim(node, 0); k++) {
		if (k != axis &&
		    msd_infer_dims(node, i)[k] > msd_infer_dims(node, 0)[k])
			return msd_infer_fail(node, "its indices are too many");
	}
	return 0;
}
