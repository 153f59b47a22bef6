#ifndef MSD_CLI_OBJECTS_H
#define MSD_CLI_OBJECTS_H
/* Builds a loadable library from unlinked output of `export_library`: an object, a C
 * source, or an archive of them. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct msd_cli;

/** True if @file, read from @path, is an ELF object or a C source. */
bool msd_objects_is_one(const char *path, struct msd_span file);
/**
 * Check that the ELF object @file, called @path, is complete: a compiler writes the
 * section table last. Other files always pass. Errors: MSD_BAD_ARTIFACT.
 */
MSD_MUST_CHECK msd_err msd_objects_check_whole(const char *path, struct msd_span file,
					       struct msd_diag *d);
/**
 * Link @file, read from @path, an object or an archive of objects and C sources, with
 * the libraries of @cli, and append the library to @ret. Errors: those of
 * msd_archive_read() and msd_linker_link().
 */
MSD_MUST_CHECK msd_err msd_objects_link(const struct msd_cli *cli, const char *path,
					struct msd_span file, struct msd_buf *ret,
					struct msd_diag *d);

#endif
