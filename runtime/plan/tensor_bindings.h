#ifndef MSD_RUNTIME_ENGINE_TENSOR_BINDINGS_H
#define MSD_RUNTIME_ENGINE_TENSOR_BINDINGS_H
/*
 * Locations of a graph's tensors during a run. Constants stay in the graph, inputs
 * with the caller. Kernel outputs are in the arena of a memory plan or, if shapes are
 * known only during a run, in separately allocated memory.
 */
#include "graph/layout/memory_plan.h"
#include "graph/modser_graph.h"
#include "proto/base/diag.h"

struct msd_tensor_bindings {
	modser_graph *g;
	struct msd_layout layout;     /* its arena is shared by all runs */
	const struct msd_layout *now; /* plan of the current run; NULL: tensors are
					 allocated separately */
	void **own;      /* that memory, for the tensors that currently exist */
	const void **at; /* address of each tensor, during a run */
};

/** Initialise for the tensors of @g. Finish @p in any case. */
MSD_MUST_CHECK msd_err msd_tensor_bindings_init(struct msd_tensor_bindings *p,
						modser_graph *g, struct msd_diag *d);
void msd_tensor_bindings_finish(struct msd_tensor_bindings *p);
/** Start a run: free memory of the previous run and forget its values. */
void msd_tensor_bindings_forget(struct msd_tensor_bindings *p);
/** Set the addresses of the constants and of @inputs, the graph's inputs. */
void msd_tensor_bindings_bind(struct msd_tensor_bindings *p, const void *const *inputs);
/** Allocate memory for @t, which is computed next; NULL: memory is short. */
MSD_MUST_CHECK void *msd_tensor_bindings_make(struct msd_tensor_bindings *p,
					      modser_sg_tensor *t);
/** @t was computed into @own, memory of malloc(); takes ownership of it. */
void msd_connection_slots_reserve(struct msd_tensor_bindings *p, modser_sg_tensor *t,
				  void *own);
/**
 * Step @step has run @node: free the tensors that it read last, if they are allocated
 * separately.
 */
void msd_tensor_bindings_drop(struct msd_tensor_bindings *p, const modser_sg_node *node,
			      size_t step);

#endif
