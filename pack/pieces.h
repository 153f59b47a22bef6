#ifndef MSD_PACK_PIECES_H
#define MSD_PACK_PIECES_H
/*
 * Split a module's payload into files that users can open, and join them again. The
 * manifest entry of an unpacked module, a JSON object, has its fields and the names
 * of its files.
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
/** The same with a buffer; takes ownership, on failure too. */
MSD_MUST_CHECK msd_err msd_pieces_take(struct msd_pieces *pieces, const char *stem,
				       const char *suffix, struct msd_buf *bytes,
				       struct msd_diag *d);
/** Drop all except the first @n. */
void msd_pieces_cut(struct msd_pieces *pieces, size_t n);
void msd_pieces_finish(struct msd_pieces *pieces); /* NULL and zeroed are allowed */

/* Source of the files when a module is joined. */
struct msd_piece_source {
	/** Append the file called @name to @ret, which is empty and finished by the
	 * caller. Errors: any. */
	msd_err (*read)(void *ctx, const char *name, struct msd_buf *ret,
			struct msd_diag *d);
	void *ctx;
};

/**
 * Split @payload of a module of @kind: fields into the object @entry, files into
 * @files, called @stem with a suffix. A payload whose pieces do not give the same
 * bytes again becomes one file. Files borrow from @payload. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_payload_split(struct msd_span kind, struct msd_span payload,
					 enum msd_era era, const char *stem,
					 json_t *entry, struct msd_pieces *files,
					 struct msd_diag *d);
/**
 * Append the payload that @entry describes to @out. Errors: MSD_BAD_ARTIFACT: a field
 * is missing or invalid, the text names it; those of the source; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_payload_join(struct msd_span kind, const json_t *entry,
					enum msd_era era,
					const struct msd_piece_source *source,
					struct msd_buf *out, struct msd_diag *d);

#endif
