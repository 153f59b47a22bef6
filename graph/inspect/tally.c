#include "graph/inspect/tally.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"

static bool count_op(struct msd_sg_tally *t, const char *op)
{
	size_t i = 0;

	while (i < t->n_rows && strcmp(t->rows[i].op, op) != 0)
		i++;
	if (i == t->n_rows) {
		if (!msd_sg_grow(&t->rows, t->n_rows, sizeof(*t->rows)))
			return false;
		t->rows[t->n_rows++] = (struct msd_sg_tally_row){op, 0};
	}
	t->rows[i].n++;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct msd_sg_tally_row *x = a;
	const struct msd_sg_tally_row *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return strcmp(x->op, y->op);
}

bool msd_sg_tally_take(const modser_graph *g, struct msd_sg_tally *ret)
{
	*ret = (struct msd_sg_tally){0};
	for (size_t i = 0; i < g->n_nodes; i++) {
		if (!count_op(ret, modser_sg_op_name(g->nodes[i]->op)))
			return false;
	}
	if (ret->n_rows > 0)
		qsort(ret->rows, ret->n_rows, sizeof(*ret->rows), compare);
	for (size_t i = 0; i < g->n_tensors; i++) {
		const modser_sg_tensor *t = g->tensors[i];

		if (t->type != MODSER_TENSOR_CONST)
			continue;
		ret->n_constants++;
		ret->constant_bytes += t->bytes;
		ret->stripped_bytes += t->is_stripped ? t->bytes : 0;
	}
	return true;
}

void msd_sg_tally_finish(struct msd_sg_tally *t)
{
	free(t->rows);
	*t = (struct msd_sg_tally){0};
}
