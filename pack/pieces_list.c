/* The files of an unpacked module, in creation order. */
#include <stdio.h>
#include <stdlib.h>

#include "pack/pieces.h"
#include "proto/base/grow.h"

msd_err msd_pieces_take(struct msd_pieces *pieces, const char *stem, const char *suffix,
			struct msd_buf *bytes, struct msd_diag *d)
{
	char *name = NULL;

	if (bytes->bad ||
	    !msd_grow(&pieces->piece, pieces->n, sizeof(*pieces->piece)) ||
	    asprintf(&name, "%s%s", stem, suffix) < 0) {
		msd_buf_finish(bytes);
		return msd_diag_no_memory(d);
	}
	pieces->piece[pieces->n++] = (struct msd_piece){
		.name = name, .bytes = {bytes->p, bytes->n}, .owned = *bytes};
	*bytes = (struct msd_buf){0};
	return MSD_OK;
}

msd_err msd_pieces_add(struct msd_pieces *pieces, const char *stem, const char *suffix,
		       struct msd_span bytes, struct msd_diag *d)
{
	struct msd_buf none = {0};
	msd_err err = msd_pieces_take(pieces, stem, suffix, &none, d);

	if (err == MSD_OK)
		pieces->piece[pieces->n - 1].bytes = bytes;
	return err;
}

void msd_pieces_cut(struct msd_pieces *pieces, size_t n)
{
	while (pieces->n > n) {
		struct msd_piece *last = &pieces->piece[--pieces->n];

		free(last->name);
		msd_buf_finish(&last->owned);
	}
}

void msd_pieces_finish(struct msd_pieces *pieces)
{
	if (pieces == NULL)
		return;
	msd_pieces_cut(pieces, 0);
	free(pieces->piece);
	*pieces = (struct msd_pieces){0};
}
