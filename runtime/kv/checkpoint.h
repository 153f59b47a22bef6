#ifndef MSD_RUNTIME_KV_CHECKPOINT_H
#define MSD_RUNTIME_KV_CHECKPOINT_H
/*
 * Export and import of a sequence's pages: a JSON text describes the cache and the
 * pages, and a tensor for each layer (a group) has their contents.
 *
 * Functions that fail raise their error and return -1.
 */
#include "runtime/kv/cache.h"

/** The text for sequence @id; the hash of what other caches must have in common. */
int msd_kv_export_text(struct msd_kv_cache *c, int64_t id, struct msd_any *ret);
int msd_kv_layout_hash(const struct msd_kv_cache *c, struct msd_any *ret);
/** Copy the pages of a layer into @out. */
int msd_kv_export_group(struct msd_kv_cache *c, int64_t id, int64_t group,
			const struct msd_any *out);
/** Clear the cache and make sequence @id with the pages that @text describes. */
int msd_kv_import_begin(struct msd_kv_cache *c, int64_t id, struct msd_span text);
int msd_kv_import_group(struct msd_kv_cache *c, int64_t id, int64_t group,
			const struct msd_any *in);
/** All groups are there: the sequence may be used. */
int msd_kv_import_end(struct msd_kv_cache *c, int64_t id);
/** An error while an import is in progress. */
int msd_kv_import_check(const struct msd_kv_cache *c);
/** Forget the import in progress. */
void msd_kv_import_drop(struct msd_kv_cache *c);

#endif
