#ifndef MSD_STORE_INVENTORY_H
#define MSD_STORE_INVENTORY_H
/*
 * Report the contents of a store as msgpack. The daemon sends it, and a client
 * without a daemon produces the same from the directory. Long lists have pages: each
 * page names its last module, and the next page starts after it.
 */
#include <stdbool.h>

#include "proto/base/bytes.h"
#include "store/store.h"

#define MSD_INVENTORY_PAGE (64u * 1024u) /* bytes; the last module may exceed it */

/**
 * Append {editions: [{module, ref, version, sha256, bytes, pinned, files, options}],
 * after}, with the modules after the name @after, in order. The `after` key is nil on
 * the last page. Errors: MSD_BAD_ARTIFACT (a damaged record), MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_inventory_list(const struct msd_store *s, const char *after,
					  struct msd_buf *out, struct msd_diag *d);
/**
 * Append {faults: [{module, fault}], files, after} for the first module after @after,
 * whose files are read and hashed. Errors: MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_inventory_verify(const struct msd_store *s,
					    const char *after, struct msd_buf *out,
					    struct msd_diag *d);
/**
 * Remove files that no module needs, and append {removed, removed_bytes, kept,
 * kept_bytes}. Errors: those of msd_store_collect().
 */
MSD_MUST_CHECK msd_err msd_inventory_collect(struct msd_store *s, struct msd_buf *out,
					     struct msd_diag *d);
/** Pin or unpin the module @name. MSD_NOT_FOUND, and those of msd_record_save(). */
MSD_MUST_CHECK msd_err msd_inventory_pin(struct msd_store *s, const char *name,
					 bool is_pinned, struct msd_diag *d);

#endif
