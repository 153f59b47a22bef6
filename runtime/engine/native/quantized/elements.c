/* QuantizedBinary and QuantizedTable: rows of bytes. */
#include "graph/op/quantized/params.h"
#include "graph/op/quantized/quantize.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/quantized/operands.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/work.h"
#include "runtime/kernel/walk.h"

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO }; /* inputs */
enum { CHUNK = 4096 };

struct pairs {
	const struct msd_native_integer_kernels *k;
	enum msd_native_quantized kind;
	struct msd_native_pair rows; /* from their first elements */
	float scale;
	struct msd_native_rounding rounding;
	uint8_t *y;
	struct msd_walk w;
};

static bool may_binary(const modser_sg_node *node)
{
	return msd_native_is_bytes(node, A) && msd_native_is_bytes(node, B) &&
	       msd_native_is_scale(node, A_SCALE) &&
	       msd_native_is_scale(node, B_SCALE) &&
	       msd_native_is_scale(node, Y_SCALE) && msd_native_is_zero(node, A_ZERO) &&
	       msd_native_is_zero(node, B_ZERO) && msd_native_is_zero(node, Y_ZERO);
}

/* A part is a chunk of a row. */
static void run_rows(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct pairs *p = ctx;
	const size_t n = (size_t)p->w.n;
	const size_t chunks = (n + CHUNK - 1) / CHUNK;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const size_t row = i / chunks * n;
		const size_t from = i % chunks * CHUNK;
		const size_t count = n - from < CHUNK ? n - from : CHUNK;
		struct msd_native_pair in = p->rows;

		in.a.p += (size_t)msd_walk_place(&p->w, 0, row) + from * in.a_step;
		in.b.p += (size_t)msd_walk_place(&p->w, 1, row) + from * in.b_step;
		p->k->binary(p->kind, &in, count, p->scale, p->rounding,
			     p->y + row + from);
	}
}

static msd_err run_binary(const struct msd_kernel_call *c,
			  const struct msd_native_packed *packed, struct msd_diag *d)
{
	static const enum msd_native_quantized kinds[] = {
		[MSD_QUANTIZED_ADD] = MSD_NATIVE_QUANTIZED_ADD,
		[MSD_QUANTIZED_SUB] = MSD_NATIVE_QUANTIZED_SUB,
		[MSD_QUANTIZED_MUL] = MSD_NATIVE_QUANTIZED_MUL,
	};
	const float scale = msd_native_scale_in(c, Y_SCALE);
	struct pairs p = {
		.k = msd_native_kernels()->integers,
		.kind = kinds[msd_params_quantized_binary(c->node).kind],
		.rows.a = msd_native_bytes_in(c, A, A_ZERO,
					      msd_native_scale_in(c, A_SCALE)),
		.rows.b = msd_native_bytes_in(c, B, B_ZERO,
					      msd_native_scale_in(c, B_SCALE)),
		.scale = scale,
		.rounding = msd_native_rounding_of(
			c, Y_ZERO, msd_params_quantized_binary(c->node).low,
			msd_params_quantized_binary(c->node).high, scale),
		.y = c->out[0],
	};

	(void)packed;
	(void)d;
	if (msd_kernel_out_elements(c, 0) == 0)
		return MSD_OK;
	msd_walk_init(&p.w, msd_kernel_out_dims(c, 0), msd_kernel_out_ndim(c, 0));
	msd_walk_stretch(&p.w, msd_kernel_in_dims(c, A), msd_kernel_in_ndim(c, A));
	msd_walk_stretch(&p.w, msd_kernel_in_dims(c, B), msd_kernel_in_ndim(c, B));
	msd_walk_merge(&p.w);
	p.rows.a_step = (size_t)msd_walk_step(&p.w, 0);
	p.rows.b_step = (size_t)msd_walk_step(&p.w, 1);
	const size_t n = (size_t)p.w.n;
	msd_native_each(p.w.n_rows * ((n + CHUNK - 1) / CHUNK),
			(double)(n < CHUNK ? n : CHUNK) / 2, run_rows, &p);
	return MSD_OK;
}

static bool may_table(const modser_sg_node *node)
{
	return msd_native_is_bytes(node, 0) && msd_native_is_bytes(node, 1);
}

static void run_chunks(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct msd_kernel_call *c = ctx;
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const size_t at = i * CHUNK;

		msd_native_kernels()->integers->table(
			(const uint8_t *)c->in[0] + at, n - at < CHUNK ? n - at : CHUNK,
			c->in[1], (uint8_t *)c->out[0] + at);
	}
}

static msd_err run_table(const struct msd_kernel_call *c,
			 const struct msd_native_packed *packed, struct msd_diag *d)
{
	(void)packed;
	(void)d;
	msd_native_each((msd_kernel_out_elements(c, 0) + CHUNK - 1) / CHUNK,
			(double)CHUNK / 2, run_chunks, c);
	return MSD_OK;
}

const struct msd_native_claim msd_native_quantized_binary = {
	MSD_QUANTIZED_BINARY, may_binary, NULL, run_binary, 0};
const struct msd_native_claim msd_native_quantized_table = {
	MSD_QUANTIZED_TABLE, may_table, NULL, run_table, 0};
