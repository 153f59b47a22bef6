/*
 * Check that a graph and a library belong together: compares the functions'
 * signatures with the graph's tensors. Another model of the same kind has functions
 * of the same names.
 */
#include "runtime/module/check.h"

#include <stdio.h>

#include "runtime/executor/graph/plan.h"
#include "runtime/value/tensor_text.h"

static msd_err refuse(const struct msd_graph_node *node, uint32_t i,
		      const struct msd_signature *s, struct msd_diag *d,
		      const char *what)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "graph: node %u (%.64s) %s, but its function is %s; the "
			    "graph is not this library's",
			    i, node->name, what,
			    s->text != NULL ? s->text : node->func);
}

static bool shape_fits(const struct msd_param *p, const int64_t *shape, uint32_t ndim)
{
	if (p->ndim >= 0 && p->ndim != (int32_t)ndim)
		return false;
	for (uint32_t k = 0; p->ndim >= 0 && p->shape != NULL && k < ndim; k++) {
		if (p->shape[k] >= 0 && p->shape[k] != shape[k])
			return false;
	}
	return true;
}

static msd_err check_arg(const struct msd_graph *g, uint32_t i, uint32_t k,
			 const struct msd_signature *s, struct msd_diag *d)
{
	const struct msd_graph_node *node = &g->nodes[i];
	const struct msd_param *p = &s->params[k];
	const struct msd_graph_entry *e =
		&g->entries[k < node->n_inputs
				    ? node->inputs[k]
				    : node->first_entry + k - node->n_inputs];
	char text[MSD_TENSOR_TEXT_MAX];
	char what[MSD_TENSOR_TEXT_MAX + 64];
	int64_t flat = 1;

	for (uint32_t n = 0; n < e->ndim; n++)
		flat *= e->shape[n]; /* cannot overflow: checked with the graph */
	const int64_t *shape = node->flatten ? &flat : e->shape;
	const uint32_t ndim = node->flatten ? 1 : e->ndim;
	if (p->kind == MSD_P_UNKNOWN ||
	    (p->kind == MSD_P_TENSOR &&
	     (!p->has_dtype || msd_dtype_fits(p->dtype, e->dtype)) &&
	     shape_fits(p, shape, ndim)))
		return MSD_OK;
	(void)snprintf(what, sizeof(what), "passes %s as argument %u",
		       msd_tensor_text(e->dtype, shape, ndim, text), k);
	return refuse(node, i, s, d, what);
}

static msd_err check_op(const struct msd_graph *g, const struct msd_graph_op *op,
			struct msd_diag *d)
{
	const struct msd_graph_node *node = &g->nodes[op->node];
	const struct msd_signature *s = op->fn->rules->info.signature;
	const uint32_t n = node->n_inputs + node->n_entries;
	char what[64];
	msd_err err = MSD_OK;

	if (!s->known)
		return MSD_OK;
	if (s->n_params != n) {
		(void)snprintf(what, sizeof(what), "passes %u arguments", n);
		return refuse(node, op->node, s, d, what);
	}
	for (uint32_t k = 0; err == MSD_OK && k < n; k++)
		err = check_arg(g, op->node, k, s, d);
	return err;
}

msd_err msd_graph_plan_check(const struct msd_graph_plan *p, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < p->n_ops; i++) {
		if (p->ops[i].fn != NULL && p->ops[i].fn->rules != NULL)
			err = check_op(&p->graph, &p->ops[i], d);
	}
	return err;
}
