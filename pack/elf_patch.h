#ifndef MSD_PACK_ELF_PATCH_H
#define MSD_PACK_ELF_PATCH_H
/*
 * Replace the bytes of a data symbol in a linked library. If they fit into the
 * symbol's size, they are written in place. If they do not fit, or are much smaller,
 * the file grows by one read-only segment. It has a longer table of program headers
 * and the bytes, and the symbol points to it; no other address changes. Whole pages
 * of the old bytes are removed from the file: their segment becomes two. A second
 * patch replaces the segment of the first.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/**
 * Append to @ret, which is empty, the library @image with @bytes for symbol @name.
 * Errors: those of msd_elf_read(); MSD_NOT_FOUND: no such data symbol;
 * MSD_UNSUPPORTED: the maximum of program headers is reached; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_elf_patch(struct msd_span image, const char *name,
				     struct msd_span bytes, struct msd_buf *ret,
				     struct msd_diag *d);

#endif
