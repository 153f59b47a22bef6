/*
 * Happy path: the graphs of a node get plans together with its own graph. In a run
 * the operator's kernel passes values into them and copies their outputs into memory
 * that the outer plan then owns. A failure inside a graph is reported with the node's
 * name.
 */
#include "runtime/plan/flow.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/view.h"
#include "runtime/plan/allocator.h"
#include "runtime/plan/plan.h"

static const struct msd_flow_kernel *const kernels[] = {&msd_flow_if, &msd_flow_loop,
							&msd_flow_scan};

static const struct msd_flow_kernel *kernel_of(const modser_sg_node *node)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (strcmp(kernels[i]->op, modser_sg_op_name(node->op)) == 0)
			return kernels[i];
	}
	return NULL;
}

bool msd_flow_is(const modser_sg_node *node)
{
	return kernel_of(node) != NULL;
}

static msd_err graph_init(struct msd_flow_graph *f, modser_graph *g, struct msd_diag *d)
{
	f->graph = g;
	f->in = calloc(g->n_inputs + 1, sizeof(*f->in));
	if (f->in == NULL)
		return msd_diag_no_memory(d);
	return msd_plan_create_within(g, &f->plan, d);
}

static void destroy(struct msd_flow *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; i < MSD_FLOW_GRAPHS; i++) {
		msd_plan_destroy(f->graphs[i].plan);
		msd_sg_view_destroy(f->graphs[i].outline);
		free(f->graphs[i].in);
	}
	free(f->in);
	free(f);
}

static msd_err create(const modser_sg_node *node, struct msd_flow **ret,
		      struct msd_diag *d)
{
	struct msd_flow *f = calloc(1, sizeof(*f));
	msd_err err = MSD_OK;

	if (f == NULL)
		return msd_diag_no_memory(d);
	f->kernel = kernel_of(node);
	f->in = calloc(node->n_inputs + 3, sizeof(*f->in));
	if (f->in == NULL)
		err = msd_diag_no_memory(d);
	if (err == MSD_OK && msd_flow_check(node) != 0)
		err = msd_sg_error(node->graph, d);
	for (size_t i = 0; err == MSD_OK && i < MSD_FLOW_GRAPHS; i++) {
		modser_graph *g = msd_flow_graph(node, i);

		if (g != NULL)
			err = graph_init(&f->graphs[i], g, d);
	}
	if (err != MSD_OK) {
		destroy(f);
		return msd_diag_wrap(d, err, "node %zu \"%s\"", node->number,
				     node->name);
	}
	*ret = f;
	return MSD_OK;
}

msd_err msd_flows_create(const modser_graph *g, struct msd_flow ***ret,
			 struct msd_diag *d)
{
	struct msd_flow **flows = calloc(g->n_nodes + 1, sizeof(*flows));
	msd_err err = MSD_OK;

	*ret = flows;
	if (flows == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; err == MSD_OK && i < g->n_nodes; i++) {
		if (msd_flow_is(g->nodes[i]))
			err = create(g->nodes[i], &flows[i], d);
	}
	return err;
}

void msd_flows_destroy(struct msd_flow **flows, size_t n)
{
	for (size_t i = 0; flows != NULL && i < n; i++)
		destroy(flows[i]);
	free(flows);
}

struct msd_flow_value msd_flow_value_of(const modser_sg_tensor *t, const void *data)
{
	struct msd_flow_value v = {.dtype = t->dtype, .data = data, .is_there = true};
	uint64_t bytes = 0;

	v.ndim = t->ndim > 0 ? (size_t)t->ndim : 0;
	memcpy(v.dims, t->dims, v.ndim * sizeof(*v.dims));
	if (msd_sg_tensor_bytes(t, &bytes)) /* false: its shape is not known */
		v.bytes = (size_t)bytes;
	return v;
}

struct msd_flow_value msd_flow_scalar(struct msd_dtype dtype, const void *data)
{
	return (struct msd_flow_value){.dtype = dtype,
				       .bytes = dtype.bits / 8u,
				       .data = data,
				       .is_there = true};
}

static msd_err set_tensor(modser_sg_tensor *t, struct msd_dtype dtype,
			  const int64_t *dims, size_t ndim, struct msd_diag *d)
{
	msd_sg_tensor_take_dtype(t, dtype);
	if (modser_sg_tensor_set_dims(t, dims, ndim) != 0)
		return msd_sg_error(t->graph, d);
	return MSD_OK;
}

msd_err msd_flow_check_inputs(const struct msd_flow_graph *g,
			      const struct msd_flow_value *in, struct msd_diag *d)
{
	for (size_t i = 0; i < g->graph->n_inputs; i++) {
		if (!in[i].is_there) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "\"%s\" of its graph is left out",
					    g->graph->inputs[i]->name);
		}
	}
	return MSD_OK;
}

msd_err msd_flow_enter(struct msd_flow_graph *g, const struct msd_flow_value *in,
		       struct msd_diag *d)
{
	const msd_err err = msd_flow_check_inputs(g, in, d);

	if (err != MSD_OK)
		return err;
	for (size_t i = 0; i < g->graph->n_inputs; i++) {
		g->in[i] = (struct msd_plan_input){in[i].data, in[i].dims, in[i].ndim,
						   in[i].dtype};
	}
	return msd_plan_call(g->plan, &(struct msd_plan_args){.inputs = g->in}, d);
}

struct msd_flow_value msd_flow_output(const struct msd_flow_graph *g, size_t i)
{
	return msd_flow_value_of(msd_plan_output_tensor(g->plan, i),
				 msd_plan_output(g->plan, i));
}

msd_err msd_flow_make(const struct msd_flow_call *c, size_t i, struct msd_dtype dtype,
		      const int64_t *dims, size_t ndim, struct msd_diag *d)
{
	modser_sg_tensor *t = c->node->outputs[i];
	msd_err err = set_tensor(t, dtype, dims, ndim, d);
	uint64_t bytes;

	if (err != MSD_OK)
		return err;
	if (!msd_sg_tensor_bytes(t, &bytes) || bytes > SIZE_MAX / 2)
		return msd_diag_set(d, MSD_TOO_LARGE, "\"%s\" is too large", t->name);
	c->ret[i] = c->allocator->allocate(c->allocator, (size_t)bytes);
	return c->ret[i] != NULL ? MSD_OK : msd_diag_no_memory(d);
}

msd_err msd_flow_give(const struct msd_flow_call *c, size_t i,
		      const struct msd_flow_value *v, struct msd_diag *d)
{
	if (c->node->outputs[i] == NULL) /* the output is not requested */
		return MSD_OK;
	const msd_err err = msd_flow_make(c, i, v->dtype, v->dims, v->ndim, d);
	if (err == MSD_OK && v->bytes > 0)
		memcpy(c->ret[i], v->data, v->bytes);
	return err;
}

msd_err msd_flow_truth(const struct msd_flow_value *v, bool *ret, struct msd_diag *d)
{
	if (v->dtype.code != MSD_DT_BOOL || v->bytes != 1) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "a condition is not one bool");
	}
	*ret = *(const uint8_t *)v->data != 0;
	return MSD_OK;
}
