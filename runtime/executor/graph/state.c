#include "runtime/executor/graph/state.h"

#include <stdlib.h>

#include "runtime/executor/executor.h"
#include "runtime/executor/graph/run.h"

struct state {
	struct msd_executor base; /* first member */
	const struct msd_graph_plan *plan;
	struct msd_graph_instance *graph;
};

static const struct state *peek(const struct msd_executor *x)
{
	return (const struct state *)x;
}

static const struct msd_graph_node *arg_node(const struct msd_executor *x, uint32_t i)
{
	const struct msd_graph *g = &peek(x)->plan->graph;

	return &g->nodes[g->args[i]];
}

static uint32_t arg_entry(const struct msd_executor *x, uint32_t i)
{
	return arg_node(x, i)->first_entry;
}

static struct msd_model_tensor tensor_of(const struct msd_graph_plan *p, uint32_t entry,
					 const char *name)
{
	const struct msd_graph_entry *e = &p->graph.entries[entry];

	return (struct msd_model_tensor){
		.name = name, .dtype = e->dtype, .shape = e->shape, .ndim = e->ndim};
}

static struct msd_model_tensor input(const struct msd_executor *x, uint32_t i)
{
	return tensor_of(peek(x)->plan, arg_entry(x, i), arg_node(x, i)->name);
}

/* An output without a name gets its node's name. */
static struct msd_model_tensor output(const struct msd_executor *x, uint32_t i)
{
	const struct msd_graph *g = &peek(x)->plan->graph;
	const char *name = NULL;

	for (uint32_t k = 0; name == NULL && k < g->n_nodes; k++) {
		if (g->nodes[k].first_entry == g->heads[i] &&
		    g->nodes[k].n_entries == 1)
			name = g->nodes[k].name;
	}
	return tensor_of(peek(x)->plan, g->heads[i], name);
}

static bool is_param(const struct msd_executor *x, uint32_t i)
{
	const struct msd_graph_plan *p = peek(x)->plan;
	const uint32_t storage = p->graph.entries[arg_entry(x, i)].storage;

	return p->storages[storage].role == MSD_GRAPH_PARAM;
}

static int set(struct msd_executor *x, uint32_t i, const struct msd_dltensor *t)
{
	return msd_graph_instance_set(peek(x)->graph, arg_entry(x, i), t);
}

static bool share(struct msd_executor *x, uint32_t i, const struct msd_dltensor *t)
{
	return msd_graph_instance_share(peek(x)->graph, arg_entry(x, i), t);
}

static int run(struct msd_executor *x)
{
	return msd_graph_instance_execute(peek(x)->graph);
}

static int get_input(struct msd_executor *x, uint32_t i, struct msd_any *ret)
{
	return msd_graph_instance_get(peek(x)->graph, arg_entry(x, i), ret);
}

static int get_output(struct msd_executor *x, uint32_t i, struct msd_any *ret)
{
	return msd_graph_instance_get(peek(x)->graph, peek(x)->plan->graph.heads[i],
				      ret);
}

static void destroy(struct msd_executor *x)
{
	struct state *s = (struct state *)x;

	msd_graph_instance_destroy(s->graph);
	msd_executor_finish(&s->base);
	free(s);
}

static const struct msd_executor_ops ops = {
	.input = input,
	.output = output,
	.is_param = is_param,
	.set = set,
	.share = share,
	.run = run,
	.get_input = get_input,
	.get_output = get_output,
	.destroy = destroy,
};

msd_err msd_graph_state_create(const struct msd_graph_plan *plan,
			       struct msd_instance **ret, struct msd_diag *d)
{
	struct state *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return msd_diag_no_memory(d);
	s->plan = plan;
	msd_err err = msd_executor_init(&s->base, &ops, plan->graph.n_args,
					plan->graph.n_heads, d);
	if (err == MSD_OK)
		err = msd_graph_instance_create(plan, &s->graph, d);
	if (err != MSD_OK) {
		destroy(&s->base);
		return err;
	}
	*ret = &s->base.base;
	return MSD_OK;
}
