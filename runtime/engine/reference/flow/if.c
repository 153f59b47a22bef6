/* If: runs one of two graphs on captured values. */
#include "runtime/plan/flow.h"

static msd_err run_if(const struct msd_flow_call *c, struct msd_diag *d)
{
	const size_t n_then = modser_graph_input_count(c->flow->graphs[0].graph);
	const size_t n_out = modser_sg_node_output_count(c->node);
	bool is_true;
	msd_err err = msd_flow_truth(&c->flow->in[0], &is_true, d);

	if (err != MSD_OK)
		return err;
	struct msd_flow_graph *g = &c->flow->graphs[is_true ? 0 : 1];
	err = msd_flow_enter(g, c->flow->in + 1 + (is_true ? 0 : n_then), d);
	for (size_t i = 0; err == MSD_OK && i < n_out; i++) {
		const struct msd_flow_value v = msd_flow_output(g, i);

		err = msd_flow_give(c, i, &v, d);
	}
	return err;
}

const struct msd_flow_kernel msd_flow_if = {"If", run_if};
