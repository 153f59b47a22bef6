/* vm.builtin.attention_kv_cache_* on paged caches. */
#include "artifact/provides/packed.h"
#include "runtime/kv/attend.h"
#include "runtime/kv/checkpoint.h"
#include "runtime/kv/window.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"

static bool cache_at(struct msd_args a, int32_t i, struct msd_kv_cache **ret)
{
	*ret = msd_kv_cache_of(&a.v[i]);
	return *ret != NULL || msd_args_refuse(a, i, "a paged KV cache") == 0;
}

/* @n arguments, the first of them a cache. */
static struct msd_kv_cache *open_args(struct msd_args a, int32_t n)
{
	struct msd_kv_cache *c = NULL;

	return msd_args_count(a, n, n) && cache_at(a, 0, &c) ? c : NULL;
}

/* (cache, sequence, size, sink) */
static int enable_window(void *self, const struct msd_any *args, int32_t n,
			 struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_kv_cache *c = open_args(a, 4);
	int64_t id;
	int64_t size;
	int64_t sink;

	(void)self, (void)ret;
	if (c == NULL || !msd_args_int(a, 1, &id) || !msd_args_int(a, 2, &size) ||
	    !msd_args_int(a, 3, &sink))
		return -1;
	if (!c->table.slides && c->limits.layer_window == 0) {
		return msd_abi_raise("ValueError",
				     "the cache was created without sliding windows");
	}
	return msd_kv_window_enable(&c->table, id, size, sink);
}

/* (cache, sequences, nodes) */
static int accept_nodes(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_kv_cache *c = open_args(a, 3);
	struct msd_shape *ids;
	struct msd_shape *leaves;

	(void)self, (void)ret;
	return c != NULL && msd_args_shape(a, 1, &ids) && msd_args_shape(a, 2, &leaves)
		       ? msd_kv_cache_accept(c, ids, leaves)
		       : -1;
}

/* (cache) -> bool */
static int empty(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	const struct msd_kv_cache *c = open_args((struct msd_args){args, n}, 1);

	(void)self;
	if (c == NULL)
		return -1;
	*ret = msd_bool(c->table.n == 0 &&
			msd_kv_pages_free(&c->table.pages) == c->table.pages.n_total);
	return 0;
}

/* (cache) -> int */
static int available_pages(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	const struct msd_kv_cache *c = open_args((struct msd_args){args, n}, 1);

	(void)self;
	if (c == NULL)
		return -1;
	*ret = msd_int(msd_kv_pages_free(&c->table.pages));
	return 0;
}

/* (cache) -> int */
static int total_length(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	const struct msd_kv_cache *c = open_args((struct msd_args){args, n}, 1);

	(void)self;
	if (c == NULL)
		return -1;
	*ret = msd_int(msd_kv_total(&c->table));
	return 0;
}

/* (cache, sequence) -> int */
static int sequence_length(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	struct msd_args a = {args, n};
	const struct msd_kv_cache *c = open_args(a, 2);
	const struct msd_kv_sequence *s;
	int64_t id;

	(void)self;
	if (c == NULL || !msd_args_int(a, 1, &id) || msd_kv_import_check(c) != 0)
		return -1;
	s = msd_kv_find(&c->table, id);
	if (s == NULL)
		return -1;
	*ret = msd_int(s->length);
	return 0;
}

/* (cache) -> int32 tensor: positions of the forward's tokens */
static int query_positions(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	struct msd_kv_cache *c = open_args((struct msd_args){args, n}, 1);

	(void)self;
	if (c == NULL)
		return -1;
	if (c->batch.q_positions == NULL)
		return msd_abi_raise("RuntimeError", "there was no forward yet");
	const struct msd_any positions = msd_kv_tensor(c->batch.q_positions);
	return msd_return_copy(&positions, ret);
}

/* (cache, sequence, begin, end, tensors...) */
static int read_cached(struct msd_args a, int32_t n_out)
{
	struct msd_kv_cache *c = open_args(a, 4 + n_out);
	int64_t id;
	int64_t begin;
	int64_t end;

	return c != NULL && msd_args_int(a, 1, &id) && msd_args_int(a, 2, &begin) &&
			       msd_args_int(a, 3, &end)
		       ? msd_kv_cache_read(c, id, begin, end, &a.v[4], n_out)
		       : -1;
}

static int debug_get_kv(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	(void)self, (void)ret;
	return read_cached((struct msd_args){args, n}, 2);
}

static int debug_get_kv_mla(void *self, const struct msd_any *args, int32_t n,
			    struct msd_any *ret)
{
	(void)self, (void)ret;
	return read_cached((struct msd_args){args, n}, 1);
}

/* (cache, layer, scale, tensors...) */
static struct msd_kv_cache *open_attention(struct msd_args a, int32_t n_tensors,
					   int64_t *ret_layer, double *ret_scale)
{
	struct msd_kv_cache *c = open_args(a, 3 + n_tensors);

	return c != NULL && msd_args_int(a, 1, ret_layer) &&
			       msd_args_float(a, 2, ret_scale)
		       ? c
		       : NULL;
}

/* (cache, layer, scale, qkv, out) */
static int attention_fused(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	int64_t layer;
	double scale;
	struct msd_kv_cache *c =
		open_attention((struct msd_args){args, n}, 2, &layer, &scale);

	(void)self, (void)ret;
	return c != NULL ? msd_kv_attend_fused(c, layer, scale, &args[3], &args[4])
			 : -1;
}

/* (cache, layer, scale, @n_tensors tensors) */
static int attend(struct msd_args a, int32_t n_tensors,
		  int (*run)(struct msd_kv_cache *c, int64_t layer, double scale,
			     const struct msd_any *tensors))
{
	int64_t layer;
	double scale;
	struct msd_kv_cache *c = open_attention(a, n_tensors, &layer, &scale);

	return c != NULL ? run(c, layer, scale, &a.v[3]) : -1;
}

/* (cache, layer, scale, q, k, v, out, lse) */
static int attention_self(void *self, const struct msd_any *args, int32_t n,
			  struct msd_any *ret)
{
	(void)self, (void)ret;
	return attend((struct msd_args){args, n}, 5, msd_kv_attend_new);
}

/* (cache, layer, scale, q, out, lse) */
static int attention_cross(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	(void)self, (void)ret;
	return attend((struct msd_args){args, n}, 3, msd_kv_attend_cached);
}

/* (cache, layer, scale, q, k, v, out) */
static int attention_shared(void *self, const struct msd_any *args, int32_t n,
			    struct msd_any *ret)
{
	(void)self, (void)ret;
	return attend((struct msd_args){args, n}, 4, msd_kv_attend_shared);
}

/* (cache, layer, kv) -> cache */
static int append_mla(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_kv_cache *c = open_args(a, 3);
	int64_t layer;

	(void)self;
	if (c == NULL || !msd_args_int(a, 1, &layer) ||
	    msd_kv_store_mla(c, layer, &args[2]) != 0)
		return -1;
	return msd_return_copy(&args[0], ret);
}

/* (cache, out, lse, other out, other lse) -> (out, lse): both results as one */
static int merge(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	const struct msd_kv_cache *c = open_args(a, 5);
	struct msd_dltensor *t;
	struct msd_array *both;

	(void)self;
	if (c == NULL)
		return -1;
	for (int32_t i = 1; i < 5; i++) {
		if (!msd_args_host_compact_tensor(a, i, &t))
			return -1;
	}
	if (msd_kv_kernel_call(c, MSD_KV_MERGE_SECOND, &args[1], 4) != 0)
		return -1;
	both = msd_array_new(2);
	if (both == NULL)
		return msd_return_obj(NULL, ret);
	if (!msd_any_copy(&args[1], &both->items[0]) ||
	    !msd_any_copy(&args[2], &both->items[1])) {
		msd_obj_unref(&both->obj);
		return msd_return_obj(NULL, ret);
	}
	return msd_return_obj(&both->obj, ret);
}

const struct msd_global msd_globals_kv_cache[] = MSD_GLOBAL_TABLE(MSD_PACKED_KV_CACHE);
