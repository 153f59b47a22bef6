#ifndef MSD_RUNTIME_KV_CHECKPOINT_TEXT_H
#define MSD_RUNTIME_KV_CHECKPOINT_TEXT_H
/* The text of a checkpoint, in TVM's format: JSON that describes the cache, and the
 * pages of a sequence. */
#include "runtime/kv/cache.h"

/** Append the text for sequence @id of @length tokens. */
void msd_kv_checkpoint_put(const struct msd_kv_cache *c, int64_t id, int64_t length,
			   struct msd_buf *out);
/** Check that @text fits @c. *@ret is the length of its sequence. -1: raised. */
int msd_kv_checkpoint_read(const struct msd_kv_cache *c, int64_t id,
			   struct msd_span text, int64_t *ret);
/** The hash of what other caches must have in common. */
uint64_t msd_kv_checkpoint_hash(const struct msd_kv_cache *c);
/** Pages of @length tokens. */
int64_t msd_kv_checkpoint_pages(const struct msd_kv_cache *c, int64_t length);
/** Bytes of a page in a checkpoint: its keys and values. */
int64_t msd_kv_checkpoint_page_bytes(const struct msd_kv_cache *c);

#endif
