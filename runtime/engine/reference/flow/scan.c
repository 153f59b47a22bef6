/* Scan: runs a graph on each slice of its inputs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op/flow/params.h"
#include "runtime/kernel/kernel.h"
#include "runtime/plan/turns.h"

/* One tensor, and its slice of the current iteration. */
struct sliced {
	struct msd_flow_value all;
	struct msd_flow_value slice;
	size_t axis;
	bool is_reverse;
	uint8_t *p;
};

static msd_err sliced_init(struct sliced *s, const struct msd_flow_call *c, size_t i,
			   const struct msd_flow_value *all, struct msd_diag *d)
{
	const struct msd_params_scan p = msd_params_scan(c->node);
	const int64_t ndim = (int64_t)all->ndim;
	const int64_t axis = msd_ints_at(p.scan_input_axes, i, 0);

	if (!all->is_there || axis < -ndim || axis >= ndim) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "axis %" PRId64 " of %" PRId64,
				    axis, ndim);
	}
	*s = (struct sliced){.all = *all,
			     .slice = *all,
			     .axis = msd_kernel_axis(axis, all->ndim),
			     .is_reverse =
				     msd_ints_at(p.scan_input_directions, i, 0) != 0};
	const int64_t n = all->dims[s->axis];
	s->slice.ndim--;
	memmove(s->slice.dims + s->axis, s->slice.dims + s->axis + 1,
		(s->slice.ndim - s->axis) * sizeof(*s->slice.dims));
	s->slice.bytes = n > 0 ? all->bytes / (size_t)n : 0;
	s->p = malloc(s->slice.bytes + 1);
	s->slice.data = s->p;
	return s->p != NULL ? MSD_OK : msd_diag_no_memory(d);
}

/* Select the slice of iteration @turn. */
static void cut(struct sliced *s, int64_t turn)
{
	const size_t n = (size_t)s->all.dims[s->axis];
	const size_t at = s->is_reverse ? n - 1 - (size_t)turn : (size_t)turn;
	const size_t n_outer = msd_kernel_outer(s->all.dims, s->axis);
	const size_t row = n_outer > 0 ? s->slice.bytes / n_outer : 0;

	for (size_t o = 0; row > 0 && o < n_outer; o++) {
		memcpy(s->p + o * row,
		       (const uint8_t *)s->all.data + (o * n + at) * row, row);
	}
}

/* All must have the length of the first. */
static msd_err cut_all(struct sliced *list, size_t n, const struct msd_flow_call *c,
		       const struct msd_flow_value *in, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < n; i++) {
		err = sliced_init(&list[i], c, i, &in[i], d);
		if (err == MSD_OK &&
		    list[i].all.dims[list[i].axis] != list[0].all.dims[list[0].axis]) {
			err = msd_diag_set(d, MSD_BAD_ARGUMENT,
					   "what it scans is not equally long");
		}
	}
	return err;
}

static msd_err run_turns(struct msd_turns *t, struct sliced *list, size_t n,
			 struct msd_diag *d)
{
	const int64_t count = list[0].all.dims[list[0].axis];
	msd_err err = MSD_OK;

	for (size_t i = 0; i < n; i++) {
		t->in[t->n_states + i] = list[i].slice;
		if (count == 0) /* slices are empty */
			t->in[t->n_states + i].data = NULL;
	}
	for (int64_t turn = 0; err == MSD_OK && turn < count; turn++) {
		for (size_t i = 0; i < n; i++)
			cut(&list[i], turn);
		err = msd_turns_run(t, d);
	}
	return err == MSD_OK ? msd_turns_end(t, d) : err;
}

static msd_err give_all(const struct msd_turns *t, const struct msd_flow_call *c,
			struct msd_diag *d)
{
	const struct msd_params_scan p = msd_params_scan(c->node);
	msd_err err = msd_turns_give(t, c, d);

	for (size_t k = 0; err == MSD_OK && k < t->n_stacks; k++) {
		err = msd_turns_give_stack(
			t, c, k, msd_ints_at(p.scan_output_axes, k, 0),
			msd_ints_at(p.scan_output_directions, k, 0) != 0, d);
	}
	return err;
}

static msd_err run_scan(const struct msd_flow_call *c, struct msd_diag *d)
{
	const size_t n = (size_t)msd_params_scan(c->node).num_scan_inputs;
	struct sliced *list = calloc(n, sizeof(*list));
	struct msd_turns t;

	if (list == NULL)
		return msd_diag_no_memory(d);
	msd_err err = msd_turns_init(&t, c, 0, 0, d);
	if (err == MSD_OK)
		err = cut_all(list, n, c, t.in + t.n_states, d);
	if (err == MSD_OK)
		err = run_turns(&t, list, n, d);
	if (err == MSD_OK)
		err = give_all(&t, c, d);
	for (size_t i = 0; i < n; i++)
		free(list[i].p);
	free(list);
	msd_turns_finish(&t);
	return err;
}

const struct msd_flow_kernel msd_flow_scan = {"Scan", run_scan};
