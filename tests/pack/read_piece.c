#include "tests/pack/read_piece.h"

#include <string.h>

#include "pack/pieces.h"

msd_err read_piece(void *ctx, const char *name, struct msd_buf *ret, struct msd_diag *d)
{
	const struct msd_pieces *pieces = ctx;

	for (size_t i = 0; i < pieces->n; i++) {
		if (strcmp(pieces->piece[i].name, name) != 0)
			continue;
		msd_buf_put(ret, pieces->piece[i].bytes.p, pieces->piece[i].bytes.n);
		return MSD_OK;
	}
	return msd_diag_set(d, MSD_NOT_FOUND, "%s", name);
}
