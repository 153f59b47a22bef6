#ifndef MSD_RUNTIME_KV_SEQUENCES_H
#define MSD_RUNTIME_KV_SEQUENCES_H
/*
 * The sequences of a paged cache by their ids, with the blocks and pages that they
 * use. The structure of blocks is TVM's (0.27), because the bits of an attention depend
 * on it. It does not know tensors or kernels.
 *
 * Functions that fail raise their error and return -1; the table is then unchanged.
 */
#include "runtime/kv/blocks.h"
#include "runtime/kv/pages.h"

#define MSD_KV_NO_WINDOW (-1)

struct msd_kv_sequence {
	int64_t id;
	int32_t last; /* its last block */
	int32_t length;
	int32_t window; /* its size in tokens, or MSD_KV_NO_WINDOW */
	int32_t sink;   /* tokens of the last block that will stay */
	/* The tree of tokens of the last forward, until its nodes are accepted. */
	struct msd_ints parents;
	struct msd_ints depths;
	bool is_chain; /* each node follows the node before it */
	bool is_accepted;
	uint64_t batch; /* number of its last batch */
};

struct msd_kv_table {
	int32_t page_size;
	int32_t max_sequences;
	bool slides; /* sequences may have windows that slide */
	struct msd_kv_pages pages;
	struct msd_kv_blocks blocks;
	struct msd_kv_sequence **v; /* sorted by id */
	int32_t n;
	uint64_t n_batches; /* batches so far, refused ones included */
	/** Copy the first @n slots of a page in all layers. */
	int (*copy_page)(void *ctx, int32_t from, int32_t to, int32_t n);
	void *ctx;
};

/** Empty table with @n_pages pages; the caller has set the other fields. False: memory
 * is short. */
MSD_MUST_CHECK bool msd_kv_table_init(struct msd_kv_table *t, int32_t n_pages);
void msd_kv_table_finish(struct msd_kv_table *t);
void msd_kv_table_clear(struct msd_kv_table *t);
/** The sequence; NULL with the error raised. */
struct msd_kv_sequence *msd_kv_find(const struct msd_kv_table *t, int64_t id);
int msd_kv_add(struct msd_kv_table *t, int64_t id);
int msd_kv_remove(struct msd_kv_table *t, int64_t id);
/** The new sequence @child begins with the first @at tokens of @parent; -1: all. */
int msd_kv_fork(struct msd_kv_table *t, int64_t parent, int64_t child, int64_t at);
/** Remove the last @n tokens of a sequence. */
int msd_kv_pop(struct msd_kv_table *t, int64_t id, int64_t n);
/** Tokens of all sequences. */
int64_t msd_kv_total(const struct msd_kv_table *t);
/** The blocks of a sequence from the first on, appended to @ret. False: memory. */
MSD_MUST_CHECK bool msd_kv_trace(const struct msd_kv_table *t, int32_t last,
				 struct msd_ints *ret);
void msd_kv_forget_tree(struct msd_kv_sequence *s);

#endif
