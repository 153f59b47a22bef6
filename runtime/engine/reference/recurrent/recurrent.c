/*
 * LSTM, GRU and RNN of ONNX: for each direction and each batch entry, a state of
 * `hidden` numbers passes from step to step. The weights of the gates are stacked
 * vertically.
 */
#include "graph/op/recurrent/recurrent.h"

#include <stdlib.h>
#include <string.h>

#include "graph/op/recurrent/params.h"
#include "runtime/engine/reference/element/activation.h"
#include "runtime/engine/reference/recurrent/gates.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"

enum { X, W, R, B, LENGTHS, STATE, CELL, PEEPHOLES };
#define MAX_GATES 4u

/* Elements of an input, from an offset on; p == NULL: it is missing. */
struct operand {
	const void *p;
	size_t first;
};

struct cell;
/* Compute the next state of a batch entry from the sums of its gates: see struct
 * cell. */
typedef void step_fn(struct cell *r);

struct cell {
	const struct msd_kernel_call *c;
	step_fn *step;
	size_t gates;
	size_t hidden;
	size_t inputs;
	struct msd_activation f[3];
	double clip;            /* 0: none */
	struct msd_dtype dtype; /* dtype of all operands and the outputs */
	struct operand w;
	struct operand r;
	struct operand bias; /* for W, then for R */
	struct operand peepholes;
	double *x;      /* input of one step */
	double *x_sums; /* per gate: input weights times x, plus bias */
	double *h_sums; /* per gate: state weights times state, plus bias */
	double *state;
	double *kept; /* cell state of an LSTM */
};

static double gate(const struct cell *r, size_t g, size_t i)
{
	return r->x_sums[g * r->hidden + i] + r->h_sums[g * r->hidden + i];
}

static double clipped(const struct cell *r, double v)
{
	if (r->clip > 0)
		return v < -r->clip ? -r->clip : v > r->clip ? r->clip : v;
	return v;
}

static double at(const struct cell *r, const struct operand *o, size_t i)
{
	return msd_row_at(r->dtype, o->p, o->first + i);
}

static double bias_of(const struct cell *r, size_t row)
{
	return r->bias.p != NULL ? at(r, &r->bias, row) : 0;
}

/* Rows @first and on of weights times @x, in the order of gates.h. */
static void multiply(const struct cell *r, const struct operand *w, size_t first,
		     size_t rows, const double *x, size_t n, double *ret)
{
	const struct msd_gates gates = {
		.dtype = r->dtype,
		.weights = w->p,
		.first = w->first + first * n,
		.n = n,
		.x = x,
		.ret = ret,
	};

	msd_gates_multiply(&gates, rows);
}

static void add_up(struct cell *r, size_t x)
{
	const size_t rows = r->gates * r->hidden;

	msd_row_load(r->dtype, r->c->in[X], (int64_t)(x * r->inputs), 1, r->inputs,
		     r->x);
	multiply(r, &r->w, 0, rows, r->x, r->inputs, r->x_sums);
	multiply(r, &r->r, 0, rows, r->state, r->hidden, r->h_sums);
	for (size_t row = 0; row < rows; row++) {
		r->x_sums[row] += bias_of(r, row);
		r->h_sums[row] += bias_of(r, rows + row);
	}
}

static void step_rnn(struct cell *r)
{
	for (size_t i = 0; i < r->hidden; i++)
		r->state[i] = msd_activate(&r->f[0], clipped(r, gate(r, 0, i)));
}

static double peep(const struct cell *r, size_t g, size_t i)
{
	return r->peepholes.p != NULL
		       ? at(r, &r->peepholes, g * r->hidden + i) * r->kept[i]
		       : 0;
}

/* Gates: input, output, forget, cell; peepholes in the order of the first three. */
static void step_lstm(struct cell *r)
{
	const bool couples = msd_params_lstm(r->c->node).input_forget != 0;

	for (size_t i = 0; i < r->hidden; i++) {
		const double in = msd_activate(
			&r->f[0], clipped(r, gate(r, 0, i) + peep(r, 0, i)));
		const double forget = msd_activate(
			&r->f[0], clipped(r, gate(r, 2, i) + peep(r, 2, i)));
		const double next = msd_activate(&r->f[1], clipped(r, gate(r, 3, i)));

		r->kept[i] = (couples ? 1 - in : forget) * r->kept[i] + in * next;
		const double out = msd_activate(
			&r->f[0], clipped(r, gate(r, 1, i) + peep(r, 1, i)));
		r->state[i] = out * msd_activate(&r->f[2], r->kept[i]);
	}
}

/* Gates: update, reset, hidden. The state is read completely before it changes, so
 * the reset state is stored in the sums of the state's first gate. */
static void step_gru(struct cell *r)
{
	const bool is_linear = msd_params_gru(r->c->node).linear_before_reset != 0;
	const size_t n = r->hidden;
	const size_t rows = r->gates * n;
	double *update = r->x_sums;
	double *reset = r->h_sums;

	for (size_t i = 0; i < n; i++) {
		const double z = msd_activate(&r->f[0], clipped(r, gate(r, 0, i)));
		const double s = msd_activate(&r->f[0], clipped(r, gate(r, 1, i)));

		update[i] = z;
		reset[i] = is_linear ? s : s * r->state[i];
	}
	if (!is_linear) /* the sums of the state itself are not used */
		multiply(r, &r->r, 2 * n, n, reset, n, r->h_sums + 2 * n);
	for (size_t i = 0; i < n; i++) {
		const double from_state =
			is_linear ? reset[i] * r->h_sums[2 * n + i]
				  : r->h_sums[2 * n + i] + bias_of(r, rows + 2 * n + i);

		r->kept[i] = msd_activate(
			&r->f[1], clipped(r, r->x_sums[2 * n + i] + from_state));
	}
	for (size_t i = 0; i < n; i++)
		r->state[i] = (1 - update[i]) * r->kept[i] + update[i] * r->state[i];
}

/* Offsets of a direction and batch entry, according to the layout. */
struct place {
	size_t steps;
	size_t batch;
	size_t ways;
	bool is_batch_first;
};

static size_t x_at(const struct place *p, size_t t, size_t b)
{
	return p->is_batch_first ? b * p->steps + t : t * p->batch + b;
}

static size_t y_at(const struct place *p, size_t t, size_t way, size_t b)
{
	return p->is_batch_first ? (b * p->steps + t) * p->ways + way
				 : (t * p->ways + way) * p->batch + b;
}

static size_t state_at(const struct place *p, size_t way, size_t b)
{
	return p->is_batch_first ? b * p->ways + way : way * p->batch + b;
}

static void load_state(const struct cell *r, size_t input, size_t place, double *ret)
{
	if (msd_kernel_has(r->c, input)) {
		msd_row_load(r->dtype, r->c->in[input], (int64_t)(place * r->hidden), 1,
			     r->hidden, ret);
	} else {
		memset(ret, 0, r->hidden * sizeof(*ret));
	}
}

static void put_state(const struct cell *r, size_t output, size_t place,
		      const double *from)
{
	if (modser_sg_node_output(r->c->node, output) != NULL) {
		msd_row_store(r->dtype, r->c->out[output], place * r->hidden, r->hidden,
			      from);
	}
}

static size_t length_of(const struct cell *r, const struct place *p, size_t b)
{
	int64_t n = (int64_t)p->steps;

	if (msd_kernel_has(r->c, LENGTHS)) {
		n = msd_number_load(msd_kernel_in_dtype(r->c, LENGTHS),
				    r->c->in[LENGTHS], (int64_t)b)
			    .i;
	}
	return n < 0 ? 0 : (size_t)n > p->steps ? p->steps : (size_t)n;
}

/* Run one batch entry through the sequence. */
static void run_sequence(struct cell *r, const struct place *p, size_t way, size_t b,
			 bool is_backwards)
{
	const size_t n = length_of(r, p, b);
	const size_t place = state_at(p, way, b);

	load_state(r, STATE, place, r->state);
	load_state(r, CELL, place, r->kept);
	for (size_t k = 0; k < n; k++) {
		const size_t t = is_backwards ? n - 1 - k : k;

		add_up(r, x_at(p, t, b));
		r->step(r);
		put_state(r, 0, y_at(p, t, way, b), r->state);
	}
	put_state(r, 1, place, r->state);
	put_state(r, 2, place, r->kept);
	memset(r->state, 0, r->hidden * sizeof(*r->state));
	for (size_t t = n; t < p->steps; t++)
		put_state(r, 0, y_at(p, t, way, b), r->state);
}

static struct operand operand_of(const struct msd_kernel_call *c, size_t i,
				 size_t first)
{
	return (struct operand){msd_kernel_has(c, i) ? c->in[i] : NULL, first};
}

/* Prepare @r for direction @way: its activations and weights. */
static msd_err begin_way(struct cell *r, size_t way, const char *const defaults[3],
			 struct msd_diag *d)
{
	const size_t rows = r->gates * r->hidden;
	const struct msd_kernel_call *c = r->c;
	const struct msd_op_recurrent p = msd_op_recurrent_of(c->node);
	size_t n = 0;

	while (n < 3 && defaults[n] != NULL)
		n++;
	for (size_t i = 0; i < n; i++) {
		msd_err err =
			msd_activation_read(&p, way * n + i, defaults[i], &r->f[i], d);

		if (err != MSD_OK)
			return err;
	}
	r->w = operand_of(c, W, way * rows * r->inputs);
	r->r = operand_of(c, R, way * rows * r->hidden);
	r->bias = operand_of(c, B, way * 2 * rows);
	r->peepholes = operand_of(c, PEEPHOLES, way * 3 * r->hidden);
	return MSD_OK;
}

/* Doubles that a direction needs. */
static size_t memory_of(const struct cell *r)
{
	return (2 * MAX_GATES + 2) * r->hidden + r->inputs;
}

static void set_memory(struct cell *r, double *memory)
{
	r->x_sums = memory;
	r->h_sums = memory + MAX_GATES * r->hidden;
	r->state = r->h_sums + MAX_GATES * r->hidden;
	r->kept = r->state + r->hidden;
	r->x = r->kept + r->hidden;
}

enum { WAYS = 2 };

struct ways {
	struct cell cells[WAYS];
	struct place place;
	const char *direction;
};

/* One direction; the directions share only inputs. */
static void run_way(const void *ctx, size_t way)
{
	const struct ways *all = ctx;
	struct cell r = all->cells[way];
	const bool is_backwards = way == 1 || strcmp(all->direction, "reverse") == 0;

	for (size_t b = 0; b < all->place.batch; b++)
		run_sequence(&r, &all->place, way, b, is_backwards);
}

static msd_err run(const struct msd_kernel_call *c, struct cell *r,
		   const char *const defaults[3], struct msd_diag *d)
{
	const int64_t *x = msd_kernel_in_dims(c, X);
	const struct msd_op_recurrent p = msd_op_recurrent_of(c->node);
	const bool is_batch_first = p.layout != 0;
	struct ways all = {.direction = p.direction,
			   .place = {
				   .steps = (size_t)x[is_batch_first ? 1 : 0],
				   .batch = (size_t)x[is_batch_first ? 0 : 1],
				   .ways = (size_t)msd_kernel_in_dims(c, R)[0],
				   .is_batch_first = is_batch_first,
			   }};
	msd_err err = MSD_OK;

	r->c = c;
	r->hidden = (size_t)msd_kernel_in_dims(c, R)[2];
	r->inputs = (size_t)x[2];
	r->clip = p.has_clip ? (double)p.clip : 0;
	r->dtype = msd_kernel_in_dtype(c, X);
	double *memory = calloc(memory_of(r) + 1, WAYS * sizeof(*memory));
	if (memory == NULL)
		return msd_diag_no_memory(d);
	set_memory(r, memory);
	all.cells[0] = *r;
	for (size_t way = 0; err == MSD_OK && way < all.place.ways; way++) {
		err = begin_way(r, way, defaults, d);
		set_memory(r, memory + way * memory_of(r));
		all.cells[way] = *r;
	}
	if (err == MSD_OK) {
		msd_kernel_each(all.place.ways,
				all.place.steps * all.place.batch * r->hidden *
					(r->hidden + r->inputs),
				run_way, &all);
	}
	free(memory);
	return err;
}

static msd_err run_lstm(const struct msd_kernel_call *c, struct msd_diag *d)
{
	static const char *const defaults[3] = {"Sigmoid", "Tanh", "Tanh"};
	struct cell r = {.step = step_lstm, .gates = 4};

	return run(c, &r, defaults, d);
}

static msd_err run_gru(const struct msd_kernel_call *c, struct msd_diag *d)
{
	static const char *const defaults[3] = {"Sigmoid", "Tanh", NULL};
	struct cell r = {.step = step_gru, .gates = 3};

	return run(c, &r, defaults, d);
}

static msd_err run_rnn(const struct msd_kernel_call *c, struct msd_diag *d)
{
	static const char *const defaults[3] = {"Tanh", NULL, NULL};
	struct cell r = {.step = step_rnn, .gates = 1};

	return run(c, &r, defaults, d);
}

/* Sequence lengths are integers. */
const struct msd_kernel msd_kernel_lstm = {"LSTM", run_lstm, MSD_TAKES_FLOATS};
const struct msd_kernel msd_kernel_gru = {"GRU", run_gru, MSD_TAKES_FLOATS};
const struct msd_kernel msd_kernel_rnn = {"RNN", run_rnn, MSD_TAKES_FLOATS};
