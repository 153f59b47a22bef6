#ifndef MSD_RUNTIME_KV_BATCH_DEPTHS_H
#define MSD_RUNTIME_KV_BATCH_DEPTHS_H
/* The entries of each depth of a batch: which tokens attend to which block. */
#include "runtime/kv/batch.h"
#include "runtime/kv/window.h"

/* A sequence of the batch. */
struct msd_kv_entry {
	struct msd_kv_sequence *s;
	int64_t n;      /* tokens to append */
	int32_t before; /* length of its last block before that */
	int32_t start;  /* position of the first token, or of its tree's root */
	struct msd_kv_growth growth;
	struct msd_ints trace; /* its blocks */
};

/* The entries of a depth. Neighbours with the same block are one entry, unless it is
 * the last depth or the kernel for decoding runs. */
struct msd_kv_plan_depth {
	struct msd_ints blocks; /* MSD_KV_NO_BLOCK: none */
	struct msd_ints n_queries;
	bool use_decode;
};

struct msd_kv_plan {
	struct msd_kv_entry *v;
	int64_t n;
	int64_t total;
	bool is_decode; /* each sequence appends one token */
	bool has_tree;  /* from an earlier forward */
	bool append_first;
	int32_t n_depths;
	struct msd_kv_plan_depth depths[MSD_KV_DEPTHS];
};

void msd_kv_plan_finish(struct msd_kv_plan *p);
/** Choose the entries; false: memory is short. */
MSD_MUST_CHECK bool msd_kv_plan_depths(const struct msd_kv_table *t,
				       struct msd_kv_plan *p);
/** Make the tensors of all depths of @b from the blocks as they are now. */
MSD_MUST_CHECK bool msd_kv_depths_make(const struct msd_kv_table *t,
				       int64_t layer_window, bool is_tree,
				       const struct msd_kv_plan *p,
				       struct msd_kv_batch *b);

#endif
