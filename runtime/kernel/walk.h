#ifndef MSD_RUNTIME_ENGINE_WALK_H
#define MSD_RUNTIME_ENGINE_WALK_H
/*
 * Iterates over the elements of one shape, row by row along its last axis, and over
 * tensors in parallel. Each tensor has its own strides: 0 for a broadcast extent of
 * 1, different from the shape's if axes are permuted or left out.
 *
 *   for (msd_walk_begin(&w); w.row < w.n_rows; msd_walk_next(&w))
 *     element k of the row is at w.at[operand] + k * msd_walk_step(&w, operand)
 */
#include "graph/modser_graph.h"

#define MSD_WALK_OPERANDS 4u

struct msd_walk {
	size_t ndim; /* at least 1 */
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	int64_t index[MODSER_GRAPH_MAX_NDIM];
	int64_t steps[MSD_WALK_OPERANDS][MODSER_GRAPH_MAX_NDIM];
	int64_t at[MSD_WALK_OPERANDS]; /* start of the row */
	int64_t from[MSD_WALK_OPERANDS];
	size_t n_operands;
	size_t row;
	size_t n_rows;
	int64_t n; /* elements of a row */
};

/** Iterate over all positions of @dims, without a tensor yet. */
void msd_walk_init(struct msd_walk *w, const int64_t *dims, size_t ndim);
/** Add a tensor of this shape, broadcast as in numpy. */
void msd_walk_stretch(struct msd_walk *w, const int64_t *dims, size_t ndim);
/** Add a tensor with one stride per axis and its first element at @from. */
void msd_walk_operand(struct msd_walk *w, const int64_t *steps, int64_t from);
/**
 * Merge neighbouring axes that every operand passes with one stride, so that rows are
 * as long as possible. Call after the last operand was added.
 */
void msd_walk_merge(struct msd_walk *w);
void msd_walk_begin(struct msd_walk *w);
/** Begin at row @row. */
void msd_walk_seek(struct msd_walk *w, size_t row);
void msd_walk_next(struct msd_walk *w);
int64_t msd_walk_step(const struct msd_walk *w, size_t operand);
/**
 * Offset of operand @operand at position @i of the iteration space; also works before
 * msd_walk_begin().
 */
int64_t msd_walk_place(const struct msd_walk *w, size_t operand, size_t i);
/** The strides of a row-major tensor. */
void msd_walk_steps(const int64_t *dims, size_t ndim, int64_t *ret);
/** Copy elements of @size bytes from operand 0, @from, into row-major @to. */
void msd_walk_copy(struct msd_walk *w, void *to, const void *from, size_t size);

#endif
