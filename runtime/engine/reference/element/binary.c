/* Elementwise operators on two or more tensors, broadcast as in numpy. */
#include <math.h>
#include <string.h>

#include "graph/op/element/params.h"
#include "runtime/engine/reference/ranges.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/kernel/walk.h"

typedef void floats_fn(double *a, const double *b, size_t n); /* into @a */
typedef int64_t int_fn(int64_t a, int64_t b);                 /* wraps on overflow */

static double f_add(double a, double b)
{
	return a + b;
}

static int64_t i_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static double f_sub(double a, double b)
{
	return a - b;
}

static int64_t i_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static double f_mul(double a, double b)
{
	return a * b;
}

static int64_t i_mul(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

static double f_div(double a, double b)
{
	return a / b;
}

/* Rounds towards 0; division by 0 yields 0 because integers have no better result. */
static int64_t i_div(int64_t a, int64_t b)
{
	if (b == -1)
		return (int64_t) - (uint64_t)a;
	return b == 0 ? 0 : a / b;
}

static int64_t u_div(int64_t a, int64_t b)
{
	return b == 0 ? 0 : (int64_t)((uint64_t)a / (uint64_t)b);
}

static int64_t i_pow(int64_t a, int64_t b)
{
	uint64_t base = (uint64_t)a;
	uint64_t y = 1;

	if (b < 0)
		return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
	for (uint64_t left = (uint64_t)b; left > 0; left >>= 1) {
		y = (left & 1) != 0 ? y * base : y;
		base *= base;
	}
	return (int64_t)y;
}

/* NaN if one operand is NaN, as in numpy. */
static double f_max(double a, double b)
{
	return a > b || isnan(a) ? a : b;
}

static int64_t i_max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t u_max(int64_t a, int64_t b)
{
	return (uint64_t)a > (uint64_t)b ? a : b;
}

static double f_min(double a, double b)
{
	return a < b || isnan(a) ? a : b;
}

static int64_t i_min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t u_min(int64_t a, int64_t b)
{
	return (uint64_t)a < (uint64_t)b ? a : b;
}

static double f_squared(double a, double b)
{
	return (a - b) * (a - b);
}

static int64_t i_squared(int64_t a, int64_t b)
{
	return i_mul(i_sub(a, b), i_sub(a, b));
}

static double f_slope(double a, double slope)
{
	return a < 0 ? a * slope : a;
}

static int64_t i_slope(int64_t a, int64_t slope)
{
	return a < 0 ? i_mul(a, slope) : a;
}

/* Remainder with the sign of the divisor or (fmod) of the dividend; division by 0
 * yields 0. */
static double f_mod(double a, double b)
{
	const double rest = fmod(a, b);

	return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t i_fmod(int64_t a, int64_t b)
{
	return b == 0 || b == -1 ? 0 : a % b;
}

static int64_t i_mod(int64_t a, int64_t b)
{
	const int64_t rest = i_fmod(a, b);

	return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t u_mod(int64_t a, int64_t b)
{
	return b == 0 ? 0 : (int64_t)((uint64_t)a % (uint64_t)b);
}

static int64_t i_and(int64_t a, int64_t b)
{
	return a & b;
}

static int64_t i_or(int64_t a, int64_t b)
{
	return a | b;
}

static int64_t i_xor(int64_t a, int64_t b)
{
	return a ^ b;
}

static int64_t i_left(int64_t a, int64_t b)
{
	return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b);
}

/* A sign fills the places that become free, all of them if @b is out of range. */
static int64_t i_right(int64_t a, int64_t b)
{
	return a >> (b < 0 || b > 63 ? 63 : b);
}

static int64_t u_right(int64_t a, int64_t b)
{
	return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a >> b);
}

static double f_pow(double a, double b)
{
	return pow(a, b);
}

static double f_fmod(double a, double b)
{
	return fmod(a, b);
}

static double f_square(double a, double b)
{
	(void)b;
	return a * a;
}

/* The loop contains the function, so that the compiler can vectorise it. */
#define FLOATS(name)                                                                   \
	static void r_##name(double *a, const double *b, size_t n)                     \
	{                                                                              \
		for (size_t i = 0; i < n; i++)                                         \
			a[i] = f_##name(a[i], b[i]);                                   \
	}
FLOATS(add)
FLOATS(sub)
FLOATS(mul)
FLOATS(div)
FLOATS(pow)
FLOATS(max)
FLOATS(min)
FLOATS(squared)
FLOATS(slope)
FLOATS(mod)
FLOATS(fmod)
FLOATS(square)

static const struct row {
	const char *op;
	floats_fn *f;
	int_fn *i;
	int_fn *u; /* for uint64, if different */
} rows[] = {
	{"Add", r_add, i_add, i_add},
	{"Sub", r_sub, i_sub, i_sub},
	{"Mul", r_mul, i_mul, i_mul},
	{"Div", r_div, i_div, u_div},
	{"Pow", r_pow, i_pow, i_pow},
	{"Maximum", r_max, i_max, u_max},
	{"Minimum", r_min, i_min, u_min},
	{"Addn", r_add, i_add, i_add},
	{"Mean", r_add, i_add, i_add},
	{"SquaredDifference", r_squared, i_squared, i_squared},
	{"PReLU", r_slope, i_slope, i_slope},
	{"Mod", r_mod, i_mod, u_mod},
	{"Fmod", r_fmod, i_fmod, u_mod},
	{"And", NULL, i_and, i_and},
	{"Or", NULL, i_or, i_or},
	{"Xor", NULL, i_xor, i_xor},
	{"Left", NULL, i_left, i_left},
	{"Right", NULL, i_right, u_right},
};

/* A parameter selects the function of an operator that has several. */
static const char *name_of(const struct msd_kernel_call *c)
{
	static const char *const bitwise[] = {"And", "Or", "Xor", "Left", "Right"};
	const char *op = modser_sg_op_name(modser_sg_node_op(c->node));

	if (strcmp(op, "Bitwise") == 0)
		return bitwise[msd_params_bitwise(c->node).type];
	if (strcmp(op, "Mod") == 0 && msd_params_mod(c->node).fmod != 0)
		return "Fmod";
	return op;
}

static const struct row *row_of(const struct msd_kernel_call *c)
{
	const char *name = name_of(c);
	size_t i = 0;

	while (strcmp(rows[i].op, name) != 0)
		i++;
	return &rows[i];
}

/* A tensor operand of a walk. */
struct side {
	const void *p;
	struct msd_dtype dtype;
};

struct pair {
	struct side a;
	struct side b;
	void *out; /* with a's dtype */
	floats_fn *f;
	int_fn *i; /* NULL: floats */
	struct msd_walk walk;
};

static void run_block(const struct pair *p, const int64_t *at, size_t n, size_t to)
{
	const int64_t step_a = msd_walk_step(&p->walk, 0);
	const int64_t step_b = msd_walk_step(&p->walk, 1);
	double a[MSD_ROW_BLOCK];
	double b[MSD_ROW_BLOCK];
	int64_t ia[MSD_ROW_BLOCK];
	int64_t ib[MSD_ROW_BLOCK];

	if (p->i == NULL) {
		msd_row_load(p->a.dtype, p->a.p, at[0], step_a, n, a);
		msd_row_load(p->b.dtype, p->b.p, at[1], step_b, n, b);
		p->f(a, b, n);
		msd_row_store(p->a.dtype, p->out, to, n, a);
		return;
	}
	msd_row_load_whole(p->a.dtype, p->a.p, at[0], step_a, n, ia);
	msd_row_load_whole(p->b.dtype, p->b.p, at[1], step_b, n, ib);
	for (size_t k = 0; k < n; k++)
		ia[k] = p->i(ia[k], ib[k]);
	msd_row_store_whole(p->a.dtype, p->out, to, n, ia);
}

static void run_range(const void *ctx, size_t first, size_t count)
{
	const struct pair *p = ctx;
	struct msd_walk w = p->walk;
	const size_t row = (size_t)w.n;
	size_t k = first % row;

	for (msd_walk_seek(&w, first / row); count > 0; msd_walk_next(&w), k = 0) {
		for (size_t n; count > 0 && k < row; k += n, first += n, count -= n) {
			n = row - k < count ? row - k : count;
			n = n < MSD_ROW_BLOCK ? n : MSD_ROW_BLOCK;
			const int64_t at[] = {
				w.at[0] + (int64_t)k * msd_walk_step(&w, 0),
				w.at[1] + (int64_t)k * msd_walk_step(&w, 1)};

			run_block(p, at, n, first);
		}
	}
}

enum { COST_NS = 2 };

/*
 * Floats are computed as double, integers as such. If one operand is a float, both are
 * computed as floats; the result is an integer if the first operand is one. The walk
 * of @p has its operands.
 */
static void run_walk(const struct msd_kernel_call *c, struct pair *p)
{
	const struct row *row = row_of(c);
	const enum msd_number_kind kind = msd_number_kind(p->a.dtype);
	const bool has_float =
		kind == MSD_N_FLOAT || msd_number_kind(p->b.dtype) == MSD_N_FLOAT;
	const size_t n = msd_kernel_out_elements(c, 0);

	if (n == 0)
		return;
	p->out = c->out[0];
	p->f = row->f;
	if (!has_float)
		p->i = kind == MSD_N_UINT64 ? row->u : row->i;
	/* The square of such an element is an exact double; pow() returns it, too. */
	if (row->f == r_pow && kind == MSD_N_FLOAT && p->a.dtype.bits <= 32 &&
	    msd_kernel_in_elements(c, 1) == 1 && msd_row_at(p->b.dtype, p->b.p, 0) == 2)
		p->f = r_square;
	msd_walk_merge(&p->walk);
	msd_ranges_each(n, COST_NS, run_range, p);
}

/* @a has the given extents; the other operand is input @i. */
static void run_pair(const struct msd_kernel_call *c, struct side a,
		     const int64_t *a_dims, size_t a_ndim, size_t i)
{
	struct pair p = {.a = a, .b = {c->in[i], msd_kernel_in_dtype(c, i)}};

	msd_walk_init(&p.walk, msd_kernel_out_dims(c, 0), msd_kernel_out_ndim(c, 0));
	msd_walk_stretch(&p.walk, a_dims, a_ndim);
	msd_walk_stretch(&p.walk, msd_kernel_in_dims(c, i), msd_kernel_in_ndim(c, i));
	run_walk(c, &p);
}

static msd_err run_two(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct side a = {c->in[0], msd_kernel_in_dtype(c, 0)};

	(void)d;
	run_pair(c, a, msd_kernel_in_dims(c, 0), msd_kernel_in_ndim(c, 0), 1);
	return MSD_OK;
}

/* Broadcast the first input into the output, then combine the other inputs with it. */
static msd_err run_many(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct side y = {c->out[0], msd_kernel_out_dtype(c, 0)};
	struct msd_walk w;

	(void)d;
	msd_walk_init(&w, msd_kernel_out_dims(c, 0), msd_kernel_out_ndim(c, 0));
	msd_walk_stretch(&w, msd_kernel_in_dims(c, 0), msd_kernel_in_ndim(c, 0));
	msd_walk_copy(&w, c->out[0], c->in[0], msd_kernel_size(c));
	for (size_t i = 1; i < modser_sg_node_input_count(c->node); i++) {
		run_pair(c, y, msd_kernel_out_dims(c, 0), msd_kernel_out_ndim(c, 0), i);
	}
	return MSD_OK;
}

static msd_err run_mean(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_dtype dtype = msd_kernel_out_dtype(c, 0);
	const size_t n_inputs = modser_sg_node_input_count(c->node);
	const size_t n = msd_kernel_out_elements(c, 0);
	double sums[MSD_ROW_BLOCK];

	(void)run_many(c, d); /* cannot fail */
	for (size_t at = 0; at < n; at += MSD_ROW_BLOCK) {
		const size_t left = n - at < MSD_ROW_BLOCK ? n - at : MSD_ROW_BLOCK;

		msd_row_load(dtype, c->out[0], (int64_t)at, 1, left, sums);
		for (size_t i = 0; i < left; i++)
			sums[i] /= (double)n_inputs;
		msd_row_store(dtype, c->out[0], at, left, sums);
	}
	return MSD_OK;
}

/* One slope per channel, or one for all; else broadcast as in numpy. */
static msd_err run_prelu(const struct msd_kernel_call *c, struct msd_diag *d)
{
	struct pair p = {.a = {c->in[0], msd_kernel_in_dtype(c, 0)},
			 .b = {c->in[1], msd_kernel_in_dtype(c, 1)}};
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	int64_t steps[MODSER_GRAPH_MAX_NDIM] = {0};

	if (msd_params_prelu(c->node).broadcasts != 0)
		return run_two(c, d);
	msd_walk_init(&p.walk, msd_kernel_out_dims(c, 0), ndim);
	msd_walk_stretch(&p.walk, msd_kernel_in_dims(c, 0), ndim);
	steps[1] = msd_kernel_in_elements(c, 1) > 1;
	msd_walk_operand(&p.walk, steps, 0);
	run_walk(c, &p);
	return MSD_OK;
}

#define BINARY(id, op, run, takes)                                                     \
	const struct msd_kernel msd_kernel_##id = {op, run, takes}
BINARY(add, "Add", run_two, MSD_TAKES_NUMBERS);
BINARY(sub, "Sub", run_two, MSD_TAKES_NUMBERS);
BINARY(mul, "Mul", run_two, MSD_TAKES_NUMBERS);
BINARY(div, "Div", run_two, MSD_TAKES_NUMBERS);
BINARY(pow, "Pow", run_two, MSD_TAKES_NUMBERS);
BINARY(squared_difference, "SquaredDifference", run_two, MSD_TAKES_NUMBERS);
BINARY(maximum, "Maximum", run_many, MSD_TAKES_NUMBERS);
BINARY(minimum, "Minimum", run_many, MSD_TAKES_NUMBERS);
BINARY(addn, "Addn", run_many, MSD_TAKES_NUMBERS);
BINARY(mean, "Mean", run_mean, MSD_TAKES_FLOATS);
BINARY(prelu, "PReLU", run_prelu, MSD_TAKES_NUMBERS);
BINARY(mod, "Mod", run_two, MSD_TAKES_NUMBERS);
BINARY(bitwise, "Bitwise", run_two, MSD_TAKES_NUMBERS);
