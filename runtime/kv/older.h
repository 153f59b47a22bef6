#ifndef MSD_RUNTIME_KV_OLDER_H
#define MSD_RUNTIME_KV_OLDER_H
/*
 * The older attention cache (TVM's AttentionKVCacheLegacy): one tensor that grows along
 * its first axis, or that is overwritten in turns when it has reached a size.
 *
 * Functions that fail raise their error and return -1.
 */
#include "runtime/value/value.h"

struct msd_kv_older {
	struct msd_obj obj;
	struct msd_tensor *data;
	int64_t n;    /* rows that are filled */
	int64_t next; /* row that is overwritten next */
};

/** A cache with room for @shape and the rows of @init, of which it counts @n; -1: all.
 */
int msd_kv_older_new(const struct msd_dltensor *init, const struct msd_shape *shape,
		     int64_t n, struct msd_any *ret);
/** The cache in @v, or NULL. */
struct msd_kv_older *msd_kv_older_of(const struct msd_any *v);
int msd_kv_older_append(struct msd_kv_older *c, const struct msd_dltensor *v);
/** Replace all rows by @v, which has as many. */
int msd_kv_older_update(struct msd_kv_older *c, const struct msd_dltensor *v);
/** Append @v; from @max rows on, overwrite the oldest rows behind the first @sinks. */
int msd_kv_older_override(struct msd_kv_older *c, const struct msd_dltensor *v,
			  int64_t max, int64_t sinks);
/** The filled rows as a view; @shape NULL: the cache's own shape. */
int msd_kv_older_view(const struct msd_kv_older *c, const struct msd_shape *shape,
		      struct msd_any *ret);
int msd_kv_older_pop(struct msd_kv_older *c, int64_t n);
void msd_kv_older_clear(struct msd_kv_older *c);

#endif
