/* QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear of 8 bits: rows with one
 * scale. */
#include <math.h>

#include "graph/ir/graph.h"
#include "graph/op/quantized/params.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/quantized/operands.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/work.h"

enum { X, SCALE, ZERO };
enum { CHUNK = 4096 }; /* elements of a part if all have one scale */

struct job {
	const struct msd_kernel_call *c;
	const struct msd_native_integer_kernels *k;
	size_t n;      /* all elements */
	size_t row;    /* elements of a part */
	size_t scales; /* 1: one scale for all */
};

/* Not blocks: a scale for all, or one for each position of an axis. */
static bool has_rows(const modser_sg_node *node)
{
	const modser_sg_tensor *scale = modser_sg_node_input(node, SCALE);

	return msd_native_is_single(node, SCALE) &&
	       (msd_native_elements(node, SCALE) == 1 ||
		(modser_sg_tensor_ndim(scale) == 1 &&
		 msd_params_blocks(node).block_size == 0));
}

static bool may_quantize(const modser_sg_node *node)
{
	const modser_sg_tensor *y = modser_sg_node_output(node, 0);

	return msd_native_is_single(node, X) && has_rows(node) && y->dtype.bits == 8 &&
	       (y->dtype.code == MSD_DT_INT || y->dtype.code == MSD_DT_UINT);
}

static bool may_dequantize(const modser_sg_node *node)
{
	const modser_sg_tensor *y = modser_sg_node_output(node, 0);

	return msd_native_is_bytes(node, X) && has_rows(node) && y->dtype.bits == 32 &&
	       y->dtype.code == MSD_DT_FLOAT;
}

static struct job job_of(const struct msd_kernel_call *c)
{
	struct job j = {.c = c,
			.k = msd_native_kernels()->integers,
			.n = msd_kernel_out_elements(c, 0),
			.row = CHUNK,
			.scales = msd_kernel_in_elements(c, SCALE)};

	if (j.scales > 1) {
		const size_t ndim = msd_kernel_in_ndim(c, X);
		const size_t axis =
			msd_kernel_axis(msd_params_blocks(c->node).axis, ndim);

		j.row = msd_kernel_inner(msd_kernel_in_dims(c, X), ndim, axis);
	}
	return j;
}

static void run_rows(const struct job *j, msd_native_part *part)
{
	if (j->n > 0) {
		msd_native_each((j->n + j->row - 1) / j->row, (double)j->row / 2, part,
				j);
	}
}

static size_t length(const struct job *j, size_t i)
{
	const size_t left = j->n - i * j->row;

	return left < j->row ? left : j->row;
}

static void quantize_rows(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct job *j = ctx;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const size_t at = i % j->scales;
		struct msd_kernel_call c = *j->c;
		const void *in[] = {c.in[X], c.in[SCALE],
				    msd_kernel_has(&c, ZERO)
					    ? (const uint8_t *)c.in[ZERO] + at
					    : NULL};

		c.in = in;
		j->k->quantize((const float *)c.in[X] + i * j->row, length(j, i),
			       ((const float *)c.in[SCALE])[at],
			       msd_native_rounding_of(&c, ZERO, -INFINITY, INFINITY, 1),
			       (uint8_t *)c.out[0] + i * j->row);
	}
}

static void dequantize_rows(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct job *j = ctx;
	const struct msd_kernel_call *c = j->c;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const size_t at = i % j->scales;
		const struct msd_native_bytes x = msd_native_bytes_at(
			msd_kernel_in_dtype(c, X),
			(const uint8_t *)c->in[X] + i * j->row,
			msd_kernel_has(c, ZERO) ? (const uint8_t *)c->in[ZERO] + at
						: NULL,
			((const float *)c->in[SCALE])[at]);

		j->k->dequantize(&x, length(j, i), (float *)c->out[0] + i * j->row);
	}
}

static msd_err run_quantize(const struct msd_kernel_call *c,
			    const struct msd_native_packed *packed, struct msd_diag *d)
{
	const struct job j = job_of(c);

	(void)packed;
	(void)d;
	run_rows(&j, quantize_rows);
	return MSD_OK;
}

static msd_err run_dequantize(const struct msd_kernel_call *c,
			      const struct msd_native_packed *packed,
			      struct msd_diag *d)
{
	const struct job j = job_of(c);

	(void)packed;
	(void)d;
	run_rows(&j, dequantize_rows);
	return MSD_OK;
}

struct dynamic {
	struct job job; /* first member */
	float scale;
	struct msd_native_rounding rounding;
};

static void quantize_chunks(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct dynamic *y = ctx;
	const struct job *j = &y->job;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		j->k->quantize((const float *)j->c->in[X] + i * j->row, length(j, i),
			       y->scale, y->rounding,
			       (uint8_t *)j->c->out[0] + i * j->row);
	}
}

/* The range includes 0, so that 0 is represented exactly. */
static msd_err run_dynamic(const struct msd_kernel_call *c,
			   const struct msd_native_packed *packed, struct msd_diag *d)
{
	struct dynamic y = {.job = {.c = c,
				    .k = msd_native_kernels()->integers,
				    .n = msd_kernel_out_elements(c, 0),
				    .row = CHUNK,
				    .scales = 1}};
	float least = 0;
	float most = 0;

	(void)packed;
	(void)d;
	y.job.k->range(c->in[X], y.job.n, &least, &most);
	y.scale = most > least ? (most - least) / 255 : 1;
	const double zero = rint((double)(-least / y.scale));
	const uint8_t at = (uint8_t)(zero > 255 ? 255 : zero > 0 ? zero : 0);
	y.rounding = (struct msd_native_rounding){(float)-at, (float)(255 - at), at};
	run_rows(&y.job, quantize_chunks);
	if (c->out[1] != NULL)
		*(float *)c->out[1] = y.scale;
	if (c->out[2] != NULL)
		*(uint8_t *)c->out[2] = at;
	return MSD_OK;
}

const struct msd_native_claim msd_native_quantize_linear = {
	"QuantizeLinear", may_quantize, NULL, run_quantize, 0};
const struct msd_native_claim msd_native_dequantize_linear = {
	"DequantizeLinear", may_dequantize, NULL, run_dequantize, 0};
const struct msd_native_claim msd_native_dynamic_quantize_linear = {
	"DynamicQuantizeLinear", msd_native_all_single, NULL, run_dynamic, 0};
