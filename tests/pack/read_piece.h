#ifndef TESTS_PACK_READ_PIECE_H
#define TESTS_PACK_READ_PIECE_H

#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/** A manifest's files out of memory: @ctx is the struct msd_pieces that has them. */
msd_err read_piece(void *ctx, const char *name, struct msd_buf *ret,
		   struct msd_diag *d);

#endif
