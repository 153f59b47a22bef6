#ifndef MSD_GRAPH_IR_EDIT_H
#define MSD_GRAPH_IR_EDIT_H
/*
 * Changes to a graph that holds together: nodes are taken out, computed tensors become
 * constants. Indices stay until msd_sg_sweep(), which leaves a graph that holds
 * together again; nodes keep the numbers that texts call them by.
 */
#include "graph/modser_graph.h"
#include "proto/dtype.h"
#include "proto/err.h"

/** Take @node out: nobody makes its outputs any more, unless another was said to. */
void msd_sg_take_out(modser_sg_node *node);
/** Let @node, whose output number @k is @t, make @by instead. */
void msd_sg_give_output(modser_sg_node *node, size_t k, modser_sg_tensor *by);
/**
 * A constant called @name of @dtype and @n extents, made by a node of its own. @data,
 * of malloc(), becomes the graph's. NULL with the graph's error: memory is short, and
 * @data is the caller's.
 */
MSD_MUST_CHECK modser_sg_tensor *msd_sg_add_const(modser_graph *g, const char *name,
						  struct msd_dtype dtype,
						  const int64_t *dims, size_t n,
						  void *data);
/**
 * Let @t, whose shape is known, be a constant with the bytes @data: @node, which
 * computed it, is a Const from now on, and its other outputs have to be given to
 * others. @release as for modser_sg_tensor_set_buffer(). -1 with the graph's error:
 * memory is short, and nothing has changed.
 */
MSD_MUST_CHECK int msd_sg_make_const(modser_sg_node *node, modser_sg_tensor *t,
				     const void *data, void (*release)(void *data));
/** Drop nodes that were taken out, constants that nobody reads, and tensors that nobody
 * makes. -1 with the graph's error: memory is short, and nothing has changed. */
MSD_MUST_CHECK int msd_sg_sweep(modser_graph *g);

#endif
