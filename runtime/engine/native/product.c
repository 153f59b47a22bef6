#include "runtime/engine/native/product.h"

#include "runtime/engine/native/work.h"
#include "runtime/kernel/walk.h"

enum { COLUMNS = 192 }; /* A part has so many, if there are several threads. */

static void run_parts(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct msd_native_stack *s = ctx;
	float *scratch = s->scratch + thread * *s->k->product_scratch;

	for (size_t i = first; i < end; i++) {
		const size_t n0 = i % s->n_parts * s->n_step;
		const size_t m0 = i / s->n_parts % s->m_parts * s->m_step;
		const size_t stack = i / s->n_parts / s->m_parts;
		struct msd_native_product p = s->p;

		if (s->places != NULL) {
			p.a += (size_t)msd_walk_place(s->places, 0, stack) * s->a_size;
			p.b += (size_t)msd_walk_place(s->places, 1, stack) * s->b_size;
			p.y += (size_t)msd_walk_place(s->places, 2, stack) * s->y_size;
		}
		const size_t m1 = p.m - m0 < s->m_step ? p.m : m0 + s->m_step;
		const size_t n1 = p.n - n0 < s->n_step ? p.n : n0 + s->n_step;
		s->k->product(&p, m0, m1, n0, n1, scratch);
	}
}

msd_err msd_native_stack_run(struct msd_native_stack *s, size_t n_stacks,
			     struct msd_diag *d)
{
	const size_t rows = s->k->rows;
	const size_t threads = msd_native_threads();

	if (n_stacks == 0 || s->p.m == 0 || s->p.n == 0)
		return MSD_OK;
	s->p.bring = s->k->bring_matrix;
	s->n_step = threads > 1 ? COLUMNS : (s->p.n + COLUMNS - 1) / COLUMNS * COLUMNS;
	s->n_parts = (s->p.n + s->n_step - 1) / s->n_step;
	s->m_step = (s->p.m + rows - 1) / rows * rows;
	if (threads > 1 && n_stacks * s->n_parts < threads * 2) {
		const size_t tiles = (s->p.m + rows - 1) / rows;
		const size_t parts = tiles < threads * 2 ? tiles : threads * 2;

		s->m_step = (tiles + parts - 1) / parts * rows;
	}
	s->m_parts = (s->p.m + s->m_step - 1) / s->m_step;
	s->scratch = msd_native_scratch_take(threads * *s->k->product_scratch);
	if (s->scratch == NULL)
		return msd_diag_no_memory(d);
	const double columns = s->p.n < s->n_step ? (double)s->p.n : (double)s->n_step;
	const double height = s->p.m < s->m_step ? (double)s->p.m : (double)s->m_step;
	msd_native_each(n_stacks * s->n_parts * s->m_parts,
			height * columns * (double)s->p.k / 32, run_parts, s);
	msd_native_scratch_give(s->scratch);
	return MSD_OK;
}
