#ifndef MSD_GRAPH_IR_INFER_H
#define MSD_GRAPH_IR_INFER_H
/* Helpers for shape inference in the operators' files; modser_graph_infer() calls
 * these files. */

#include "graph/modser_graph.h"
#include "proto/base/err.h"
#include "proto/dtype.h"

/* Returned by an inference that needs a value known only in a run. */
#define MSD_INFER_LATER 1

/**
 * Set dtypes and shapes of the outputs of @node. Returns 0, -1, or MSD_INFER_LATER:
 * an extent or a value that it needs is not known.
 */
MSD_MUST_CHECK int msd_sg_infer_node(modser_sg_node *node);
/** Record why the shapes of @node are invalid. Returns -1. */
int msd_infer_fail(const modser_sg_node *node, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** Extents of input @i, which must exist, and their number. */
const int64_t *msd_infer_dims(const modser_sg_node *node, size_t i);
size_t msd_infer_ndim(const modser_sg_node *node, size_t i);
/** The product of extents @from to before @to of input @i, which fits. */
int64_t msd_infer_product(const modser_sg_node *node, size_t i, size_t from, size_t to);
MSD_MUST_CHECK int msd_infer_rank(const modser_sg_node *node, size_t i, size_t rank);
/** True if the node has an input @i. */
bool msd_infer_has(const modser_sg_node *node, size_t i);
/**
 * The bytes of input @i, which must exist: from a constant, or known in a run. NULL:
 * not known yet.
 */
const void *msd_infer_value(const modser_sg_node *node, size_t i);
#define MSD_INFER_MAX_INTS 64u
/**
 * Read the numbers of input @i, which must exist: int64 or int32, a scalar or one
 * dimension, at most MSD_INFER_MAX_INTS. Returns 0, -1 or MSD_INFER_LATER.
 */
MSD_MUST_CHECK int msd_infer_ints(const modser_sg_node *node, size_t i,
				  int64_t ret[static MSD_INFER_MAX_INTS],
				  size_t *ret_n);
/**
 * Read the one number of input @i, which must exist; an integer beyond 2^53 is
 * rounded. Returns 0, -1 or MSD_INFER_LATER.
 */
MSD_MUST_CHECK int msd_infer_number(const modser_sg_node *node, size_t i, double *ret);
/** Check that input @i has indices: int32 or int64. */
MSD_MUST_CHECK int msd_infer_indices(const modser_sg_node *node, size_t i);
/**
 * Check that input @i has the dimensions of input 0 and is nowhere larger, except on
 * @axis.
 */
MSD_MUST_CHECK int msd_infer_inside(const modser_sg_node *node, size_t i, size_t axis);
/** Axis @axis of @ndim; a negative axis counts from the end. */
MSD_MUST_CHECK int msd_infer_axis_of(const modser_sg_node *node, int64_t axis,
				     size_t ndim, size_t *ret);
/** Set the extents of output 0. */
MSD_MUST_CHECK int msd_infer_set(const modser_sg_node *node, const int64_t *dims,
				 size_t n);
/** Set the extents of output @k; does nothing if the output is not requested. */
MSD_MUST_CHECK int msd_infer_set_output(const modser_sg_node *node, size_t k,
					const int64_t *dims, size_t n);
/** Set the dtype of output @k, instead of the default, input 0's. */
void msd_infer_dtype(const modser_sg_node *node, size_t k, struct msd_dtype dtype);
struct msd_dtype msd_infer_dtype_of(const modser_sg_node *node, size_t i);
/**
 * Check that the existing inputs from @from to before @to have the dtype of input
 * @from.
 */
MSD_MUST_CHECK int msd_infer_alike(const modser_sg_node *node, size_t from, size_t to);
/** Output 0 gets the broadcast shape of all inputs, by numpy's rules. */
MSD_MUST_CHECK int msd_infer_broadcast(const modser_sg_node *node);
/** The same for inputs with one dtype: the whole inference of many operators. */
int msd_infer_elementwise(modser_sg_node *node);
/** Output 0 is like input 0: the whole inference of many operators. */
int msd_infer_same(modser_sg_node *node);
/** Check that @value of parameter @param is in a range. */
MSD_MUST_CHECK int msd_infer_range(const modser_sg_node *node, const char *param,
				   int64_t value, int64_t min, int64_t max);
/** Axis @axis of input 0; a negative axis counts from the end. */
MSD_MUST_CHECK int msd_infer_axis(const modser_sg_node *node, int64_t axis,
				  size_t *ret);

#endif
