#ifndef MSD_PACK_PIECES_H
#define MSD_PACK_PIECES_H
/*
 * A module's payload taken apart into files that people can open, and put together
 * again. What an unpacked module is stands in its entry of the manifest, a JSON object:
 * its fields, and for every file its name.
 */
#include <jansson.h>

#include "artifact/elf/era.h"

/* The files of an unpacked library. */
struct msd_piece {
	char *name;            /* owned */
	struct msd_span bytes; /* borrowed, or those of @owned */
	struct msd_buf owned;
};
struct msd_pieces {
	struct msd_piece *piece; /* owned */
	size_t n;
};

/** Add a file called @stem@suffix; *@bytes is borrowed. */
MSD_MUST_CHECK msd_err msd_pieces_add(struct msd_pieces *pieces, const char *stem,
				      const char *suffix, struct msd_span bytes,
				      struct msd_diag *d);
/** The same with a buffer, which is taken, on failure too. */
MSD_MUST_CHECK msd_err msd_pieces_take(struct msd_pieces *pieces, const char *stem,
				       const char *suffix, struct msd_buf *bytes,
				       struct msd_diag *d);
/** Drop all but the first @n. */
void msd_pieces_cut(struct msd_pieces *pieces, size_t n);
void msd_pieces_finish(struct msd_pieces *pieces); /* NULL and zeroed are fine */

/* Where files come from when a module is put together. */
struct msd_piece_source {
	/** Append the file called @name to @ret, which is empty and finished by the
	 * caller. Errors: any. */
	msd_err (*read)(void *ctx, const char *name, struct msd_buf *ret,
			struct msd_diag *d);
	void *ctx;
};

/**
 * Take @payload of a module of @kind apart: fields into the object @entry, files into
 * @files, called @stem with an ending. A payload whose pieces would not make the same
 * bytes again is one file. Files borrow from @payload. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_payload_split(struct msd_span kind, struct msd_span payload,
					 enum msd_era era, const char *stem,
					 json_t *entry, struct msd_pieces *files,
					 struct msd_diag *d);
/**
 * Append the payload that @entry describes to @out. Errors: MSD_BAD_ARTIFACT: a field
 * that is missing or wrong, which the text names; those of the source; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_payload_join(struct msd_span kind, const json_t *entry,
					enum msd_era era,
					const struct msd_piece_source *source,
					struct msd_buf *out, struct msd_diag *d);

#endif
