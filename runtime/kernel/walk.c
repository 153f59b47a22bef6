/*
 * A walk holds the element offset of the current row in each operand, and moves all of
 * them by the strides of the axis that advances. It allocates nothing and cannot fail.
 */
#include "runtime/kernel/walk.h"

#include <string.h>

void msd_walk_init(struct msd_walk *w, const int64_t *dims, size_t ndim)
{
	*w = (struct msd_walk){.ndim = ndim > 0 ? ndim : 1, .dims = {1}, .n_rows = 1};
	if (ndim > 0)
		memcpy(w->dims, dims, ndim * sizeof(*dims));
	for (size_t i = 0; i + 1 < w->ndim; i++)
		w->n_rows *= (size_t)w->dims[i];
	w->n = w->dims[w->ndim - 1];
}

void msd_walk_steps(const int64_t *dims, size_t ndim, int64_t *ret)
{
	int64_t step = 1;

	for (size_t i = ndim; i > 0; i--) {
		ret[i - 1] = step;
		step *= dims[i - 1];
	}
}

void msd_walk_stretch(struct msd_walk *w, const int64_t *dims, size_t ndim)
{
	int64_t own[MODSER_GRAPH_MAX_NDIM];
	int64_t steps[MODSER_GRAPH_MAX_NDIM] = {0};

	msd_walk_steps(dims, ndim, own);
	for (size_t i = 0; i < ndim; i++)
		steps[w->ndim - ndim + i] = dims[i] == 1 ? 0 : own[i];
	msd_walk_operand(w, steps, 0);
}

void msd_walk_operand(struct msd_walk *w, const int64_t *steps, int64_t from)
{
	memcpy(w->steps[w->n_operands], steps, w->ndim * sizeof(*steps));
	w->from[w->n_operands] = from;
	w->n_operands++;
}

static bool is_merged(const struct msd_walk *w, size_t axis, size_t next)
{
	if (w->dims[axis] == 1)
		return true;
	for (size_t k = 0; k < w->n_operands; k++) {
		if (w->steps[k][axis] != w->steps[k][next] * w->dims[next])
			return false;
	}
	return true;
}

/* Axes move to the end of the arrays, then to their start. */
void msd_walk_merge(struct msd_walk *w)
{
	size_t to = w->ndim - 1;

	for (size_t i = w->ndim - 1; i > 0; i--) {
		const bool is_one = w->dims[to] == 1;

		if (is_one || is_merged(w, i - 1, to)) {
			for (size_t k = 0; is_one && k < w->n_operands; k++)
				w->steps[k][to] = w->steps[k][i - 1];
			w->dims[to] *= w->dims[i - 1];
			continue;
		}
		to--;
		w->dims[to] = w->dims[i - 1];
		for (size_t k = 0; k < w->n_operands; k++)
			w->steps[k][to] = w->steps[k][i - 1];
	}
	w->ndim -= to;
	memmove(w->dims, w->dims + to, w->ndim * sizeof(*w->dims));
	for (size_t k = 0; k < w->n_operands; k++)
		memmove(w->steps[k], w->steps[k] + to, w->ndim * sizeof(*w->dims));
	w->n = w->dims[w->ndim - 1];
	w->n_rows = 1;
	for (size_t i = 0; i + 1 < w->ndim; i++)
		w->n_rows *= (size_t)w->dims[i];
}

void msd_walk_seek(struct msd_walk *w, size_t row)
{
	msd_walk_begin(w);
	w->row = row;
	for (size_t i = w->ndim - 1; row > 0 && i > 0; i--) {
		w->index[i - 1] = (int64_t)(row % (size_t)w->dims[i - 1]);
		row /= (size_t)w->dims[i - 1];
		for (size_t k = 0; k < w->n_operands; k++)
			w->at[k] += w->index[i - 1] * w->steps[k][i - 1];
	}
}

void msd_walk_begin(struct msd_walk *w)
{
	memset(w->index, 0, sizeof(w->index));
	memcpy(w->at, w->from, sizeof(w->at));
	w->row = 0;
}

/* Increment the last axis but one; an axis at its end wraps to 0 and carries. */
void msd_walk_next(struct msd_walk *w)
{
	w->row++;
	for (size_t i = w->ndim - 1; i > 0; i--) {
		w->index[i - 1]++;
		for (size_t k = 0; k < w->n_operands; k++)
			w->at[k] += w->steps[k][i - 1];
		if (w->index[i - 1] < w->dims[i - 1])
			return;
		for (size_t k = 0; k < w->n_operands; k++)
			w->at[k] -= w->steps[k][i - 1] * w->dims[i - 1];
		w->index[i - 1] = 0;
	}
}

int64_t msd_walk_step(const struct msd_walk *w, size_t operand)
{
	return w->steps[operand][w->ndim - 1];
}

int64_t msd_walk_place(const struct msd_walk *w, size_t operand, size_t i)
{
	int64_t at = 0;

	for (size_t k = w->ndim; k > 0; k--) {
		at += (int64_t)i % w->dims[k - 1] * w->steps[operand][k - 1];
		i /= (size_t)w->dims[k - 1];
	}
	return at;
}

/* Copy @n elements with a stride of @step; @size is a constant where it is inlined. */
static inline __attribute__((always_inline)) void
copy_apart(uint8_t *y, const uint8_t *x, int64_t step, int64_t n, size_t size)
{
	for (int64_t i = 0; i < n; i++)
		memcpy(y + (size_t)i * size, x + i * step * (int64_t)size, size);
}

static void copy_row(uint8_t *y, const uint8_t *x, int64_t step, int64_t n, size_t size)
{
	if (step == 1) {
		memcpy(y, x, (size_t)n * size);
	} else if (size == 1) {
		copy_apart(y, x, step, n, 1);
	} else if (size == 2) {
		copy_apart(y, x, step, n, 2);
	} else if (size == 4) {
		copy_apart(y, x, step, n, 4);
	} else if (size == 8) {
		copy_apart(y, x, step, n, 8);
	} else {
		copy_apart(y, x, step, n, size);
	}
}

enum { STREAMS = 16 }; /* the cache keeps a line of each */

/* @rows rows whose first elements are neighbours in @x: parts of all rows, so that a
 * line of @x is read once. */
static void copy_turned(uint8_t *y, const uint8_t *x, const struct msd_walk *w,
			int64_t rows, size_t size)
{
	const int64_t step = msd_walk_step(w, 0);

	for (int64_t k = 0; k < w->n; k += STREAMS) {
		const int64_t n = w->n - k < STREAMS ? w->n - k : STREAMS;

		for (int64_t r = 0; r < rows; r++) {
			copy_row(y + (r * w->n + k) * (int64_t)size,
				 x + (r + k * step) * (int64_t)size, step, n, size);
		}
	}
}

enum { QUAD = 4 };
typedef uint32_t quad __attribute__((vector_size(QUAD * sizeof(uint32_t))));

/* Rows of QUAD elements of 4 bytes become columns. */
static void turn_quad(uint8_t *y, size_t y_row, const uint8_t *x, int64_t x_row)
{
	quad in[QUAD];

	for (int64_t i = 0; i < QUAD; i++)
		memcpy(&in[i], x + i * x_row, sizeof(quad));
	const quad a = {in[0][0], in[1][0], in[0][1], in[1][1]};
	const quad b = {in[2][0], in[3][0], in[2][1], in[3][1]};
	const quad c = {in[0][2], in[1][2], in[0][3], in[1][3]};
	const quad d = {in[2][2], in[3][2], in[2][3], in[3][3]};
	const quad out[QUAD] = {{a[0], a[1], b[0], b[1]},
				{a[2], a[3], b[2], b[3]},
				{c[0], c[1], d[0], d[1]},
				{c[2], c[3], d[2], d[3]}};

	for (size_t i = 0; i < QUAD; i++)
		memcpy(y + i * y_row, &out[i], sizeof(quad));
}

/* As copy_turned(), with rows and elements of 4 bytes by QUAD. In line, it would keep
 * the compiler from unrolling the short rows there. */
__attribute__((noinline)) static void turn_quads(uint8_t *y, const uint8_t *x,
						 const struct msd_walk *w, int64_t rows)
{
	const int64_t size = sizeof(uint32_t);
	const int64_t x_row = msd_walk_step(w, 0) * size;
	const int64_t y_row = w->n * size;

	for (int64_t from = 0; from < w->n; from += STREAMS) {
		const int64_t to = w->n - from < STREAMS ? w->n : from + STREAMS;

		for (int64_t r = 0; r < rows; r += QUAD) {
			for (int64_t k = from; k < to; k += QUAD) {
				turn_quad(y + r * y_row + k * size, (size_t)y_row,
					  x + r * size + k * x_row, x_row);
			}
		}
	}
}

void msd_walk_copy(struct msd_walk *w, void *to, const void *from, size_t size)
{
	const int64_t step = msd_walk_step(w, 0);
	const size_t last = w->ndim - 1;
	const uint8_t *x = from;
	uint8_t *y = to;

	if (w->n == 0)
		return;
	if (step != 1 && last > 0 && w->steps[0][last - 1] == 1) {
		const int64_t rows = w->dims[last - 1];
		const bool has_quads = size == sizeof(uint32_t) && rows % QUAD == 0 &&
				       w->n % QUAD == 0;

		for (msd_walk_begin(w); w->row < w->n_rows;
		     msd_walk_seek(w, w->row + (size_t)rows)) {
			const uint8_t *row = x + w->at[0] * (int64_t)size;

			if (has_quads) {
				turn_quads(y, row, w, rows);
			} else {
				copy_turned(y, row, w, rows, size);
			}
			y += (size_t)(rows * w->n) * size;
		}
		return;
	}
	for (msd_walk_begin(w); w->row < w->n_rows; msd_walk_next(w)) {
		copy_row(y, x + w->at[0] * (int64_t)size, step, w->n, size);
		y += (size_t)w->n * size;
	}
}
