/*
 * A paged cache as an object.
 *
 * Normal path: create checks all sizes, then allocates the pages of each layer and the
 * memory of one forward. The operating system gives memory when it is first used, so
 * pages that no token has reached cost none. Failures: sizes out of bounds, short
 * memory, operations of the table and of kernels.
 */
#include "runtime/kv/cache.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/limits.h"
#include "runtime/kv/checkpoint.h"
#include "runtime/value/error.h"

static struct msd_kv_cache *self_of(struct msd_kv_state *s)
{
	return (struct msd_kv_cache *)(void *)s;
}

static void drop(struct msd_tensor **t)
{
	if (*t != NULL)
		msd_obj_unref(&(*t)->obj);
	*t = NULL;
}

static void views_drop(struct msd_kv_cache *c)
{
	drop(&c->q);
	drop(&c->k);
	drop(&c->v);
	drop(&c->part);
	drop(&c->part_lse);
	drop(&c->lse);
}

static void cache_delete(void *self, int flags)
{
	struct msd_kv_cache *c = self;

	if ((flags & MSD_STRONG_GONE) != 0) {
		msd_kv_import_drop(c);
		msd_kv_batch_finish(&c->batch);
		msd_kv_table_finish(&c->table);
		views_drop(c);
		for (size_t i = 0; i < sizeof(c->work) / sizeof(*c->work); i++)
			msd_obj_unref(c->work[i] != NULL ? &c->work[i]->obj : NULL);
		for (int64_t i = 0; c->pages != NULL && i < c->c.n_layers; i++)
			drop(&c->pages[i]);
		free(c->pages);
		for (size_t i = 0; i < MSD_KV_N_KERNELS; i++) {
			if (c->c.kernels[i] != NULL)
				msd_obj_unref(&c->c.kernels[i]->obj);
		}
		msd_obj_unref(c->c.rope_factors);
		free((void *)(uintptr_t)c->c.kinds);
	}
	if ((flags & MSD_WEAK_GONE) != 0)
		free(c);
}

struct msd_kv_cache *msd_kv_cache_of(const struct msd_any *v)
{
	struct msd_kv_state *s = msd_kv_state_of(v);

	return s != NULL && s->obj.deleter == cache_delete ? self_of(s) : NULL;
}

/* The kernels' names in TVM. */
static const char *const kernel_names[MSD_KV_N_KERNELS] = {
	"attention_prefill_ragged",
	"attention_prefill",
	"attention_decode",
	"attention_prefill_sliding_window",
	"attention_decode_sliding_window",
	"attention_prefill_with_tree_mask_paged_kv",
	"attention_prefill_with_tree_mask",
	"mla_prefill",
	"transpose_append_mha",
	"transpose_append_mla",
	"merge_inplace",
	"second merge_inplace",
	"split_rotary",
	"copy_single_page",
	"debug_get_kv",
	"compact_copy",
};

int msd_kv_kernel_call(const struct msd_kv_cache *c, enum msd_kv_kernel kernel,
		       const struct msd_any *args, int32_t n)
{
	struct msd_function *fn = c->c.kernels[kernel];
	struct msd_any ignored = msd_none();

	if (fn == NULL) {
		return msd_abi_raise("ValueError", "the cache has no kernel %s",
				     kernel_names[kernel]);
	}
	const int rc = fn->call(fn, args, n, &ignored);
	msd_any_drop(&ignored);
	return rc;
}

static int copy_page(void *ctx, int32_t from, int32_t to, int32_t n)
{
	struct msd_kv_cache *c = ctx;

	for (int64_t i = 0; i < c->c.n_layers; i++) {
		const struct msd_any args[] = {msd_kv_tensor(c->pages[i]),
					       msd_int(from), msd_int(to), msd_int(n)};

		if (msd_kv_kernel_call(c, MSD_KV_COPY_PAGE, args, 4) != 0)
			return -1;
	}
	return 0;
}

static void cache_clear(struct msd_kv_state *s)
{
	struct msd_kv_cache *c = self_of(s);

	msd_kv_import_drop(c);
	msd_kv_batch_finish(&c->batch);
	msd_kv_table_clear(&c->table);
}

static int cache_add(struct msd_kv_state *s, int64_t id)
{
	return msd_kv_add(&self_of(s)->table, id);
}

static int cache_remove(struct msd_kv_state *s, int64_t id)
{
	return msd_kv_import_check(self_of(s)) == 0
		       ? msd_kv_remove(&self_of(s)->table, id)
		       : -1;
}

static int cache_fork(struct msd_kv_state *s, int64_t parent, int64_t child, int64_t at)
{
	return msd_kv_import_check(self_of(s)) == 0
		       ? msd_kv_fork(&self_of(s)->table, parent, child, at)
		       : -1;
}

static int cache_pop(struct msd_kv_state *s, int64_t id, int64_t n)
{
	return msd_kv_import_check(self_of(s)) == 0
		       ? msd_kv_pop(&self_of(s)->table, id, n)
		       : -1;
}

/* A tensor of the forward over the memory @i. */
static struct msd_tensor *work_view(const struct msd_kv_cache *c, size_t i,
				    struct msd_dtype dtype, int64_t heads, int64_t dim)
{
	const int64_t shape[] = {c->batch.total, heads, dim};
	const struct msd_storage *s = c->work[i];

	return msd_tensor_view(s->data, s->device, dtype, shape, dim < 0 ? 2 : 3,
			       &c->work[i]->obj, NULL, NULL);
}

static bool views_make(struct msd_kv_cache *c)
{
	const struct msd_dtype float32 = {MSD_DT_FLOAT, 32, 1};
	const struct msd_dtype own = c->c.dtype;

	views_drop(c);
	c->q = work_view(c, 0, own, c->c.q_heads, c->c.qk_dim);
	c->k = work_view(c, 1, own, c->c.kv_heads, c->c.qk_dim);
	c->v = work_view(c, 2, own, c->c.kv_heads, c->c.qk_dim);
	c->part = work_view(c, 3, own, c->c.q_heads, c->c.v_dim);
	c->part_lse = work_view(c, 4, float32, c->c.q_heads, -1);
	c->lse = work_view(c, 5, float32, c->c.q_heads, -1);
	return c->q != NULL && c->k != NULL && c->v != NULL && c->part != NULL &&
	       c->part_lse != NULL && c->lse != NULL;
}

static int cache_begin(struct msd_kv_state *s, const struct msd_kv_request *r)
{
	struct msd_kv_cache *c = self_of(s);

	if (c->batch.is_open) {
		return msd_abi_raise("RuntimeError",
				     "a forward is open: call "
				     "vm.builtin.kv_state_end_forward first");
	}
	if (msd_kv_import_check(c) != 0 ||
	    msd_kv_batch_begin(&c->table, &c->limits, r, &c->batch) != 0)
		return -1;
	if (views_make(c))
		return 0;
	c->batch.is_open = false;
	return msd_abi_no_memory();
}

static int cache_end(struct msd_kv_state *s)
{
	struct msd_kv_cache *c = self_of(s);

	if (!c->batch.is_open) {
		return msd_abi_raise("RuntimeError",
				     "no forward is open: call "
				     "vm.builtin.kv_state_begin_forward first");
	}
	c->batch.is_open = false;
	return 0;
}

static const struct msd_kv_state_ops ops = {
	.clear = cache_clear,
	.add = cache_add,
	.remove = cache_remove,
	.fork = cache_fork,
	.pop = cache_pop,
	.begin = cache_begin,
	.end = cache_end,
};

/* A number of the configuration. */
static bool within(const char *name, int64_t v, int64_t min, int64_t max)
{
	if (v >= min && v <= max)
		return true;
	(void)msd_abi_raise("ValueError",
			    "%s is %" PRId64 ": expected %" PRId64 " to %" PRId64, name,
			    v, min, max);
	return false;
}

/* Pages that the cache has: TVM's number, which callers see. */
static int64_t n_pages_of(const struct msd_kv_config *g)
{
	const int64_t n = (g->max_total + g->page_size - 1) / g->page_size + 1;

	return g->has_windows ? n + 2 * g->max_sequences : n;
}

static bool has_kind(const struct msd_kv_config *g, enum msd_kv_kind kind)
{
	for (size_t i = 0; i < g->n_kinds; i++) {
		if (g->kinds[i] == (int64_t)kind)
			return true;
	}
	return false;
}

static bool kinds_check(const struct msd_kv_config *g)
{
	if (g->first_layer > (int64_t)g->n_kinds ||
	    g->n_layers > (int64_t)g->n_kinds - g->first_layer) {
		(void)msd_abi_raise(
			"ValueError",
			"layers %" PRId64 " to %" PRId64 ", but kinds of %zu layers",
			g->first_layer, g->first_layer + g->n_layers - 1, g->n_kinds);
		return false;
	}
	for (size_t i = 0; i < g->n_kinds; i++) {
		if (!within("the kind of a layer", g->kinds[i], MSD_KV_MHA,
			    MSD_KV_MHA_WINDOW))
			return false;
	}
	if (g->has_windows && has_kind(g, MSD_KV_MLA) &&
	    !has_kind(g, MSD_KV_MHA_WINDOW)) {
		(void)msd_abi_raise("ValueError",
				    "latent attention has no sliding windows");
		return false;
	}
	return true;
}

static bool config_check(const struct msd_kv_config *g)
{
	if (!within("the number of sequences", g->max_sequences, 1,
		    MSD_KV_MAX_SEQUENCES) ||
	    !within("the number of tokens", g->max_total, 0, INT32_MAX / 2) ||
	    !within("the tokens of a batch", g->max_tokens, 1, INT32_MAX / 2) ||
	    !within("the page size", g->page_size, 1, INT32_MAX / 2) ||
	    !within("the layer window", g->layer_window, 1, INT32_MAX) ||
	    !within("the first layer", g->first_layer, 0, MSD_KV_MAX_LAYERS) ||
	    !within("the number of layers", g->n_layers, 1, MSD_KV_MAX_LAYERS) ||
	    !within("the number of heads", g->q_heads, 1, 65536) ||
	    !within("the number of key heads", g->kv_heads, 1, 65536) ||
	    !within("the size of a key", g->qk_dim, 1, 65536) ||
	    !within("the size of a value", g->v_dim, 1, 65536) ||
	    !within("the rope mode", g->rope, MSD_KV_ROPE_NONE, MSD_KV_ROPE_INLINE) ||
	    !kinds_check(g))
		return false;
	if (!within("the number of slots", n_pages_of(g) * g->page_size, 1, INT32_MAX))
		return false;
	if (g->rope_factors != NULL && g->rope != MSD_KV_ROPE_NORMAL) {
		(void)msd_abi_raise("ValueError",
				    "factors of rotary embedding need the normal mode");
		return false;
	}
	return true;
}

/* Take a reference to everything that @c->c names; false if memory is short. */
static bool config_keep(struct msd_kv_cache *c, const struct msd_kv_config *g)
{
	int64_t *kinds = calloc(g->n_kinds + 1, sizeof(*kinds));

	c->c = *g;
	c->c.kinds = kinds;
	if (kinds != NULL && g->n_kinds > 0)
		memcpy(kinds, g->kinds, g->n_kinds * sizeof(*kinds));
	for (size_t i = 0; i < MSD_KV_N_KERNELS; i++) {
		if (g->kernels[i] != NULL)
			msd_obj_ref(&g->kernels[i]->obj);
	}
	if (g->rope_factors == NULL)
		return kinds != NULL;
	msd_obj_ref(g->rope_factors);
	/* they may be in memory of this call */
	return msd_tensor_keep(g->rope_factors, true) && kinds != NULL;
}

static void free_pages(void *ctx, void *data)
{
	(void)data;
	free(ctx);
}

/* Pages of zeros. calloc() leaves large memory untouched. */
static struct msd_tensor *pages_new(const struct msd_kv_config *g, int64_t layer)
{
	const int64_t n = n_pages_of(g);
	const int64_t mha[] = {n, 2, g->kv_heads, g->page_size, g->qk_dim};
	const int64_t mla[] = {n, g->page_size, g->qk_dim};
	const int64_t linear[] = {g->max_sequences, g->kv_heads, g->qk_dim, g->v_dim};
	const enum msd_kv_kind kind =
		(enum msd_kv_kind)g->kinds[g->first_layer + layer];
	const bool is_mla = kind == MSD_KV_MLA;
	const int64_t *shape = is_mla ? mla : kind == MSD_KV_LINEAR ? linear : mha;
	const size_t ndim = is_mla ? 3 : kind == MSD_KV_LINEAR ? 4 : 5;
	const struct msd_device cpu = {.type = MSD_DEV_CPU};
	struct msd_tensor *t;
	uint64_t elements;
	uint64_t bytes;

	if (!msd_shape_elements(shape, ndim, &elements) ||
	    !msd_dtype_bytes(g->dtype, elements, &bytes) ||
	    bytes > SIZE_MAX - 2 * MSD_TENSOR_ALIGN)
		return NULL;
	char *p = calloc(1, (size_t)bytes + MSD_TENSOR_ALIGN);
	if (p == NULL)
		return NULL;
	char *data = p + (MSD_TENSOR_ALIGN - (uintptr_t)p % MSD_TENSOR_ALIGN);
	t = msd_tensor_view(data, cpu, g->dtype, shape, ndim, NULL, free_pages, p);
	if (t == NULL)
		free(p);
	return t;
}

static bool work_new(struct msd_kv_cache *c)
{
	const struct msd_dtype float32 = {MSD_DT_FLOAT, 32, 1};
	const struct {
		int64_t heads;
		int64_t dim;
		struct msd_dtype dtype;
	} work[] = {{c->c.q_heads, c->c.qk_dim, c->c.dtype},
		    {c->c.kv_heads, c->c.qk_dim, c->c.dtype},
		    {c->c.kv_heads, c->c.qk_dim, c->c.dtype},
		    {c->c.q_heads, c->c.v_dim, c->c.dtype},
		    {c->c.q_heads, 1, float32},
		    {c->c.q_heads, 1, float32}};

	for (size_t i = 0; i < sizeof(work) / sizeof(*work); i++) {
		const int64_t shape[] = {c->c.max_tokens, work[i].heads, work[i].dim};
		uint64_t n;
		uint64_t bytes;

		if (!msd_shape_elements(shape, 3, &n) ||
		    !msd_dtype_bytes(work[i].dtype, n, &bytes) || bytes > SIZE_MAX)
			return false;
		c->work[i] = msd_storage_new((size_t)bytes);
		if (c->work[i] == NULL)
			return false;
	}
	return true;
}

static bool memory_new(struct msd_kv_cache *c)
{
	c->pages = calloc((size_t)c->c.n_layers, sizeof(struct msd_tensor *));
	if (c->pages == NULL ||
	    !msd_kv_table_init(&c->table, (int32_t)n_pages_of(&c->c)))
		return false;
	for (int64_t i = 0; i < c->c.n_layers; i++) {
		c->pages[i] = pages_new(&c->c, i);
		if (c->pages[i] == NULL)
			return false;
	}
	return work_new(c);
}

/* Set the fields that the configuration implies. */
static void modes_set(struct msd_kv_cache *c)
{
	const bool has_layer_windows = has_kind(&c->c, MSD_KV_MHA_WINDOW);
	const bool slides = c->c.has_windows && !has_layer_windows;

	if (c->c.has_windows && c->c.rope != MSD_KV_ROPE_NONE)
		c->c.rope = MSD_KV_ROPE_INLINE;
	c->limits = (struct msd_kv_limits){
		.max_tokens = c->c.max_tokens,
		.layer_window = has_layer_windows ? c->c.layer_window : 0,
		.may_tree = !slides && c->c.rope != MSD_KV_ROPE_INLINE &&
			    c->c.kinds[0] != MSD_KV_MLA};
	c->table.page_size = (int32_t)c->c.page_size;
	c->table.max_sequences = (int32_t)c->c.max_sequences;
	c->table.slides = slides;
	c->table.copy_page = copy_page;
	c->table.ctx = c;
}

struct msd_kv_cache *msd_kv_cache_new(const struct msd_kv_config *config)
{
	struct msd_kv_cache *c;

	if (!config_check(config))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (c == NULL) {
		(void)msd_abi_no_memory();
		return NULL;
	}
	msd_kv_state_init(&c->state, MSD_KV_PAGED, &ops, cache_delete);
	if (config_keep(c, config)) {
		modes_set(c);
		if (memory_new(c))
			return c;
	}
	(void)msd_abi_raise_code(MSD_NOMEM,
				 "out of memory for a cache of %" PRId64
				 " layers, %" PRId64 " pages",
				 config->n_layers, n_pages_of(config));
	msd_obj_unref(&c->state.obj);
	return NULL;
}

bool msd_kv_cache_slots(const struct msd_kv_cache *c, const struct msd_kv_sequence *s,
			struct msd_ints *ret)
{
	const int32_t size = c->table.page_size;
	struct msd_ints trace = {0};
	bool is_ok = msd_kv_trace(&c->table, s->last, &trace);

	for (size_t i = 0; is_ok && i < trace.n; i++) {
		const struct msd_kv_block *b =
			msd_kv_block_at(&c->table.blocks, trace.v[i]);

		for (int32_t j = 0; is_ok && j < b->length; j++) {
			const int32_t at = j < b->sink ? j : j - b->sink + b->offset;

			is_ok = (size_t)(at / size) < b->pages.n
					? msd_ints_push(ret,
							b->pages.v[at / size] * size +
								at % size)
					: msd_ints_push(ret, 0);
		}
	}
	msd_ints_finish(&trace);
	return is_ok;
}
