#include "runtime/plan/stack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/bytes.h"
#include "runtime/kernel/kernel.h"

static bool is_like(const struct msd_flow_value *a, const struct msd_flow_value *b)
{
	return msd_dtype_eq(a->dtype, b->dtype) && a->ndim == b->ndim &&
	       memcmp(a->dims, b->dims, a->ndim * sizeof(*a->dims)) == 0;
}

static bool grow(struct msd_stack *s, size_t more)
{
	size_t need;

	if (!msd_add_size(s->n * s->like.bytes, more, &need) || need > SIZE_MAX / 4)
		return false;
	if (need <= s->room)
		return true;
	uint8_t *p = realloc(s->p, 2 * need);
	if (p == NULL)
		return false;
	s->p = p;
	s->room = 2 * need;
	return true;
}

msd_err msd_stack_push(struct msd_stack *s, const struct msd_flow_value *v,
		       struct msd_diag *d)
{
	if (s->n == 0) {
		s->like = *v;
		s->like.data = NULL;
	}
	if (!is_like(&s->like, v)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "its turns give outputs of different shapes");
	}
	if (!grow(s, v->bytes))
		return msd_diag_no_memory(d);
	if (v->bytes > 0)
		memcpy(s->p + s->n * v->bytes, v->data, v->bytes);
	s->n++;
	return MSD_OK;
}

msd_err msd_stack_give(const struct msd_stack *s, const struct msd_flow_call *c,
		       size_t i, const struct msd_flow_value *v, int64_t axis,
		       bool is_reverse, struct msd_diag *d)
{
	const int64_t ndim = (int64_t)v->ndim + 1;
	int64_t dims[MODSER_GRAPH_MAX_NDIM];

	if (modser_sg_node_output(c->node, i) == NULL)
		return MSD_OK;
	if (ndim > MODSER_GRAPH_MAX_NDIM || axis < -ndim || axis >= ndim) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "axis %" PRId64 " of %" PRId64,
				    axis, ndim);
	}
	const size_t at = msd_kernel_axis(axis, (size_t)ndim);
	for (size_t k = 0; k < (size_t)ndim; k++) {
		const int64_t own = k == at ? 0 : v->dims[k < at ? k : k - 1];

		dims[k] = own > 0 ? own : 0;
	}
	dims[at] = (int64_t)s->n;
	msd_err err = msd_flow_make(c, i, v->dtype, dims, (size_t)ndim, d);
	if (err != MSD_OK || s->n == 0 || v->bytes == 0)
		return err;
	const size_t n_outer = msd_kernel_outer(dims, at);
	const size_t row = v->bytes / n_outer;
	for (size_t k = 0; k < s->n; k++) {
		const size_t place = is_reverse ? s->n - 1 - k : k;

		for (size_t o = 0; o < n_outer; o++) {
			memcpy((uint8_t *)c->ret[i] + (o * s->n + place) * row,
			       s->p + k * v->bytes + o * row, row);
		}
	}
	return MSD_OK;
}

void msd_stack_finish(struct msd_stack *s)
{
	free(s->p);
	*s = (struct msd_stack){0};
}
