/* vm.builtin.* that export a sequence of a paged cache and import it. Functions that
 * move pages between machines need NVSHMEM and are refused. */
#include "artifact/provides/packed.h"
#include "runtime/kv/checkpoint.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"

/* (cache[, sequence[, ...]]) */
static struct msd_kv_cache *open_args(struct msd_args a, int32_t n, int64_t *ret_id)
{
	struct msd_kv_cache *c;

	if (!msd_args_count(a, n, n))
		return NULL;
	c = msd_kv_cache_of(&a.v[0]);
	if (c == NULL) {
		(void)msd_args_refuse(a, 0, "a paged KV cache");
		return NULL;
	}
	return n == 1 || msd_args_int(a, 1, ret_id) ? c : NULL;
}

/* (cache, sequence) -> str */
static int export_text(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	int64_t id;
	struct msd_kv_cache *c = open_args((struct msd_args){args, n}, 2, &id);

	(void)self;
	return c != NULL ? msd_kv_export_text(c, id, ret) : -1;
}

/* (cache) -> str */
static int layout_hash(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	const struct msd_kv_cache *c = open_args((struct msd_args){args, n}, 1, NULL);

	(void)self;
	return c != NULL ? msd_kv_layout_hash(c, ret) : -1;
}

/* (cache, sequence, group, tensor) */
static int move_group(struct msd_args a,
		      int (*move)(struct msd_kv_cache *c, int64_t id, int64_t group,
				  const struct msd_any *tensor))
{
	int64_t id;
	struct msd_kv_cache *c = open_args(a, 4, &id);
	int64_t group;

	return c != NULL && msd_args_int(a, 2, &group) ? move(c, id, group, &a.v[3])
						       : -1;
}

/* (cache, sequence, group, out) */
static int export_group(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	(void)self, (void)ret;
	return move_group((struct msd_args){args, n}, msd_kv_export_group);
}

/* (cache, sequence, text) */
static int prepare_import(void *self, const struct msd_any *args, int32_t n,
			  struct msd_any *ret)
{
	struct msd_args a = {args, n};
	int64_t id;
	struct msd_kv_cache *c = open_args(a, 3, &id);
	struct msd_span text;

	(void)self, (void)ret;
	if (c == NULL)
		return -1;
	if (!msd_any_str(&args[2], &text))
		return msd_args_refuse(a, 2, "a str");
	return msd_kv_import_begin(c, id, text);
}

/* (cache, sequence, group, in) */
static int import_group(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	(void)self, (void)ret;
	return move_group((struct msd_args){args, n}, msd_kv_import_group);
}

/* (cache, sequence) */
static int finish_import(void *self, const struct msd_any *args, int32_t n,
			 struct msd_any *ret)
{
	int64_t id;
	struct msd_kv_cache *c = open_args((struct msd_args){args, n}, 2, &id);

	(void)self, (void)ret;
	return c != NULL ? msd_kv_import_end(c, id) : -1;
}

static int refuse_transfer(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	(void)self, (void)args, (void)n, (void)ret;
	return msd_abi_raise_code(
		MSD_UNSUPPORTED,
		"pages are not transferred between machines here: that "
		"needs NVSHMEM");
}

const struct msd_global msd_globals_kv_checkpoint[] =
	MSD_GLOBAL_TABLE(MSD_PACKED_KV_CHECKPOINT);
