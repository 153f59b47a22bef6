#ifndef MSD_GRAPH_PASS_RANK_H
#define MSD_GRAPH_PASS_RANK_H
/*
 * Facts about a tensor with an open shape that hold in every run: its rank, its dtype,
 * or that it is one number. They follow from the nodes before it.
 */
#include "graph/modser_graph.h"
#include "graph/pass/fusion.h"

/** The rank of @t; -1: not known. */
int msd_rank_of(const struct msd_fusion *f, const modser_sg_tensor *t);
/** True if @t is of float32. */
bool msd_rank_is_single(const struct msd_fusion *f, const modser_sg_tensor *t);
/**
 * True if @t has one element and at most one axis. *@ret_is_single becomes true if it
 * is of float32.
 */
bool msd_rank_is_number(const modser_sg_tensor *t, bool *ret_is_single);

#endif
