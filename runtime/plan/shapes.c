#include "runtime/plan/shapes.h"

#include "graph/ir/graph.h"

/* Entries of large graphs are large: fewer of them are kept. */
#define MOST_TENSORS 200000u

void msd_shapes_finish(struct msd_shapes *s)
{
	for (size_t i = 0; i < MSD_SHAPES_KEPT; i++)
		msd_entry_finish(&s->entries[i]);
}

struct msd_entry *msd_shapes_find(struct msd_shapes *s,
				  const struct msd_graph_program *p,
				  const struct msd_plan_input *inputs)
{
	for (size_t i = 0; i < MSD_SHAPES_KEPT; i++) {
		struct msd_entry *e = &s->entries[i];

		if (!msd_entry_is_for(e, p, inputs))
			continue;
		e->used = ++s->clock;
		return e;
	}
	return NULL;
}

static size_t n_kept(const modser_graph *g)
{
	const size_t n = MOST_TENSORS / (g->n_tensors + 1);

	return n < 1 ? 1 : n < MSD_SHAPES_KEPT ? n : MSD_SHAPES_KEPT;
}

msd_err msd_shapes_add(struct msd_shapes *s, struct msd_graph_program *p,
		       modser_graph *g, struct msd_entry **ret, struct msd_diag *d)
{
	struct msd_entry *e = &s->entries[0];

	for (size_t i = 1; i < n_kept(g); i++)
		e = s->entries[i].used < e->used ? &s->entries[i] : e;
	msd_entry_finish(e);
	const msd_err err = msd_entry_init(e, p, g, d);
	if (err != MSD_OK) {
		msd_entry_finish(e);
		return err;
	}
	e->used = ++s->clock;
	*ret = e;
	return MSD_OK;
}
