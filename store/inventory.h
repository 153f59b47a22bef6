#ifndef MSD_STORE_INVENTORY_H
#define MSD_STORE_INVENTORY_H
/*
 * What a store holds, told as msgpack: a daemon answers with it, and who looks at a
 * folder without a daemon reads the same. What is long comes in pages: one names the
 * module that it ends with, and the next begins behind that.
 */
#include <stdbool.h>

#include "proto/bytes.h"
#include "store/store.h"

#define MSD_INVENTORY_PAGE (64u * 1024u) /* bytes; a module more may be on it */

/** Append {editions: [{module, ref, version, sha256, bytes, pinned, files, options}],
 * after}: of the modules whose names are behind @after, in their order; `after` is nil
 * on the last page. Errors: MSD_BAD_ARTIFACT (a record that is damaged), MSD_IO,
 * MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_inventory_list(const struct msd_store *s, const char *after,
					  struct msd_buf *out, struct msd_diag *d);
/** Append {faults: [{module, fault}], files, after}: of the first module behind @after,
 * whose files are read and hashed. Errors: MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_inventory_verify(const struct msd_store *s,
					    const char *after, struct msd_buf *out,
					    struct msd_diag *d);
/** Remove what no module needs, and append {removed, removed_bytes, kept, kept_bytes}.
 * Errors: those of msd_store_collect(). */
MSD_MUST_CHECK msd_err msd_inventory_collect(struct msd_store *s, struct msd_buf *out,
					     struct msd_diag *d);
/** Pin the module @name, or unpin it. MSD_NOT_FOUND, and those of msd_record_save(). */
MSD_MUST_CHECK msd_err msd_inventory_pin(struct msd_store *s, const char *name,
					 bool is_pinned, struct msd_diag *d);

#endif
