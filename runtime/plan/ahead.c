#include "runtime/plan/ahead.h"

#include "graph/ir/graph.h"
#include "graph/ir/view.h"
#include "runtime/engine/engine.h"
#include "runtime/plan/outline_flow.h"
#include "runtime/plan/parts.h"

/* For unknown extents but the first: of sequences, then of images, which are too small
 * for their kernels otherwise. */
static const int64_t likely[] = {1, 224};

static bool set_inputs(modser_graph *view, int64_t extent)
{
	for (size_t i = 0; i < view->n_inputs; i++) {
		modser_sg_tensor *t = view->inputs[i];
		int64_t dims[MODSER_GRAPH_MAX_NDIM];

		if (t->ndim < 0)
			continue;
		for (int k = 0; k < t->ndim; k++) {
			dims[k] = t->dims[k] >= 0 ? t->dims[k] : k == 0 ? 1 : extent;
		}
		if (modser_sg_tensor_set_dims(t, dims, (size_t)t->ndim) != 0)
			return false;
	}
	return true;
}

/* False: nodes are left. */
static bool pack_all(struct msd_graph_program *p, const modser_graph *view)
{
	bool is_done = true;

	for (size_t i = 0; i < view->n_nodes; i++) {
		const modser_sg_node *node = view->nodes[p->order[i]];

		if (msd_sg_node_is_given(node) || p->flows[node->index] != NULL)
			continue;
		if (msd_outline_is_shaped(node)) {
			msd_claim_pack(&p->claims[node->index], node);
		} else {
			is_done = false;
		}
	}
	return is_done;
}

void msd_plan_pack(struct msd_plan *plan)
{
	struct msd_graph_program *p = &plan->program;
	bool is_done = plan->mode == MSD_PLAN_STATIC || p->is_within;

	for (size_t i = 0; !is_done && i < sizeof(likely) / sizeof(*likely); i++) {
		modser_graph *view = msd_sg_view_create(p->g);
		struct msd_diag d = {0};

		if (view != NULL && set_inputs(view, likely[i]) &&
		    msd_outline_graph(view, &d) == MSD_OK)
			is_done = pack_all(p, view);
		msd_sg_view_destroy(view);
		msd_diag_finish(&d);
	}
}
