#include "graph/ir/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "proto/base/grow.h"

struct msd_sg_shape {
	modser_sg_tensor *tensor;
	struct msd_dtype dtype;
	bool has_dtype;
	int ndim;
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	char **dim_names; /* owned, as the tensor's */
};

static bool copy_names(const modser_sg_tensor *t, char ***ret)
{
	if (t->dim_names == NULL)
		return true;
	*ret = calloc(MODSER_GRAPH_MAX_NDIM, sizeof(**ret));
	for (size_t i = 0; *ret != NULL && i < MODSER_GRAPH_MAX_NDIM; i++) {
		const char *name = t->dim_names[i];

		if (name == NULL)
			continue;
		(*ret)[i] = msd_sg_copy(name, strlen(name));
		if ((*ret)[i] == NULL)
			return false;
	}
	return *ret != NULL;
}

static bool keep(const modser_sg_tensor *t, struct msd_sg_shapes *ret)
{
	if (!msd_grow(&ret->items, ret->n, sizeof(*ret->items)))
		return false;
	struct msd_sg_shape *s = &ret->items[ret->n++];
	*s = (struct msd_sg_shape){.tensor = (modser_sg_tensor *)(uintptr_t)t,
				   .dtype = t->dtype,
				   .has_dtype = t->has_dtype,
				   .ndim = t->ndim};
	memcpy(s->dims, t->dims, sizeof(s->dims));
	return copy_names(t, &s->dim_names);
}

/* Graphs are nested to a bounded depth. */
static bool keep_all(const modser_graph *g, struct msd_sg_shapes *ret)
{
	for (size_t i = 0; i < g->n_tensors; i++) {
		if (!keep(g->tensors[i], ret))
			return false;
	}
	for (size_t i = 0; i < g->n_ops; i++) {
		for (size_t k = 0; k < g->ops[i]->attrs.n; k++) {
			const modser_sg_attr *a = &g->ops[i]->attrs.items[k].value;

			if (a->kind == MODSER_ATTR_GRAPH && !keep_all(a->as.graph, ret))
				return false;
		}
	}
	return true;
}

static void drop_names(char **names)
{
	for (size_t i = 0; names != NULL && i < MODSER_GRAPH_MAX_NDIM; i++)
		free(names[i]);
	free(names);
}

bool msd_sg_shapes_keep(const modser_graph *g, struct msd_sg_shapes *ret)
{
	*ret = (struct msd_sg_shapes){0};
	if (keep_all(g, ret))
		return true;
	for (size_t i = 0; i < ret->n; i++)
		drop_names(ret->items[i].dim_names);
	free(ret->items);
	*ret = (struct msd_sg_shapes){0};
	return false;
}

void msd_sg_shapes_restore(struct msd_sg_shapes *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct msd_sg_shape *from = &s->items[i];
		modser_sg_tensor *t = from->tensor;

		msd_sg_tensor_take_dtype(t, from->dtype);
		t->has_dtype = from->has_dtype;
		t->ndim = from->ndim;
		memcpy(t->dims, from->dims, sizeof(t->dims));
		drop_names(t->dim_names);
		t->dim_names = from->dim_names;
	}
	free(s->items);
	*s = (struct msd_sg_shapes){0};
}
