#ifndef MSD_CLI_OBJECTS_H
#define MSD_CLI_OBJECTS_H
/* What `export_library` leaves without a linker: an object, a C source, or an archive
 * of them, made into a library that a daemon loads. */
#include "proto/bytes.h"
#include "proto/diag.h"

struct msd_cli;

/** Is @file, read from @path, an ELF object or a C source? */
bool msd_objects_is_one(const char *path, struct msd_span file);
/** Whether the ELF object @file, called @path, has all that its header names: the last
 * bytes of what a compiler writes are its table of sections. Other files are fine.
 * Errors: MSD_BAD_ARTIFACT. */
MSD_MUST_CHECK msd_err msd_objects_check_whole(const char *path, struct msd_span file,
					       struct msd_diag *d);
/** Link @file, read from @path, an object or an archive of objects and C sources, with
 * the libraries of @cli, to a library, which is appended to @ret. Errors: those of
 * msd_archive_read() and msd_linker_link(). */
MSD_MUST_CHECK msd_err msd_objects_link(const struct msd_cli *cli, const char *path,
					struct msd_span file, struct msd_buf *ret,
					struct msd_diag *d);

#endif
