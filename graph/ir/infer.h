#ifndef MSD_GRAPH_IR_INFER_H
#define MSD_GRAPH_IR_INFER_H
/* What the operators' files infer shapes with; modser_graph_infer() calls them. */

#include "graph/modser_graph.h"
#include "proto/dtype.h"
#include "proto/err.h"

/* What an inference returns that needs a value which only a run has. */
#define MSD_INFER_LATER 1

/** Set dtypes and shapes of the outputs of @node. Returns 0, -1, or MSD_INFER_LATER: an
 * extent or a value that it needs is not known. */
MSD_MUST_CHECK int msd_sg_infer_node(modser_sg_node *node);
/** Say why the shapes of @node cannot be. Returns -1. */
int msd_infer_fail(const modser_sg_node *node, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** Extents of input @i, which is there, and their number. */
const int64_t *msd_infer_dims(const modser_sg_node *node, size_t i);
size_t msd_infer_ndim(const modser_sg_node *node, size_t i);
/** The product of extents @from to before @to of input @i, which fits. */
int64_t msd_infer_product(const modser_sg_node *node, size_t i, size_t from, size_t to);
MSD_MUST_CHECK int msd_infer_rank(const modser_sg_node *node, size_t i, size_t rank);
/** Whether the node has an input @i. */
bool msd_infer_has(const modser_sg_node *node, size_t i);
/** The bytes of input @i, which is there: a constant's, or those that a run knows.
 * NULL: not known yet. */
const void *msd_infer_value(const modser_sg_node *node, size_t i);
#define MSD_INFER_MAX_INTS 64u
/**
 * The numbers of input @i, which is there: int64 or int32, one dimension or none, at
 * most MSD_INFER_MAX_INTS. Returns 0, -1 or MSD_INFER_LATER.
 */
MSD_MUST_CHECK int msd_infer_ints(const modser_sg_node *node, size_t i,
				  int64_t ret[static MSD_INFER_MAX_INTS],
				  size_t *ret_n);
/** The one number of input @i, which is there; an integer beyond 2^53 is rounded.
 * Returns 0, -1 or MSD_INFER_LATER. */
MSD_MUST_CHECK int msd_infer_number(const modser_sg_node *node, size_t i, double *ret);
/** Input @i has indices: int32 or int64. */
MSD_MUST_CHECK int msd_infer_indices(const modser_sg_node *node, size_t i);
/** Input @i has the dimensions of input 0 and is nowhere larger, but for @axis. */
MSD_MUST_CHECK int msd_infer_inside(const modser_sg_node *node, size_t i, size_t axis);
/** Axis @axis of @ndim, counted from behind when it is negative. */
MSD_MUST_CHECK int msd_infer_axis_of(const modser_sg_node *node, int64_t axis,
				     size_t ndim, size_t *ret);
/** Output 0 has these extents. */
MSD_MUST_CHECK int msd_infer_set(const modser_sg_node *node, const int64_t *dims,
				 size_t n);
/** Output @k has these extents; nothing is done when nobody asked for it. */
MSD_MUST_CHECK int msd_infer_set_output(const modser_sg_node *node, size_t k,
					const int64_t *dims, size_t n);
/** Output @k is of @dtype, not of input 0's as is assumed. */
void msd_infer_dtype(const modser_sg_node *node, size_t k, struct msd_dtype dtype);
struct msd_dtype msd_infer_dtype_of(const modser_sg_node *node, size_t i);
/** Inputs @from to before @to that are there have the dtype of input @from. */
MSD_MUST_CHECK int msd_infer_alike(const modser_sg_node *node, size_t from, size_t to);
/** Output 0 is as large as all inputs together, stretched as numpy does it. */
MSD_MUST_CHECK int msd_infer_broadcast(const modser_sg_node *node);
/** The same of all inputs with one dtype: the whole inference of many operators. */
int msd_infer_elementwise(modser_sg_node *node);
/** Output 0 is as input 0: the whole inference of many operators. */
int msd_infer_same(modser_sg_node *node);
/** A parameter that must be in a range. */
MSD_MUST_CHECK int msd_infer_range(const modser_sg_node *node, const char *param,
				   int64_t min, int64_t max);
/** The axis that parameter "axis" names, of input 0, counted from behind when it is
 * negative. */
MSD_MUST_CHECK int msd_infer_axis(const modser_sg_node *node, size_t *ret);

#endif
