#ifndef MSD_RUNTIME_PLAN_REORDER_H
#define MSD_RUNTIME_PLAN_REORDER_H
/*
 * Layouts of engines in an entry. A tensor has the form that its producer writes, rows
 * or a layout of that node's engine; a reorder makes another form for the nodes that
 * read it, once for all of them. A reorder is a step of the run. A constant is
 * reordered once for all entries of a plan.
 */
#include <modserd_plugin.h>

#include "graph/layout/memory_plan.h"
#include "proto/base/diag.h"
#include "runtime/engine/engine.h"

struct msd_entry;
struct msd_entry_step;
struct msd_graph_program;

struct msd_reorder {
	struct msd_engine_node by; /* of its step; this struct is the state */
	const char *engine;        /* that has the layout */
	const modserd_layout *layout;
	bool is_to_rows; /* else from rows */
	const modser_sg_tensor *tensor;
	const modser_sg_node *node;     /* for which it runs */
	size_t row;                     /* of that node in its plan */
	const struct msd_reorder *from; /* NULL: it reads what the producer writes */
	const void *in;                 /* arguments of the step */
	void *out;
	void *own; /* a constant, reordered and borrowed; NULL: a block of the arena */
	size_t block;
	bool is_read;              /* by a node, or another reorder */
	size_t at;                 /* runs before this step of the nodes */
	struct msd_reorder *next;  /* in the order of a run */
	struct msd_reorder *other; /* form of the tensor */
};

/* The layouts of a node, for people. */
struct msd_reorder_row {
	const modserd_layout *const *outputs; /* NULL: all are row-major */
	size_t n;                             /* reorders that run for it */
	uint64_t bytes;                       /* that they write */
};

struct msd_reorders {
	struct msd_reorder *first;
	size_t n_steps; /* reorders in a run */
	/* By argument of the entry's `in`: the reorder that makes it. NULL: none. */
	const struct msd_reorder **in;
	const modserd_layout **in_layouts; /* by argument */
	const modserd_layout **out_layouts;
	struct msd_reorder_row *rows; /* by row of the plan */
	struct msd_memory_needs needs;
	/* By tensor, of what its producer writes. */
	size_t *last;                    /* the step that reads it last */
	size_t *bytes;                   /* in a layout; 0: rows */
	struct msd_memory_block *blocks; /* of the reorders */
};

/**
 * Ask the engines of the nodes of @e, an entry of @p, for layouts, and insert the
 * reorders between its steps. A group has rows. e->reorders stays NULL if all tensors
 * are row-major. Free it in any case, before p->reordered is.
 */
MSD_MUST_CHECK msd_err msd_reorders_create(struct msd_entry *e,
					   struct msd_graph_program *p,
					   struct msd_diag *d);
void msd_reorders_destroy(struct msd_reorders *r); /* NULL is fine */
/** NULL: the step runs a node or a group. */
struct msd_reorder *msd_reorder_of(const struct msd_entry_step *step);

#endif
