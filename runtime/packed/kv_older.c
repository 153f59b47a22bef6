/* vm.builtin.attention_kv_cache_* on caches of the older kind. */
#include "artifact/provides/packed.h"
#include "runtime/kv/older.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"

/* (first value, shape, filled rows or -1) -> cache */
static int create(void *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_dltensor *init;
	struct msd_shape *shape;
	int64_t filled;

	(void)self;
	return msd_args_count(a, 3, 3) && msd_args_host_compact_tensor(a, 0, &init) &&
			       msd_args_shape(a, 1, &shape) &&
			       msd_args_int(a, 2, &filled)
		       ? msd_kv_older_new(init, shape, filled, ret)
		       : -1;
}

/* (cache, rows, ...) */
static struct msd_kv_older *open_args(struct msd_args a, int32_t n,
				      struct msd_dltensor **ret_rows)
{
	struct msd_kv_older *c;

	if (!msd_args_count(a, n, n))
		return NULL;
	c = msd_kv_older_of(&a.v[0]);
	if (c == NULL) {
		(void)msd_args_refuse(a, 0, "an attention KV cache");
		return NULL;
	}
	return msd_args_host_compact_tensor(a, 1, ret_rows) ? c : NULL;
}

static int return_cache(struct msd_args a, int rc, struct msd_any *ret)
{
	return rc == 0 ? msd_return_copy(&a.v[0], ret) : -1;
}

/* (cache, rows) -> cache */
static int append(void *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_dltensor *rows;
	struct msd_kv_older *c = open_args(a, 2, &rows);

	(void)self;
	return return_cache(a, c != NULL ? msd_kv_older_append(c, rows) : -1, ret);
}

/* (cache, rows) -> cache */
static int update(void *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_dltensor *rows;
	struct msd_kv_older *c = open_args(a, 2, &rows);

	(void)self;
	return return_cache(a, c != NULL ? msd_kv_older_update(c, rows) : -1, ret);
}

static int override(struct msd_args a, int32_t n_args, struct msd_any *ret)
{
	struct msd_dltensor *rows;
	struct msd_kv_older *c = open_args(a, n_args, &rows);
	int64_t max;
	int64_t sinks = 0;

	if (c == NULL || !msd_args_int(a, 2, &max) ||
	    (n_args == 4 && !msd_args_int(a, 3, &sinks)))
		return -1;
	return return_cache(a, msd_kv_older_override(c, rows, max, sinks), ret);
}

/* (cache, rows, size) -> cache */
static int window_override(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	(void)self;
	return override((struct msd_args){args, n}, 3, ret);
}

/* (cache, rows, size, sinks) -> cache */
static int window_override_sinks(void *self, const struct msd_any *args, int32_t n,
				 struct msd_any *ret)
{
	(void)self;
	return override((struct msd_args){args, n}, 4, ret);
}

/* (cache[, shape]) -> tensor */
static int view(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_shape *shape = NULL;
	const struct msd_kv_older *c;

	(void)self;
	if (!msd_args_count(a, 1, 2))
		return -1;
	c = msd_kv_older_of(&args[0]);
	if (c == NULL)
		return msd_args_refuse(a, 0, "an attention KV cache");
	if (n == 2 && !msd_args_shape(a, 1, &shape))
		return -1;
	return msd_kv_older_view(c, shape, ret);
}

/* A tuple of caches. */
static struct msd_array *caches_at(struct msd_args a, int32_t n)
{
	struct msd_array *all;

	if (!msd_args_count(a, n, n) || !msd_args_tuple(a, 0, &all))
		return NULL;
	for (int64_t i = 0; i < all->size; i++) {
		if (msd_kv_older_of(&all->items[i]) == NULL) {
			(void)msd_args_refuse(a, 0, "a tuple of attention KV caches");
			return NULL;
		}
	}
	return all;
}

/* (caches, number of rows) */
static int array_popn(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_array *all = caches_at(a, 2);
	int64_t rows;

	(void)self, (void)ret;
	if (all == NULL || !msd_args_int(a, 1, &rows))
		return -1;
	for (int64_t i = 0; i < all->size; i++) {
		if (msd_kv_older_pop(msd_kv_older_of(&all->items[i]), rows) != 0)
			return -1;
	}
	return 0;
}

/* (caches) */
static int array_clear(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	struct msd_array *all = caches_at((struct msd_args){args, n}, 1);

	(void)self, (void)ret;
	if (all == NULL)
		return -1;
	for (int64_t i = 0; i < all->size; i++)
		msd_kv_older_clear(msd_kv_older_of(&all->items[i]));
	return 0;
}

const struct msd_global msd_globals_kv_older[] = MSD_GLOBAL_TABLE(MSD_PACKED_KV_OLDER);
