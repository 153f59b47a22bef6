#ifndef MSD_RUNTIME_KV_CACHE_H
#define MSD_RUNTIME_KV_CACHE_H
/*
 * A paged cache of attention keys and values (TVM's PagedAttentionKVCache). The table
 * of sequences decides where a token is stored; the model's own kernels store and read
 * the tokens. On the CPU only.
 *
 * Functions that fail raise their error and return -1.
 */
#include "runtime/kv/state.h"

#define MSD_KV_MAX_LAYERS 4096
#define MSD_KV_MAX_SEQUENCES 65536

enum msd_kv_kind { MSD_KV_MHA, MSD_KV_MLA, MSD_KV_LINEAR, MSD_KV_MHA_WINDOW };
enum msd_kv_rope { MSD_KV_ROPE_NONE, MSD_KV_ROPE_NORMAL, MSD_KV_ROPE_INLINE };

/* The model's kernels; optional ones may be NULL. */
enum msd_kv_kernel {
	MSD_KV_PREFILL_NEW, /* new tokens among themselves */
	MSD_KV_PREFILL,     /* new tokens to cached ones */
	MSD_KV_DECODE,
	MSD_KV_PREFILL_WINDOW,
	MSD_KV_DECODE_WINDOW,
	MSD_KV_TREE_CACHED,
	MSD_KV_TREE_NEW,
	MSD_KV_PREFILL_MLA,
	MSD_KV_STORE,
	MSD_KV_STORE_MLA,
	MSD_KV_MERGE,
	MSD_KV_MERGE_SECOND, /* for two results of the model's own */
	MSD_KV_SPLIT_ROTARY,
	MSD_KV_COPY_PAGE,
	MSD_KV_DEBUG_READ,
	MSD_KV_COMPACT,
	MSD_KV_N_KERNELS
};

struct msd_kv_config {
	int64_t max_sequences;
	int64_t max_total;  /* tokens of all sequences */
	int64_t max_tokens; /* of a batch */
	int64_t page_size;
	bool has_windows; /* of sequences */
	int64_t layer_window;
	int64_t first_layer;
	int64_t n_layers;
	int64_t q_heads;
	int64_t kv_heads;
	int64_t qk_dim;
	int64_t v_dim;
	const int64_t *kinds; /* enum msd_kv_kind of each layer */
	size_t n_kinds;
	int64_t rope;
	double rope_scale;
	double rope_theta;
	struct msd_obj *rope_factors; /* a tensor, or NULL */
	struct msd_dtype dtype;
	struct msd_function *kernels[MSD_KV_N_KERNELS];
};

struct msd_kv_cache {
	struct msd_kv_state state;
	struct msd_kv_config c; /* owns kinds and references */
	struct msd_kv_limits limits;
	struct msd_kv_table table;
	struct msd_kv_batch batch;
	struct msd_tensor **pages; /* of each layer */
	/* Memory of one forward. */
	struct msd_storage *work[6];
	struct msd_tensor *q;
	struct msd_tensor *k;
	struct msd_tensor *v;
	struct msd_tensor *part;      /* result of one kernel */
	struct msd_tensor *part_lse;  /* logarithms of its sums */
	struct msd_tensor *lse;       /* the same for all kernels so far */
	struct msd_kv_import *import; /* NULL: none in progress (checkpoint.h) */
};

/** NULL with the error raised. Copies kinds and takes references of its own. */
struct msd_kv_cache *msd_kv_cache_new(const struct msd_kv_config *config);
/** The paged cache in @v, or NULL. */
struct msd_kv_cache *msd_kv_cache_of(const struct msd_any *v);
/** Call a kernel. Its absence is an error that names @what. */
int msd_kv_kernel_call(const struct msd_kv_cache *c, enum msd_kv_kernel kernel,
		       const struct msd_any *args, int32_t n);
static inline struct msd_any msd_kv_tensor(struct msd_tensor *t)
{
	return (struct msd_any){.type = MSD_T_TENSOR, .as.obj = &t->obj};
}
/** Accept the path to node @leaves[i] of each sequence's token tree; -1: none. */
int msd_kv_cache_accept(struct msd_kv_cache *c, const struct msd_shape *ids,
			const struct msd_shape *leaves);
/** Read keys and values of positions @begin to @end of a sequence into @out, one or two
 * tensors. */
int msd_kv_cache_read(struct msd_kv_cache *c, int64_t id, int64_t begin, int64_t end,
		      const struct msd_any *out, int32_t n_out);
/** The slots in the pages of all tokens of a sequence. False: memory is short. */
MSD_MUST_CHECK bool msd_kv_cache_slots(const struct msd_kv_cache *c,
				       const struct msd_kv_sequence *s,
				       struct msd_ints *ret);

#endif
