#ifndef MSD_RUNTIME_KV_BATCH_H
#define MSD_RUNTIME_KV_BATCH_H
/*
 * The batch of one forward: which sequences grow by how many tokens, and the index
 * tensors that attention kernels read. A sequence's blocks are read at two depths: its
 * first block, then all others.
 */
#include "runtime/kv/sequences.h"

#define MSD_KV_DEPTHS 2

/* The cached tokens that a kernel reads: the pages of entry i are @indices from
 * @indptr[i] to @indptr[i + 1]. */
struct msd_kv_view {
	struct msd_tensor *indptr;
	struct msd_tensor *indices;
	struct msd_tensor *lengths; /* used slots of the last page; with windows also
				       offset and sink */
	struct msd_tensor *positions;
};

struct msd_kv_depth {
	bool use_decode; /* one token for each entry: the kernel for decoding */
	bool is_chain;   /* no token tree is read at this depth */
	struct msd_tensor *queries; /* the tokens of entry i: from [i] to [i + 1] */
	struct msd_kv_view all;
	struct msd_kv_view window; /* of layers that have a window */
	struct msd_tensor *tree_indptr;
	struct msd_tensor *tree_spans;
};

struct msd_kv_batch {
	bool is_open;
	int64_t n; /* sequences */
	int64_t *ids;
	int64_t *lengths;  /* tokens that are appended */
	int64_t total;     /* of these */
	bool append_first; /* keys and values are stored before the attention */
	int32_t n_depths;
	struct msd_kv_depth depths[MSD_KV_DEPTHS];
	struct msd_ints slots_of; /* slot in the pages of each token; -1: none */
	struct msd_tensor *slots;
	struct msd_tensor *indptr;
	struct msd_tensor *q_positions;
	struct msd_tensor *k_positions;
};

/* Bounds and modes of a cache. */
struct msd_kv_limits {
	int64_t max_tokens;
	int64_t layer_window; /* of layers that have one; 0: none has */
	bool may_tree;
};

/* A request of a forward; @parents NULL: no tree. */
struct msd_kv_request {
	const struct msd_shape *ids;
	const struct msd_shape *lengths;
	const struct msd_shape *parents;
};

/**
 * Let the sequences grow and make the tensors. Returns 0, or -1 with the error raised;
 * then the table is unchanged unless memory was short.
 */
int msd_kv_batch_begin(struct msd_kv_table *t, const struct msd_kv_limits *limits,
		       const struct msd_kv_request *r, struct msd_kv_batch *ret);
void msd_kv_batch_finish(struct msd_kv_batch *b);

#endif
