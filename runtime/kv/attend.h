#ifndef MSD_RUNTIME_KV_ATTEND_H
#define MSD_RUNTIME_KV_ATTEND_H
/*
 * Attention of one layer during a forward. Tensors are values that the model passes;
 * they are checked against the cache and the batch. Functions that fail raise their
 * error and return -1.
 */
#include "runtime/kv/cache.h"

/** @qkv[tokens, heads of q, k and v, size] to @out[tokens, heads of q, size]. */
int msd_kv_attend_fused(struct msd_kv_cache *c, int64_t layer, double scale,
			const struct msd_any *qkv, const struct msd_any *out);
/** Attention among the new tokens: q, k, v, out, lse. */
int msd_kv_attend_new(struct msd_kv_cache *c, int64_t layer, double scale,
		      const struct msd_any v[5]);
/** Attention of the new tokens to the cached ones: q, out, lse. */
int msd_kv_attend_cached(struct msd_kv_cache *c, int64_t layer, double scale,
			 const struct msd_any v[3]);
/** Attention with the keys and values of another layer: q, k, v, out. */
int msd_kv_attend_shared(struct msd_kv_cache *c, int64_t layer, double scale,
			 const struct msd_any v[4]);
/** Store the latent keys and values of the new tokens. */
int msd_kv_store_mla(struct msd_kv_cache *c, int64_t layer, const struct msd_any *kv);

#endif
