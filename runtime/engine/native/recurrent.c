/*
 * LSTM and GRU with the usual activations. One product computes the sums of all
 * steps' inputs; then each step multiplies the state, for all batch entries at once.
 * Threads run the two directions.
 * Weights are packed at load, transposed.
 */
#include "graph/op/recurrent/recurrent.h"

#include <stdlib.h>
#include <string.h>

#include "graph/op/recurrent/params.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/kernels.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/work.h"

enum { X, W, R, B, LENGTHS, STATE, CELL, PEEPHOLES };
enum { LSTM_GATES = 4, GRU_GATES = 3, COLUMNS = 192, MOST_WAYS = 2 };

struct packed {
	struct msd_native_packed base;
	size_t w_floats, r_floats, last_floats; /* per direction */
	float *w, *r;
	float *last;   /* weights of a GRU's last gate alone */
	float *start;  /* biases of the input sums, one per row of W */
	float *linear; /* biases of the last gate's state sums */
};

struct job {
	const struct msd_native_kernels *k;
	const struct packed *packed;
	const struct msd_kernel_call *c;
	struct msd_native_product p; /* of the inputs */
	size_t n_parts, m_parts, m_step;
	size_t gates, hidden, inputs, steps, batch, ways;
	bool is_linear;
	bool is_reverse;
	size_t way;   /* 0 or 1 */
	float *sums;  /* steps x batch x gates x hidden */
	float *state; /* batch x hidden, then the cells, then work */
	float *cell, *work;
	float *scratch;
};

static bool is_plain(const modser_sg_node *node)
{
	const struct msd_op_recurrent p = msd_op_recurrent_of(node);

	return msd_native_is_single(node, X) && msd_native_constant(node, W) != NULL &&
	       msd_native_constant(node, R) != NULL &&
	       (modser_sg_node_input(node, B) == NULL ||
		msd_native_constant(node, B) != NULL) &&
	       modser_sg_node_input(node, LENGTHS) == NULL &&
	       modser_sg_node_input(node, PEEPHOLES) == NULL && !p.has_clip &&
	       p.layout == 0 && p.activations[0] == '\0';
}

static bool may_lstm(const modser_sg_node *node)
{
	return is_plain(node) && msd_params_lstm(node).input_forget == 0;
}

/* Biases of both sums are one, but for the last gate of a GRU, whose state sums get
 * their own. */
static void set_biases(const float *b, size_t rows, size_t hidden, bool is_gru,
		       float *start, float *linear)
{
	for (size_t i = 0; i < rows; i++) {
		const bool is_last = is_gru && i >= 2 * hidden;

		start[i] = b == NULL ? 0 : is_last ? b[i] : b[i] + b[rows + i];
		if (is_last)
			linear[i - 2 * hidden] = b == NULL ? 0 : b[rows + i];
	}
}

static bool pack(const modser_sg_node *node, size_t gates,
		 struct msd_native_packed **ret)
{
	const struct msd_native_kernels *k = msd_native_kernels();
	const int64_t *w = modser_sg_tensor_dims(modser_sg_node_input(node, W));
	const size_t ways = (size_t)w[0];
	const size_t rows = (size_t)w[1];
	const size_t inputs = (size_t)w[2];
	const size_t hidden = rows / gates;
	const bool is_gru = gates == GRU_GATES;
	const size_t w_floats = k->pack_b_floats(inputs, rows);
	const size_t r_floats = k->pack_b_floats(hidden, is_gru ? 2 * hidden : rows);
	const size_t last = is_gru ? k->pack_b_floats(hidden, hidden) : 0;
	const float *b = msd_native_constant(node, B);
	bool is_packed = false;
	struct packed *p = msd_native_packed_new(
		node, NULL, sizeof(*p),
		ways * (w_floats + r_floats + last + rows + hidden), &is_packed);

	if (p == NULL)
		return false;
	p->w_floats = w_floats;
	p->r_floats = r_floats;
	p->last_floats = last;
	p->w = p->base.weights;
	p->r = p->w + ways * w_floats;
	p->last = p->r + ways * r_floats;
	p->start = p->last + ways * last;
	p->linear = p->start + ways * rows;
	for (size_t i = 0; !is_packed && i < ways; i++) {
		const float *own = msd_native_constant(node, R) + i * rows * hidden;

		k->pack_b(msd_native_constant(node, W) + i * rows * inputs, 1, inputs,
			  inputs, rows, p->w + i * w_floats);
		k->pack_b(own, 1, hidden, hidden, is_gru ? 2 * hidden : rows,
			  p->r + i * r_floats);
		if (is_gru) {
			k->pack_b(own + 2 * hidden * hidden, 1, hidden, hidden, hidden,
				  p->last + i * last);
		}
		set_biases(b != NULL ? b + i * 2 * rows : NULL, rows, hidden, is_gru,
			   p->start + i * rows, p->linear + i * hidden);
	}
	*ret = &p->base;
	return true;
}

static bool pack_lstm(const modser_sg_node *node, struct msd_native_packed **ret)
{
	return pack(node, LSTM_GATES, ret);
}

static bool pack_gru(const modser_sg_node *node, struct msd_native_packed **ret)
{
	return pack(node, GRU_GATES, ret);
}

static void run_inputs(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct job *j = ctx;

	for (size_t i = first; i < end; i++) {
		const size_t n0 = i % j->n_parts * COLUMNS;
		const size_t m0 = i / j->n_parts * j->m_step;
		const size_t m1 = j->p.m - m0 < j->m_step ? j->p.m : m0 + j->m_step;
		const size_t n1 = j->p.n - n0 < COLUMNS ? j->p.n : n0 + COLUMNS;

		j->k->product(&j->p, m0, m1, n0, n1,
			      j->scratch + thread * *j->k->product_scratch);
	}
}

static void multiply_inputs(struct job *j)
{
	const size_t rows = j->gates * j->hidden;

	j->p = (struct msd_native_product){
		.m = j->steps * j->batch,
		.n = rows,
		.k = j->inputs,
		.a = j->c->in[X],
		.a_row = j->inputs,
		.a_step = 1,
		.packed_b = j->packed->w + j->way * j->packed->w_floats,
		.y = j->sums,
		.y_row = rows,
		.start = j->packed->start + j->way * rows,
		.start_columns = true,
	};
	j->n_parts = (rows + COLUMNS - 1) / COLUMNS;
	j->m_step = 4 * j->k->rows;
	j->m_parts = (j->p.m + j->m_step - 1) / j->m_step;
	msd_native_each(j->n_parts * j->m_parts,
			(double)(j->m_step * COLUMNS * j->inputs) / 32, run_inputs, j);
}

/* y = start + state * weights, for all batch entries. */
static void multiply_state(const struct job *j, const float *state, size_t n,
			   const float *weights, const float *start, size_t start_row,
			   float *y, size_t y_row)
{
	const struct msd_native_product p = {
		.m = j->batch,
		.n = n,
		.k = j->hidden,
		.a = state,
		.a_row = j->hidden,
		.a_step = 1,
		.packed_b = weights,
		.y = y,
		.y_row = y_row,
		.start = start,
		.start_row = start_row,
		.start_columns = true,
	};

	j->k->product(&p, 0, p.m, 0, p.n, j->scratch);
}

static void step_lstm(const struct job *j, float *sums)
{
	const size_t rows = j->gates * j->hidden;

	multiply_state(j, j->state, rows, j->packed->r + j->way * j->packed->r_floats,
		       sums, rows, j->work, rows);
	for (size_t b = 0; b < j->batch; b++) {
		j->k->lstm(j->work + b * rows, j->hidden, j->cell + b * j->hidden,
			   j->state + b * j->hidden);
	}
}

/* The work holds update and reset, then the last gate's sums of the state. */
static void step_gru(const struct job *j, float *sums)
{
	const size_t n = j->hidden;
	const size_t rows = j->gates * n;
	const float *last = j->packed->last + j->way * j->packed->last_floats;
	const float *linear = j->packed->linear + j->way * n;
	float *from_state = j->work + j->batch * 2 * n;

	multiply_state(j, j->state, 2 * n, j->packed->r + j->way * j->packed->r_floats,
		       sums, rows, j->work, 2 * n);
	j->k->unary(MSD_NATIVE_SIGMOID, j->work, j->batch * 2 * n, 0, 0, j->work);
	if (j->is_linear)
		multiply_state(j, j->state, n, last, linear, 0, from_state, n);
	for (size_t b = 0; b < j->batch; b++) {
		float *reset = j->work + b * 2 * n + n;

		j->k->binary(MSD_NATIVE_MUL, reset, 1,
			     (j->is_linear ? from_state : j->state) + b * n, 1, n,
			     j->cell + b * n);
	}
	if (!j->is_linear)
		multiply_state(j, j->cell, n, last, linear, 0, from_state, n);
	for (size_t b = 0; b < j->batch; b++) {
		float *at = from_state + b * n;

		j->k->binary(MSD_NATIVE_ADD, sums + b * rows + 2 * n, 1,
			     j->is_linear ? j->cell + b * n : at, 1, n, at);
		j->k->gru(j->work + b * 2 * n, at, n, j->state + b * n);
	}
}

static void load_state(const struct job *j, size_t input, float *ret)
{
	const size_t n = j->batch * j->hidden;

	if (msd_kernel_has(j->c, input)) {
		memcpy(ret, (const float *)j->c->in[input] + j->way * n,
		       n * sizeof(float));
	} else {
		memset(ret, 0, n * sizeof(float));
	}
}

static void put_state(const struct job *j, size_t output, size_t place,
		      const float *from)
{
	const size_t n = j->batch * j->hidden;

	if (modser_sg_node_output(j->c->node, output) != NULL)
		memcpy((float *)j->c->out[output] + place * n, from, n * sizeof(float));
}

static void run_steps(const struct job *j)
{
	const bool is_lstm = j->gates == LSTM_GATES;
	const bool is_backwards = j->way == 1 || j->is_reverse;
	const size_t stride = j->batch * j->gates * j->hidden;

	load_state(j, STATE, j->state);
	if (is_lstm)
		load_state(j, CELL, j->cell);
	for (size_t s = 0; s < j->steps; s++) {
		const size_t t = is_backwards ? j->steps - 1 - s : s;

		if (is_lstm) {
			step_lstm(j, j->sums + t * stride);
		} else {
			step_gru(j, j->sums + t * stride);
		}
		put_state(j, 0, t * j->ways + j->way, j->state);
	}
	put_state(j, 1, j->way, j->state);
	if (is_lstm)
		put_state(j, 2, j->way, j->cell);
}

static void run_ways(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct job *jobs = ctx;

	for (size_t i = first; i < end; i++) {
		struct job j = jobs[i];

		j.scratch += thread * *j.k->product_scratch;
		run_steps(&j);
	}
}

static msd_err run(const struct msd_kernel_call *c,
		   const struct msd_native_packed *packed, size_t gates, bool is_linear,
		   struct msd_diag *d)
{
	const int64_t *x = msd_kernel_in_dims(c, X);
	const int64_t *r = msd_kernel_in_dims(c, R);
	struct job j = {
		.k = msd_native_kernels(),
		.packed = (const struct packed *)packed,
		.c = c,
		.gates = gates,
		.hidden = (size_t)r[2],
		.inputs = (size_t)x[2],
		.steps = (size_t)x[0],
		.batch = (size_t)x[1],
		.ways = (size_t)r[0],
		.is_linear = is_linear,
		.is_reverse =
			strcmp(msd_op_recurrent_of(c->node).direction, "reverse") == 0,
	};
	const size_t state = j.batch * j.hidden;
	const size_t sums = j.steps * gates * state;
	const size_t own = sums + (2 + gates) * state; /* of a way */
	struct job jobs[MOST_WAYS];

	j.sums = msd_native_scratch_take(j.ways * own +
					 msd_native_threads() * *j.k->product_scratch);
	if (j.sums == NULL)
		return msd_diag_no_memory(d);
	j.scratch = j.sums + j.ways * own;
	for (size_t way = 0; way < j.ways; way++) {
		jobs[way] = j;
		jobs[way].way = way;
		jobs[way].sums += way * own;
		jobs[way].state = jobs[way].sums + sums;
		jobs[way].cell = jobs[way].state + state;
		jobs[way].work = jobs[way].cell + state;
		multiply_inputs(&jobs[way]);
	}
	msd_native_each(j.ways, (double)sums * (double)j.hidden / 32, run_ways, jobs);
	msd_native_scratch_give(j.sums);
	return MSD_OK;
}

static msd_err run_lstm(const struct msd_kernel_call *c,
			const struct msd_native_packed *packed, struct msd_diag *d)
{
	return run(c, packed, LSTM_GATES, false, d);
}

static msd_err run_gru(const struct msd_kernel_call *c,
		       const struct msd_native_packed *packed, struct msd_diag *d)
{
	return run(c, packed, GRU_GATES,
		   msd_params_gru(c->node).linear_before_reset != 0, d);
}

enum { PACKS = 1u << W | 1u << R | 1u << B };

const struct msd_native_claim msd_native_lstm = {"LSTM", may_lstm, pack_lstm, run_lstm,
						 PACKS};
const struct msd_native_claim msd_native_gru = {"GRU", is_plain, pack_gru, run_gru,
						PACKS};
