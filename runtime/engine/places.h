#ifndef MSD_RUNTIME_ENGINE_PLACES_H
#define MSD_RUNTIME_ENGINE_PLACES_H
/*
 * Where the tensors of a graph are while it runs: constants where the graph has them,
 * inputs with the caller, what kernels make in the arena of a layout or, where shapes
 * are known in a run alone, in memory of its own.
 */
#include "graph/layout/layout.h"
#include "graph/modser_graph.h"
#include "proto/diag.h"

struct msd_places {
	modser_graph *g;
	struct msd_layout layout;     /* its arena is that of all runs */
	const struct msd_layout *now; /* of the run; NULL: tensors have memory of
					 their own */
	void **own;                   /* that memory, of tensors that are there now */
	const void **at;              /* where each tensor is, in a run */
};

/** For the tensors of @g. Finish @p in any case. */
MSD_MUST_CHECK msd_err msd_places_init(struct msd_places *p, modser_graph *g,
				       struct msd_diag *d);
void msd_places_finish(struct msd_places *p);
/** A run begins: memory of the one before is freed, and nothing is known of values any
 * more. */
void msd_places_forget(struct msd_places *p);
/** Constants and @inputs, the graph's, are there. */
void msd_places_bind(struct msd_places *p, const void *const *inputs);
/** Room for @t, which is computed now; NULL: memory is short. */
MSD_MUST_CHECK void *msd_places_make(struct msd_places *p, modser_sg_tensor *t);
/** @t was computed into @own, memory of malloc(), which becomes the places'. */
void msd_places_take(struct msd_places *p, modser_sg_tensor *t, void *own);
/** Step @step has run @node: what it read last goes, where tensors have memory of their
 * own. */
void msd_places_drop(struct msd_places *p, const modser_sg_node *node, size_t step);

#endif
