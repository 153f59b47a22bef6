/* Information about a graph: inputs and outputs of a call, and its parameters. */
#include <stdlib.h>
#include <string.h>

#include "runtime/executor/graph/plan.h"
#include "runtime/module/model_signature.h"
#include "runtime/value/error.h"

static struct msd_model_tensor tensor_of(const struct msd_graph_entry *e,
					 const char *name)
{
	return (struct msd_model_tensor){
		.name = name, .dtype = e->dtype, .shape = e->shape, .ndim = e->ndim};
}

static const char *input_name(const struct msd_graph_plan *p, uint32_t entry)
{
	for (uint32_t i = 0; i < p->graph.n_args; i++) {
		const struct msd_graph_node *node = &p->graph.nodes[p->graph.args[i]];
		if (node->first_entry == entry)
			return node->name;
	}
	return "";
}

msd_err msd_graph_plan_signature(const struct msd_graph_plan *p,
				 struct msd_signature *ret, struct msd_diag *d)
{
	const size_t n = (size_t)p->n_inputs + p->graph.n_heads;
	struct msd_model_tensor *tensors = calloc(n + 1, sizeof(*tensors));
	const struct msd_model_io io = {tensors, p->n_inputs, tensors + p->n_inputs,
					p->graph.n_heads, 0};

	if (tensors == NULL)
		return msd_diag_no_memory(d);
	for (uint32_t i = 0; i < p->n_inputs; i++) {
		tensors[i] = tensor_of(&p->graph.entries[p->inputs[i]],
				       input_name(p, p->inputs[i]));
	}
	for (uint32_t i = 0; i < p->graph.n_heads; i++) {
		tensors[p->n_inputs + i] =
			tensor_of(&p->graph.entries[p->graph.heads[i]], NULL);
	}
	msd_err err = msd_model_signature("run", &io, ret, d);
	free(tensors);
	return err;
}

static const struct msd_graph_storage *storage_of(const struct msd_graph_plan *p,
						  uint32_t arg,
						  const struct msd_graph_entry **ret)
{
	const struct msd_graph *g = &p->graph;

	*ret = &g->entries[g->nodes[g->args[arg]].first_entry];
	return &p->storages[(*ret)->storage];
}

/* A tensor over a parameter's memory, which lives as long as the plan. */
static struct msd_tensor *param_tensor(const struct msd_graph_plan *p, uint32_t arg)
{
	const struct msd_graph_entry *e;
	const struct msd_graph_storage *s = storage_of(p, arg, &e);
	const struct msd_dev *dev = msd_graph_plan_dev(p, e->storage);
	const struct msd_device cpu = {MSD_DEV_CPU, 0};

	return msd_tensor_view(s->data, dev != NULL ? dev->device : cpu, e->dtype,
			       e->shape, e->ndim, s->own != NULL ? &s->own->obj : NULL,
			       NULL, NULL);
}

static struct msd_array *pair_of(const struct msd_graph_plan *p, uint32_t arg)
{
	const char *name = p->graph.nodes[p->graph.args[arg]].name;
	struct msd_array *pair = msd_array_new(2);
	struct msd_str *s = msd_str_new(name, strlen(name), MSD_T_STR);
	struct msd_tensor *t = param_tensor(p, arg);

	if (pair != NULL && s != NULL && t != NULL) {
		pair->items[0] = msd_of_obj(&s->obj);
		pair->items[1] = msd_of_obj(&t->obj);
		return pair;
	}
	msd_obj_unref(pair != NULL ? &pair->obj : NULL);
	msd_obj_unref(s != NULL ? &s->obj : NULL);
	msd_obj_unref(t != NULL ? &t->obj : NULL);
	return NULL;
}

static bool is_param(const struct msd_graph_plan *p, uint32_t arg)
{
	const struct msd_graph_entry *e;

	return storage_of(p, arg, &e)->role == MSD_GRAPH_PARAM;
}

int msd_graph_plan_list_params(const struct msd_graph_plan *p, struct msd_any *ret)
{
	struct msd_array *all;
	size_t n = 0;

	for (uint32_t i = 0; i < p->graph.n_args; i++)
		n += is_param(p, i);
	all = msd_array_new(n);
	n = 0;
	for (uint32_t i = 0; all != NULL && i < p->graph.n_args; i++) {
		if (!is_param(p, i))
			continue;
		struct msd_array *pair = pair_of(p, i);
		if (pair == NULL) {
			msd_obj_unref(&all->obj);
			all = NULL;
		} else {
			all->items[n++] = msd_of_obj(&pair->obj);
		}
	}
	if (all == NULL)
		return msd_abi_no_memory();
	*ret = msd_of_obj(&all->obj);
	return 0;
}
