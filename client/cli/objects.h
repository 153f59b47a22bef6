#ifndef MSD_CLI_OBJECTS_H
#define MSD_CLI_OBJECTS_H
/* What `export_library` leaves without a linker: an object file, or an archive of
 * objects and C sources, made into a library that a daemon loads. */
#include "proto/bytes.h"
#include "proto/diag.h"

/** Is @file an ELF object? */
bool msd_objects_is_one(struct msd_span file);
/** Link @file, an object or an archive of objects and C sources,, to a library, which
 * is appended to @ret. Errors: those of msd_archive_read() and msd_linker_link(). */
MSD_MUST_CHECK msd_err msd_objects_link(struct msd_span file, struct msd_buf *ret,
					struct msd_diag *d);

#endif
