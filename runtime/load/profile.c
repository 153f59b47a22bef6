/* The plan of a framework's model, and the times of its nodes in one call. */
#include <stdlib.h>

#include "runtime/load/state.h"
#include "runtime/plan/clock.h"
#include "runtime/plan/describe.h"
#include "runtime/plan/timed.h"

enum { COLUMNS = 4 }; /* runs, ns, begin_ns, reorder_ns */

/* NULL with the error: it is not a framework's model. */
static struct msd_plan *find_plan(struct msd_loaded *m, struct msd_diag *d)
{
	struct msd_node *root = msd_loaded_root(m);

	if (root->ops->plan != NULL)
		return root->ops->plan(root);
	(void)msd_diag_set(d, MSD_UNSUPPORTED,
			   "it has no plan: only models of frameworks (ONNX, tflite, "
			   "...) are planned here, not libraries");
	return NULL;
}

msd_err msd_loaded_plan(struct msd_loaded *m, uint64_t from, struct msd_buf *out,
			struct msd_diag *d)
{
	struct msd_plan *plan = find_plan(m, d);

	return plan != NULL ? msd_plan_put_page(plan, from, out, d) : MSD_UNSUPPORTED;
}

msd_err msd_loaded_profile_start(struct msd_loaded *m, struct msd_diag *d)
{
	struct msd_plan *plan = find_plan(m, d);

	return plan != NULL ? msd_plan_clock_start(plan, d) : MSD_UNSUPPORTED;
}

/* A row for each node, then one for the call. */
static msd_err make_times(const struct msd_clock *c, uint64_t call_ns,
			  struct msd_any *ret, struct msd_diag *d)
{
	const struct msd_dtype i64 = {MSD_DT_INT, 64, 1};
	const int64_t shape[] = {(int64_t)c->n + 1, COLUMNS};
	struct msd_tensor *t = msd_tensor_new(i64, shape, 2);

	if (t == NULL)
		return msd_diag_no_memory(d);
	int64_t *at = t->dl.data;
	for (size_t i = 0; i < c->n; i++) {
		*at++ = c->rows[i].runs;
		*at++ = c->rows[i].ns;
		*at++ = c->rows[i].begin_ns;
		*at++ = c->rows[i].reorder_ns;
	}
	*at++ = 1;
	*at++ = (int64_t)call_ns;
	*at++ = 0;
	*at++ = 0;
	*ret = msd_of_obj(&t->obj);
	return MSD_OK;
}

static struct msd_clock *stop(struct msd_loaded *m)
{
	struct msd_node *root = msd_loaded_root(m);

	return root->ops->plan != NULL ? msd_plan_clock_stop(root->ops->plan(root))
				       : NULL;
}

msd_err msd_loaded_profile_stop(struct msd_loaded *m, uint64_t call_ns,
				struct msd_any *ret, struct msd_diag *d)
{
	struct msd_clock *c = stop(m);
	const msd_err err =
		c != NULL ? make_times(c, call_ns, ret, d) : msd_diag_no_memory(d);

	free(c);
	return err;
}

void msd_loaded_profile_drop(struct msd_loaded *m)
{
	free(stop(m));
}
