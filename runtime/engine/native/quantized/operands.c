#include "runtime/engine/native/quantized/operands.h"

#include <math.h>
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "runtime/engine/native/claim.h"

static bool is_bytes(struct msd_dtype t)
{
	return (t.code == MSD_DT_INT || t.code == MSD_DT_UINT) && t.bits == 8;
}

bool msd_native_is_bytes(const modser_sg_node *node, size_t i)
{
	const modser_sg_tensor *t = modser_sg_node_input(node, i);

	return t != NULL && is_bytes(t->dtype);
}

size_t msd_native_elements(const modser_sg_node *node, size_t i)
{
	const modser_sg_tensor *t = modser_sg_node_input(node, i);

	return t != NULL ? msd_native_count(modser_sg_tensor_dims(t), 0,
					    (size_t)modser_sg_tensor_ndim(t))
			 : 0;
}

bool msd_native_is_fixed(const modser_sg_node *node, size_t i)
{
	const modser_sg_tensor *t = modser_sg_node_input(node, i);

	return t == NULL || (t->type == MODSER_TENSOR_CONST && t->data != NULL);
}

bool msd_native_is_scale(const modser_sg_node *node, size_t i)
{
	return modser_sg_node_input(node, i) == NULL ||
	       (msd_native_is_single(node, i) && msd_native_elements(node, i) == 1);
}

bool msd_native_is_zero(const modser_sg_node *node, size_t i)
{
	return modser_sg_node_input(node, i) == NULL ||
	       (msd_native_is_bytes(node, i) && msd_native_elements(node, i) == 1);
}

bool msd_native_is_bias(const modser_sg_node *node, size_t i, size_t terms)
{
	const modser_sg_tensor *t = modser_sg_node_input(node, i);
	const int64_t room = INT32_MAX - (int64_t)terms * 255 * 255;

	if (t == NULL || msd_native_constant(node, i) != NULL)
		return true;
	if (!msd_native_is_fixed(node, i) || t->dtype.code != MSD_DT_INT ||
	    t->dtype.bits != 32)
		return false;
	const int32_t *bias = t->data;
	for (size_t k = 0; k < msd_native_elements(node, i); k++) {
		if (llabs(bias[k]) > room)
			return false;
	}
	return true;
}

struct msd_native_bytes msd_native_bytes_at(struct msd_dtype dtype, const void *p,
					    const void *zero, float scale)
{
	const uint8_t flip = dtype.code == MSD_DT_INT ? 0x80 : 0;
	const uint8_t at = zero != NULL ? *(const uint8_t *)zero : 0;

	return (struct msd_native_bytes){p, flip, at ^ flip, scale};
}

struct msd_native_bytes msd_native_bytes_in(const struct msd_kernel_call *c, size_t i,
					    size_t zero, float scale)
{
	return msd_native_bytes_at(msd_kernel_in_dtype(c, i), c->in[i],
				   msd_kernel_has(c, zero) ? c->in[zero] : NULL, scale);
}

float msd_native_scale_in(const struct msd_kernel_call *c, size_t i)
{
	return msd_kernel_has(c, i) ? *(const float *)c->in[i] : 1;
}

struct msd_native_rounding msd_native_rounding_of(const struct msd_kernel_call *c,
						  size_t zero, float bound_low,
						  float bound_high, float scale)
{
	const bool is_signed = msd_kernel_out_dtype(c, 0).code == MSD_DT_INT;
	const int32_t least = is_signed ? INT8_MIN : 0;
	struct msd_native_rounding r = {0};

	if (msd_kernel_has(c, zero)) {
		r.zero = is_signed ? *(const int8_t *)c->in[zero]
				   : *(const uint8_t *)c->in[zero];
	}
	const float low = (float)(least - r.zero);
	const float high = (float)(least + UINT8_MAX - r.zero);
	r.low = low;
	r.high = high;
	/* Within the type: a bound beyond it makes all elements its limit. */
	if (bound_low > -INFINITY)
		r.low = fminf(fmaxf(low, bound_low / scale), high);
	if (bound_high < INFINITY)
		r.high = fmaxf(fminf(high, bound_high / scale), r.low);
	return r;
}

static int32_t value_of(const struct msd_native_bytes *x, size_t i)
{
	return (x->p[i] ^ x->flip) - x->zero;
}

bool msd_native_fit(const struct msd_native_bytes *x, size_t n)
{
	if (x->zero == -INT8_MIN) /* the usual case */
		return true;
	for (size_t i = 0; i < n; i++) {
		if (value_of(x, i) < INT8_MIN || value_of(x, i) > INT8_MAX)
			return false;
	}
	return true;
}

int64_t msd_native_sum(const struct msd_native_bytes *x, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x->p[i] ^ x->flip;
	return sum - (int64_t)n * x->zero;
}
