#include "graph/pass/fusion.h"

#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"

int msd_fusion_init(struct msd_fusion *f, const struct msd_pass_job *job)
{
	modser_graph *g = job->g;

	*f = (struct msd_fusion){.job = job};
	if (msd_links_init(&f->links, job) != 0 || msd_known_init(&f->known, job) != 0)
		return -1;
	for (size_t i = 0; i < g->n_nodes; i++)
		(void)msd_known_infer(&f->known, job, g->nodes[job->order[i]]);
	return 0;
}

void msd_fusion_finish(struct msd_fusion *f)
{
	msd_known_finish(&f->known);
	msd_links_finish(&f->links);
}

bool msd_fusion_is_single(const modser_sg_tensor *t)
{
	return t != NULL && t->type == MODSER_TENSOR_CONST && t->data != NULL &&
	       t->dtype.code == MSD_DT_FLOAT && t->dtype.bits == 32;
}

bool msd_fusion_scalar(const modser_sg_tensor *t, float *ret)
{
	if (!msd_fusion_is_single(t) || t->bytes != sizeof(*ret))
		return false;
	memcpy(ret, t->data, sizeof(*ret));
	return true;
}

bool msd_fusion_is_same_shape(const struct msd_fusion *f, const modser_sg_tensor *a,
			      const modser_sg_tensor *b)
{
	return f->known.tensors[a->index] && f->known.tensors[b->index] &&
	       msd_dtype_eq(a->dtype, b->dtype) && a->ndim == b->ndim &&
	       memcmp(a->dims, b->dims, (size_t)a->ndim * sizeof(*a->dims)) == 0;
}

modser_sg_tensor *msd_fusion_beside(const modser_sg_node *node,
				    const modser_sg_tensor *t)
{
	if (node->n_inputs != 2 || (node->inputs[0] == t && node->inputs[1] == t))
		return NULL;
	if (node->inputs[0] == t)
		return node->inputs[1];
	return node->inputs[1] == t ? node->inputs[0] : NULL;
}

int msd_fusion_become(modser_sg_node *const *nodes, size_t n, modser_sg_op *op,
		      modser_sg_tensor *const *in, size_t n_in)
{
	modser_sg_node *last = nodes[n - 1];

	if (op == NULL)
		return -1;
	for (size_t i = 0; i + 1 < n; i++)
		msd_sg_merge(nodes[i], last);
	return msd_sg_become(last, op, in, n_in);
}
