#ifndef MSD_TENSORFLOW_SCOPE_H
#define MSD_TENSORFLOW_SCOPE_H
/* Graphs of branches and loops, which nodes take over. */
#include "graph/serializer/tensorflow/load.h"

/** Record the error of the graph of @s, if it has one, as the load's. Returns -1. */
int tf_scope_error(struct tf_load *l, struct tf_scope *s);
/** Input @number of a subgraph of node @name; an @ndim of -1 is not known. */
modser_sg_tensor *tf_scope_input(struct tf_scope *s, const char *name, size_t number,
				 const char *dtype, const int64_t *dims, int ndim);
/** Make @t an output; it gets a tensor of its own. */
MSD_MUST_CHECK int tf_scope_output(struct tf_scope *s, const char *name,
				   modser_sg_tensor *t);
/** Add what @s captures to the inputs of @node, and their number to *@ret_n. */
MSD_MUST_CHECK int tf_scope_capture(modser_sg_node *node, const struct tf_scope *s,
				    size_t *ret_n);
/** Let the operator of @node own the graph of @s, as attribute @name. */
MSD_MUST_CHECK int tf_scope_give(modser_sg_node *node, const char *name,
				 struct tf_scope *s);
/** Extents of the two that differ are open: set @dims. True: one changed. */
bool tf_scope_widen(int *ndim, int64_t *dims, const modser_sg_tensor *t);

#endif
