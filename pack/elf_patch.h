#ifndef MSD_PACK_ELF_PATCH_H
#define MSD_PACK_ELF_PATCH_H
/*
 * Other bytes behind a data symbol of a linked library. Where they fit into the
 * symbol's size they are written in place. Otherwise the file grows by one read-only
 * segment, which holds a longer table of program headers and the bytes, and the symbol
 * is pointed to it; no other address changes. So it is, too, where much less is to be
 * written. Whole pages of the old bytes leave the file: their segment becomes two. A
 * library that was patched so before has its old segment replaced.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

/**
 * Append to @ret, which is empty, the library @image with @bytes behind symbol @name.
 * Errors: those of msd_elf_read(); MSD_NOT_FOUND: no such data symbol; MSD_UNSUPPORTED:
 * as many program headers as there can be; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_elf_patch(struct msd_span image, const char *name,
				     struct msd_span bytes, struct msd_buf *ret,
				     struct msd_diag *d);

#endif
