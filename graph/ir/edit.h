#ifndef MSD_GRAPH_IR_EDIT_H
#define MSD_GRAPH_IR_EDIT_H
/*
 * Edit a consistent graph: remove nodes, turn computed tensors into constants.
 * Indices stay valid until msd_sg_sweep(), which leaves a consistent graph again.
 * Nodes keep the numbers that texts show.
 */
#include "graph/modser_graph.h"
#include "proto/base/err.h"
#include "proto/dtype.h"

/** Remove @node. Its outputs have no producer any more, unless another one was set. */
void msd_sg_take_out(modser_sg_node *node);
/**
 * Remove @node, which is a part of @into now; @into remembers it and the parts that it
 * had. If memory is short, only that note is missing.
 */
void msd_sg_merge(modser_sg_node *node, modser_sg_node *into);
/** Let @node produce @by as output @k instead of @t. */
void msd_sg_give_output(modser_sg_node *node, size_t k, modser_sg_tensor *by);
/**
 * Add a constant called @name of @dtype and @n extents, with a node that produces it.
 * The graph takes ownership of @data (from malloc()). NULL with the graph's error:
 * memory is short, and the caller still owns @data.
 */
MSD_MUST_CHECK modser_sg_tensor *msd_sg_add_const(modser_graph *g, const char *name,
						  struct msd_dtype dtype,
						  const int64_t *dims, size_t n,
						  void *data);
/**
 * Turn @t, whose shape is known, into a constant with the bytes @data. @node, which
 * computed it, becomes a Const; the caller must give its other outputs other
 * producers. @release as for modser_sg_tensor_set_buffer(). -1 with the graph's
 * error: memory is short, and nothing has changed.
 */
MSD_MUST_CHECK int msd_sg_make_const(modser_sg_node *node, modser_sg_tensor *t,
				     const void *data, void (*release)(void *data));
/**
 * Drop removed nodes, constants without readers, and tensors without producers. -1
 * with the graph's error: memory is short, and nothing has changed.
 */
MSD_MUST_CHECK int msd_sg_sweep(modser_graph *g);
/**
 * Remove the nodes whose results nothing reads, but for the graph's inputs, then
 * sweep. The nodes are in the order of a run. Errors: those of msd_sg_sweep().
 */
MSD_MUST_CHECK int msd_sg_drop_unread(modser_graph *g);

/**
 * Let @node compute @op of the inputs @in, whose last ones may be NULL. -1: memory is
 * short, or @op is NULL for that reason.
 */
MSD_MUST_CHECK int msd_sg_become(modser_sg_node *node, modser_sg_op *op,
				 modser_sg_tensor *const *in, size_t n);
/** Copy the parameters that both operators have. -1: memory is short. */
MSD_MUST_CHECK int msd_sg_copy_params(modser_sg_op *to, const modser_sg_op *from);
MSD_MUST_CHECK int msd_sg_set_float(modser_sg_op *op, const char *name, float v);

#endif
