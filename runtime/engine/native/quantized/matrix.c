/*
 * MatMulInteger, QLinearMatMul, and QuantizedMatMul, which a pass makes of MatMul and
 * Gemm: products of units, one row of a per row, one column of b per column. A constant
 * b is packed at load; a is packed in each run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/quantized/params.h"
#include "graph/op/quantized/quantize.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/quantized/operands.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/work.h"
#include "runtime/kernel/walk.h"

enum { COLUMNS = 192 }; /* A part has so many, if there are several threads. */

/* The inputs of an operator. */
struct places {
	size_t a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, bias;
	bool is_scaled;
};

/* b, if it is constant. */
struct packed {
	struct msd_native_packed base;
	const struct msd_native_units *units;
	const int32_t *sums; /* of quads: those of the columns */
};

struct matrix {
	const struct msd_kernel_call *call;
	const struct msd_native_kernels *k;
	const struct msd_native_units *u;
	struct places at;
	size_t m, n, depth; /* bytes deep */
	struct msd_native_bytes a, b;
	const int32_t *b_zeros; /* by column, or NULL */
	float *units;           /* a, not yet packed */
	float *packed_a;
	float *packed_b; /* in a run; NULL: at load */
	struct msd_native_integers p;
	size_t element;
	size_t n_step, n_parts, m_step, m_parts;
};

static struct places places_of(const modser_sg_node *node)
{
	if (msd_op_quantized_b(node) == 3)
		return (struct places){1, 2, 3, 4, 5, 6, 7, 8, true};
	return (struct places){.a_zero = 2, .b = 1, .b_zero = 3, .bias = MODSER_MANY};
}

static bool is_turned(const modser_sg_node *node)
{
	return strcmp(modser_sg_op_name(modser_sg_node_op(node)),
		      MSD_QUANTIZED_MAT_MUL) == 0 &&
	       msd_params_quantized_mat_mul(node).transB != 0;
}

static bool may(const modser_sg_node *node)
{
	const struct places at = places_of(node);
	const modser_sg_tensor *a = modser_sg_node_input(node, 0);

	if (!msd_native_is_bytes(node, 0) || !msd_native_is_bytes(node, at.b) ||
	    !msd_native_is_zero(node, at.a_zero) || modser_sg_tensor_ndim(a) < 1)
		return false;
	const size_t depth =
		(size_t)modser_sg_tensor_dims(a)[modser_sg_tensor_ndim(a) - 1];
	if (depth == 0 || depth > MSD_NATIVE_TERMS)
		return false;
	return !at.is_scaled || (msd_native_is_scale(node, at.a_scale) &&
				 msd_native_is_single(node, at.b_scale) &&
				 msd_native_is_scale(node, at.y_scale) &&
				 msd_native_is_zero(node, at.y_zero) &&
				 msd_native_is_bias(node, at.bias, depth));
}

static size_t deep_of(const struct msd_native_units *u, size_t depth)
{
	return (depth + u->width - 1) / u->width;
}

/* The panel of columns @n0 and on. */
static void pack_panel(const struct msd_native_units *u,
		       const struct msd_native_bytes *b, const int32_t *zeros,
		       size_t depth, size_t n, size_t n0, float *ret)
{
	const size_t panel = msd_native_kernels()->panel;
	const size_t columns = n - n0 < panel ? n - n0 : panel;

	if (columns < panel)
		memset(ret, 0, deep_of(u, depth) * panel * sizeof(*ret));
	for (size_t q = 0; q < depth; q += u->width, ret += panel) {
		struct msd_native_bytes row = *b;

		row.p += q * n + n0;
		u->rows(&row, depth - q < u->width ? depth - q : u->width, n,
			zeros != NULL ? zeros + n0 : NULL, columns, ret);
	}
}

/* Zero points of the columns, if there is more than one: NULL. */
static void set_zeros(struct msd_dtype dtype, const uint8_t *zeros, size_t n,
		      int32_t *ret)
{
	const uint8_t flip = dtype.code == MSD_DT_INT ? 0x80 : 0;

	for (size_t i = 0; i < n; i++)
		ret[i] = zeros[i] ^ flip;
}

struct constant {
	struct msd_native_bytes b;
	size_t depth, n;
	bool is_turned; /* columns are contiguous */
	int32_t *zeros; /* NULL: one for all */
	const struct msd_native_units *u;
};

/* Element @k of column @i. */
static int32_t value_of(const struct constant *c, size_t k, size_t i)
{
	const size_t at = c->is_turned ? i * c->depth + k : k * c->n + i;

	return (c->b.p[at] ^ c->b.flip) - (c->zeros != NULL ? c->zeros[i] : c->b.zero);
}

/* Quads, if the level has them and the elements fit. */
static const struct msd_native_units *choose_units(const struct constant *c)
{
	const struct msd_native_integer_kernels *k = msd_native_kernels()->integers;

	if (k->quads == NULL ||
	    (c->zeros == NULL && !msd_native_fit(&c->b, c->depth * c->n)))
		return k->pairs;
	for (size_t i = 0; c->zeros != NULL && i < c->n; i++) {
		for (size_t j = 0; j < c->depth; j++) {
			const int32_t v = value_of(c, j, i);

			if (v < INT8_MIN || v > INT8_MAX)
				return k->pairs;
		}
	}
	return k->quads;
}

static bool pack_turned(const struct constant *c, float *ret)
{
	const size_t deep = deep_of(c->u, c->depth);
	float *units = malloc((deep * c->n + 1) * sizeof(*units));

	if (units == NULL)
		return false;
	for (size_t i = 0; i < c->n; i++) {
		struct msd_native_bytes column = c->b;

		column.p += i * c->depth;
		column.zero = c->zeros != NULL ? c->zeros[i] : c->b.zero;
		c->u->row(&column, c->depth, units + i * deep);
	}
	msd_native_kernels()->pack_b(units, 1, deep, deep, c->n, ret);
	free(units);
	return true;
}

static bool pack_columns(const struct constant *c, float *ret, int32_t *sums)
{
	memset(sums, 0, c->n * sizeof(*sums));
	for (size_t k = 0; k < c->depth; k++) {
		for (size_t i = 0; i < c->n; i++)
			sums[i] += value_of(c, k, i);
	}
	if (c->is_turned)
		return pack_turned(c, ret);
	for (size_t i = 0; i < c->n; i += msd_native_kernels()->panel) {
		pack_panel(c->u, &c->b, c->zeros, c->depth, c->n, i,
			   ret + i * deep_of(c->u, c->depth));
	}
	return true;
}

static bool pack_into(const modser_sg_node *node, struct constant *c,
		      struct msd_native_packed **ret)
{
	const struct msd_native_kernels *k = msd_native_kernels();
	bool is_packed = false;

	c->u = choose_units(c);
	const bool is_quads = c->u != k->integers->pairs;
	const size_t floats = k->pack_b_floats(deep_of(c->u, c->depth), c->n);
	struct packed *p = msd_native_packed_new(node, is_quads ? "bytes" : NULL,
						 sizeof(*p), floats + c->n, &is_packed);

	if (p == NULL)
		return false;
	int32_t *sums = (int32_t *)(void *)(p->base.weights + floats);
	p->units = c->u;
	p->sums = is_quads ? sums : NULL;
	if (!is_packed && !pack_columns(c, p->base.weights, sums)) {
		msd_native_packed_free(&p->base);
		return false;
	}
	*ret = &p->base;
	return true;
}

static bool pack(const modser_sg_node *node, struct msd_native_packed **ret)
{
	const struct places at = places_of(node);
	const modser_sg_tensor *b = modser_sg_node_input(node, at.b);
	const int64_t *dims = modser_sg_tensor_dims(b);

	if (!msd_native_is_fixed(node, at.b) || !msd_native_is_fixed(node, at.b_zero) ||
	    modser_sg_tensor_ndim(b) != 2)
		return true;
	const modser_sg_tensor *zero = modser_sg_node_input(node, at.b_zero);
	const bool is_each = zero != NULL && msd_native_elements(node, at.b_zero) > 1;
	struct constant c = {.b = msd_native_bytes_at(b->dtype, b->data,
						      zero != NULL ? zero->data : NULL,
						      1),
			     .depth = (size_t)dims[is_turned(node) ? 1 : 0],
			     .n = (size_t)dims[is_turned(node) ? 0 : 1],
			     .is_turned = is_turned(node)};

	c.zeros = is_each ? malloc(c.n * sizeof(*c.zeros)) : NULL;
	if (is_each && c.zeros == NULL)
		return false;
	if (is_each)
		set_zeros(b->dtype, zero->data, c.n, c.zeros);
	const bool is_packed = pack_into(node, &c, ret);
	free(c.zeros);
	return is_packed;
}

/* A tile of rows. */
static void pack_rows(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct matrix *x = ctx;
	const size_t deep = deep_of(x->u, x->depth);

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const size_t m0 = i * x->k->rows;
		const size_t rows = x->m - m0 < x->k->rows ? x->m - m0 : x->k->rows;

		for (size_t r = m0; r < m0 + rows; r++) {
			struct msd_native_bytes row = x->a;

			row.p += r * x->depth;
			row.zero = x->u->width == 2 ? row.zero : 0;
			x->u->row(&row, x->depth, x->units + r * deep);
		}
		x->k->pack_a(x->units + m0 * deep, deep, 1, rows, deep, NULL,
			     x->packed_a + m0 * deep);
	}
}

static void pack_panels(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct matrix *x = ctx;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const size_t n0 = i * x->k->panel;

		pack_panel(x->u, &x->b, x->b_zeros, x->depth, x->n, n0,
			   x->packed_b + n0 * deep_of(x->u, x->depth));
	}
}

static void run_parts(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct matrix *x = ctx;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const size_t n0 = i % x->n_parts * x->n_step;
		const size_t m0 = i / x->n_parts * x->m_step;
		const size_t m1 = x->m - m0 < x->m_step ? x->m : m0 + x->m_step;
		const size_t n1 = x->n - n0 < x->n_step ? x->n : n0 + x->n_step;

		x->u->product(&x->p, m0, m1, n0, n1, NULL);
	}
}

static void divide(struct matrix *x)
{
	const size_t rows = x->k->rows;
	const size_t threads = msd_native_threads();
	const size_t tiles = (x->m + rows - 1) / rows;

	x->n_step = threads > 1 ? COLUMNS : (x->n + COLUMNS - 1) / COLUMNS * COLUMNS;
	x->n_parts = (x->n + x->n_step - 1) / x->n_step;
	x->m_step = tiles * rows;
	if (threads > 1 && x->n_parts < threads * 2) {
		const size_t parts = tiles < threads * 2 ? tiles : threads * 2;

		x->m_step = (tiles + parts - 1) / parts * rows;
	}
	x->m_parts = (x->m + x->m_step - 1) / x->m_step;
}

/* One product; b is packed already, or now. */
static void run_product(struct matrix *x)
{
	const size_t deep = deep_of(x->u, x->depth);
	const double rows = (double)(x->m < x->m_step ? x->m : x->m_step);
	const double columns = (double)(x->n < x->n_step ? x->n : x->n_step);

	msd_native_each((x->m + x->k->rows - 1) / x->k->rows,
			(double)(deep * x->k->rows), pack_rows, x);
	if (x->packed_b != NULL) {
		msd_native_each((x->n + x->k->panel - 1) / x->k->panel,
				(double)(deep * x->k->panel) / 4, pack_panels, x);
	}
	msd_native_each(x->n_parts * x->m_parts,
			rows * columns * (double)deep / (double)(4 * x->k->lanes),
			run_parts, x);
}

/* Scales, offsets and addends of each column, in the order of the operator's
 * definition; @ret has three rows. */
static void set_sums(struct matrix *x, size_t row, float *ret)
{
	const struct msd_kernel_call *c = x->call;
	struct msd_native_sums *s = &x->p.sums;
	const bool is_made = strcmp(modser_sg_op_name(modser_sg_node_op(c->node)),
				    MSD_QUANTIZED_MAT_MUL) == 0;
	const float low =
		is_made ? msd_params_quantized_mat_mul(c->node).low : -INFINITY;
	const float high =
		is_made ? msd_params_quantized_mat_mul(c->node).high : INFINITY;
	const float a = msd_native_scale_in(c, x->at.a_scale);
	const float y = msd_native_scale_in(c, x->at.y_scale);
	const float *b = c->in[x->at.b_scale];
	const bool is_each = msd_kernel_in_elements(c, x->at.b_scale) > 1;
	float *offsets = ret + row;
	int32_t *start = (int32_t *)(void *)(ret + 2 * row);

	for (size_t i = 0; i < x->n; i++)
		ret[i] = a * b[is_each ? i : 0] / y;
	s->scales = ret;
	s->is_float = msd_kernel_out_dtype(c, 0).code == MSD_DT_FLOAT;
	s->rounding = (struct msd_native_rounding){low, high, 0};
	if (!s->is_float)
		s->rounding = msd_native_rounding_of(c, x->at.y_zero, low, high, y);
	if (!msd_kernel_has(c, x->at.bias))
		return;
	if (msd_kernel_in_dtype(c, x->at.bias).code == MSD_DT_INT) {
		memcpy(start, c->in[x->at.bias], x->n * sizeof(*start));
		s->start = start;
		return;
	}
	for (size_t i = 0; i < x->n; i++)
		offsets[i] = ((const float *)c->in[x->at.bias])[i] / y;
	s->offsets = offsets;
}

/* Subtract the zero point that quads keep. @start has the bias, if there is one. */
static void set_start(struct matrix *x, const int32_t *sums, int32_t *start)
{
	for (size_t i = 0; i < x->n; i++) {
		const uint32_t first = x->p.sums.start != NULL ? (uint32_t)start[i] : 0;

		start[i] = (int32_t)(first - (uint32_t)x->a.zero * (uint32_t)sums[i]);
	}
	x->p.sums.start = start;
}

/* The products of all stacks; one matrix on the right makes the stacks on the left
 * rows of one product. */
static void run_stacks(struct matrix *x, size_t m)
{
	const struct msd_kernel_call *c = x->call;
	const size_t na = msd_kernel_in_ndim(c, 0);
	const size_t nb = msd_kernel_in_ndim(c, x->at.b);
	const int64_t *a = msd_kernel_in_dims(c, 0);
	const int64_t *b = msd_kernel_in_dims(c, x->at.b);
	const size_t stacked_a = na > 2 ? na - 2 : 0;
	const size_t stacked_b = nb > 2 ? nb - 2 : 0;
	const size_t stacked = stacked_a > stacked_b ? stacked_a : stacked_b;
	const uint8_t *a0 = x->a.p;
	const uint8_t *b0 = x->b.p;
	struct msd_walk stacks;

	if (stacked_b == 0) {
		run_product(x);
		return;
	}
	msd_walk_init(&stacks, msd_kernel_out_dims(c, 0), stacked);
	msd_walk_stretch(&stacks, a, stacked_a);
	msd_walk_stretch(&stacks, b, stacked_b);
	const size_t n_stacks = msd_native_count(msd_kernel_out_dims(c, 0), 0, stacked);
	for (size_t i = 0; i < n_stacks; i++) {
		x->a.p = a0 + (size_t)msd_walk_place(&stacks, 0, i) * m * x->depth;
		x->b.p = b0 + (size_t)msd_walk_place(&stacks, 1, i) * x->n * x->depth;
		x->p.y = (char *)c->out[0] + i * m * x->n * x->element;
		run_product(x);
	}
}

static void set_extents(struct matrix *x)
{
	const size_t na = msd_kernel_in_ndim(x->call, 0);
	const size_t nb = msd_kernel_in_ndim(x->call, x->at.b);
	const int64_t *a = msd_kernel_in_dims(x->call, 0);
	const int64_t *b = msd_kernel_in_dims(x->call, x->at.b);

	x->m = na > 1 ? (size_t)a[na - 2] : 1;
	if (nb <= 2 && na > 2)
		x->m *= msd_native_count(a, 0, na - 2);
	x->n = nb > 1 ? (size_t)b[is_turned(x->call->node) ? nb - 2 : nb - 1] : 1;
	x->depth = (size_t)a[na - 1];
}

static msd_err run(const struct msd_kernel_call *call,
		   const struct msd_native_packed *packed, struct msd_diag *d)
{
	struct matrix x = {
		.call = call,
		.k = msd_native_kernels(),
		.at = places_of(call->node),
		.element = msd_kernel_out_dtype(call, 0).bits / 8,
	};

	set_extents(&x);
	if (x.m == 0 || x.n == 0 || msd_kernel_out_elements(call, 0) == 0)
		return MSD_OK;
	const struct packed *own = (const struct packed *)packed;
	x.u = own != NULL ? own->units : x.k->integers->pairs;
	const size_t deep = deep_of(x.u, x.depth);
	const size_t row = x.n + x.k->panel;
	const size_t packed_a = x.k->pack_a_floats(x.m, deep);
	const size_t packed_b = packed == NULL ? x.k->pack_b_floats(deep, x.n) : 0;
	float *room = msd_native_scratch_take(4 * row + x.m * deep + packed_a +
					      packed_b + MSD_NATIVE_ROOM);
	if (room == NULL)
		return msd_diag_no_memory(d);
	x.units = room + 4 * row;
	x.packed_a = x.units + x.m * deep;
	x.packed_b = packed == NULL ? x.packed_a + packed_a : NULL;
	x.a = msd_native_bytes_in(call, 0, x.at.a_zero, 1);
	x.b = msd_native_bytes_in(call, x.at.b, x.at.b_zero, 1);
	if (msd_kernel_has(call, x.at.b_zero) &&
	    msd_kernel_in_elements(call, x.at.b_zero) > 1) {
		int32_t *zeros = (int32_t *)(void *)(room + 3 * row);

		set_zeros(msd_kernel_in_dtype(call, x.at.b), call->in[x.at.b_zero], x.n,
			  zeros);
		x.b_zeros = zeros;
	}
	x.p = (struct msd_native_integers){
		.m = x.m,
		.n = x.n,
		.k = deep,
		.packed_a = x.packed_a,
		.packed_b = packed != NULL ? packed->weights : x.packed_b,
		.sums = {.by_column = true},
		.y = call->out[0],
		.y_row = x.n,
	};
	if (x.at.is_scaled)
		set_sums(&x, row, room);
	if (own != NULL && own->sums != NULL)
		set_start(&x, own->sums, (int32_t *)(void *)(room + 2 * row));
	divide(&x);
	run_stacks(&x, x.m);
	msd_native_scratch_give(room);
	return MSD_OK;
}

const struct msd_native_claim msd_native_mat_mul_integer = {"MatMulInteger", may, pack,
							    run, 0};
const struct msd_native_claim msd_native_q_linear_mat_mul = {"QLinearMatMul", may, pack,
							     run, 0};
const struct msd_native_claim msd_native_quantized_mat_mul = {MSD_QUANTIZED_MAT_MUL,
							      may, pack, run, 0};
