/*
 * Depthwise convolutions and pools on padded planes. Outputs are computed as one
 * stretch over the ends of rows, with the padding between rows as waste, so that
 * vectors are full in small planes, too; then rows are copied out of it.
 */
#include "runtime/engine/native/level/level.h"
#include "runtime/engine/native/level/taps.h"

enum { STRETCH = 1024, PAIR = 2 * LANES };

/* A part of the outputs of one depth, and what happens to it. */
struct planes {
	const struct msd_native_window *w;
	const float *x; /* the first output's elements begin here */
	const float *weights;
	float start;
	const float *residual, *counts; /* NULL: none */
	const struct msd_native_finish *bounds;
	float *y;
	size_t room; /* vectors may write so much: later rows are copied later */
	float at[STRETCH + PAIR];
};

INLINE void put_pair(struct planes *p, size_t i, vec a, vec b)
{
	if (p->bounds != NULL && p->residual == NULL) {
		a = msd_bound(a, p->bounds);
		b = msd_bound(b, p->bounds);
	}
	store(p->at + i, a);
	store(p->at + i + LANES, b);
}

/* A window of nine: weights and places stay in registers. */
static void multiply_nine(struct planes *p, size_t from, size_t n)
{
	const float *x[9];
	vec weights[9];

#pragma GCC unroll 9
	for (size_t t = 0; t < 9; t++) {
		x[t] = p->x + from + p->w->taps[t];
		weights[t] = all(p->weights[t]);
	}
	for (size_t i = 0; i < n; i += PAIR) {
		vec a = all(p->start);
		vec b = a;

#pragma GCC unroll 9
		for (size_t t = 0; t < 9; t++) {
			a += weights[t] * load(x[t] + i);
			b += weights[t] * load(x[t] + i + LANES);
		}
		put_pair(p, i, a, b);
	}
}

static void multiply(struct planes *p, size_t from, size_t n)
{
	for (size_t i = 0; i < n; i += PAIR) {
		const float *x = p->x + from + i;
		vec a = all(p->start);
		vec b = a;

		for (size_t t = 0; t < p->w->n_taps; t++) {
			const vec weight = all(p->weights[t]);

			a += weight * load(x + p->w->taps[t]);
			b += weight * load(x + p->w->taps[t] + LANES);
		}
		put_pair(p, i, a, b);
	}
}

/* Elements that are not numbers lose, as in the reference engine. */
static void compare(struct planes *p, size_t from, size_t n)
{
	for (size_t i = 0; i < n; i += PAIR) {
		const float *x = p->x + from + i;
		vec a = all(-__FLT_MAX__);
		vec b = a;

		for (size_t t = 0; t < p->w->n_taps; t++) {
			a = most(a, load(x + p->w->taps[t]));
			b = most(b, load(x + p->w->taps[t] + LANES));
		}
		store(p->at + i, a);
		store(p->at + i + LANES, b);
	}
}

static void sum(struct planes *p, size_t from, size_t n)
{
	for (size_t i = 0; i < n; i += LANES) {
		const float *x = p->x + from + i;
		vec a = load(x + p->w->taps[0]);

		for (size_t t = 1; t < p->w->n_taps; t++)
			a += load(x + p->w->taps[t]);
		store(p->at + i, a);
	}
}

INLINE vec finish(const struct planes *p, vec v, size_t to, size_t n)
{
	if (p->counts != NULL)
		v = v / load_some(p->counts + to, n, 1);
	if (p->residual != NULL) {
		v += load_some(p->residual + to, n, 0);
		if (p->bounds != NULL)
			v = msd_bound(v, p->bounds);
	}
	return v;
}

/* @n elements of a row, to output @to. */
static void put(const struct planes *p, const float *from, size_t n, size_t to)
{
	for (size_t i = 0; i < n; i += LANES) {
		const size_t left = n - i < LANES ? n - i : LANES;
		vec v = load(from + i);

		if (p->counts != NULL || p->residual != NULL)
			v = finish(p, v, to + i, left);
		if (to + i + LANES <= p->room) {
			store(p->y + to + i, v);
		} else {
			store_some(p->y + to + i, v, left);
		}
	}
}

/* Places @from .. @from + @n - 1 of the stretch, without what lies between rows. */
static void put_rows(const struct planes *p, size_t from, size_t n)
{
	const size_t columns = p->w->columns;
	const size_t out = p->w->out[W];

	for (size_t row = from / columns; row * columns < from + n; row++) {
		const size_t first = row * columns > from ? row * columns : from;
		const size_t end =
			row * columns + out < from + n ? row * columns + out : from + n;

		if (first < end) {
			put(p, p->at + (first - from), end - first,
			    row * out + (first - row * columns));
		}
	}
}

enum kind { MULTIPLY, COMPARE, SUM };

static void run_stretches(struct planes *p, enum kind kind)
{
	const size_t all = (p->w->out[H] - 1) * p->w->columns + p->w->out[W];

	for (size_t from = 0; from < all; from += STRETCH) {
		const size_t n = all - from < STRETCH ? all - from : STRETCH;

		if (kind == SUM) {
			sum(p, from, n);
		} else if (kind == COMPARE) {
			compare(p, from, n);
		} else if (p->w->n_taps == 9) {
			multiply_nine(p, from, n);
		} else {
			multiply(p, from, n);
		}
		put_rows(p, from, n);
	}
}

/* Each depth of the output. @p has its parts of the first depth. */
static void run_slices(struct planes *p, const float *x, float *y, enum kind kind)
{
	const size_t plane = p->w->out[H] * p->w->out[W];

	for (size_t d = 0; d < p->w->out[D]; d++) {
		p->x = x + d * p->w->stride[D] * msd_slice(p->w);
		p->y = y + d * plane;
		p->room = (p->w->out[D] - d) * plane;
		run_stretches(p, kind);
		p->residual = p->residual != NULL ? p->residual + plane : NULL;
		p->counts = p->counts != NULL ? p->counts + plane : NULL;
	}
}

/* @x is one padded plane with room for two vectors behind it. */
void LEVEL(depthwise)(const struct msd_native_window *w, const float *x,
		      const float *weights, float start, const float *residual,
		      struct msd_native_finish finish, float *y)
{
	struct planes p;

	p.w = w;
	p.weights = weights;
	p.start = start;
	p.residual = residual;
	p.counts = NULL;
	p.bounds = finish.is_bounded ? &finish : NULL;
	run_slices(&p, x, y, MULTIPLY);
	if (finish.has_function) {
		LEVEL(unary)
		(finish.function, y, w->out[D] * w->out[H] * w->out[W], finish.a,
		 finish.b, y);
	}
}

void LEVEL(pool)(const struct msd_native_window *w, const float *x, const float *counts,
		 float *y)
{
	struct planes p;

	p.w = w;
	p.residual = NULL;
	p.counts = counts;
	p.bounds = NULL;
	run_slices(&p, x, y, counts != NULL ? SUM : COMPARE);
}
