#ifndef MSD_GRAPH_IR_INFER_H
#define MSD_GRAPH_IR_INFER_H
/* What the operators' files infer shapes with; modser_graph_infer() calls them. */

#include "graph/modser_graph.h"
#include "proto/err.h"

/** Say why the shapes of @node cannot be. Returns -1. */
int msd_infer_fail(const modser_sg_node *node, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** Extents of input @i, which is there, and their number. */
const int64_t *msd_infer_dims(const modser_sg_node *node, size_t i);
size_t msd_infer_ndim(const modser_sg_node *node, size_t i);
/** The product of extents @from to before @to of input @i, which fits. */
int64_t msd_infer_product(const modser_sg_node *node, size_t i, size_t from, size_t to);
MSD_MUST_CHECK int msd_infer_rank(const modser_sg_node *node, size_t i, size_t rank);
/** Output 0 has these extents. */
MSD_MUST_CHECK int msd_infer_set(const modser_sg_node *node, const int64_t *dims,
				 size_t n);
/** Output 0 is as input 0: the whole inference of many operators. */
int msd_infer_same(modser_sg_node *node);
/** A parameter that must be in a range. */
MSD_MUST_CHECK int msd_infer_range(const modser_sg_node *node, const char *param,
				   int64_t min, int64_t max);
/** The axis that parameter "axis" names, of input 0, counted from behind when it is
 * negative. */
MSD_MUST_CHECK int msd_infer_axis(const modser_sg_node *node, size_t *ret);

#endif
