#ifndef MSD_RUNTIME_KV_TREE_H
#define MSD_RUNTIME_KV_TREE_H
/*
 * Trees of tokens: a forward may append alternatives, of which a later call accepts one
 * path. A node names its parent, which comes before it; -1 is the end of the sequence.
 */
#include "runtime/kv/sequences.h"

#define MSD_KV_MAX_TREE 256 /* nodes of a sequence */

/**
 * Check that @parents, together with the nodes that @s has already, are a tree. Returns
 * 0, or -1 with the error raised.
 */
int msd_kv_tree_check(const struct msd_kv_sequence *s, const int64_t *parents,
		      int64_t n);
/** Append the nodes to those of @s; false: memory is short. */
MSD_MUST_CHECK bool msd_kv_tree_append(struct msd_kv_sequence *s,
				       const int64_t *parents, int64_t n);
/**
 * Append two numbers for each node of @s to @ret: its place in depth-first order, and
 * the place behind its last descendant. False: memory is short.
 */
MSD_MUST_CHECK bool msd_kv_tree_spans(const struct msd_kv_sequence *s,
				      struct msd_ints *ret);

#endif
