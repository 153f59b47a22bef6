#ifndef MSD_PROTO_EXTERNAL_DATA_H
#define MSD_PROTO_EXTERNAL_DATA_H
/*
 * Files that follow a framework's model in one upload: ONNX's external data.
 *
 *   model | zeros | file 1 | zeros | file 2 ...        each file begins on a page
 *
 * A msgpack list of [name, bytes] describes them. The names are those in the model.
 * No other file of any machine can be accessed through them.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_EXTERNAL_DATA_PAGE 4096u
#define MSD_EXTERNAL_DATA_MAX 1024u     /* number of files */
#define MSD_EXTERNAL_DATA_NAME_MAX 512u /* bytes */

struct msd_external_data_file {
	struct msd_span name; /* borrowed from the list */
	uint64_t at;          /* offset from the start of the model */
	uint64_t bytes;
};

/** Offset of the file after @end bytes. */
uint64_t msd_external_data_at(uint64_t end);
/**
 * Check the list's @items, which are consecutive scanned msgpack. Names must be
 * relative and without "..". The model of @model_bytes and the files must add up to
 * @whole_bytes. Errors: MSD_BAD_REQUEST, MSD_TOO_LARGE (too many).
 */
MSD_MUST_CHECK msd_err msd_external_data_check(struct msd_span items,
					       uint64_t model_bytes,
					       uint64_t whole_bytes,
					       struct msd_diag *d);
/**
 * Take the next file of checked items; *@end, at first the bytes of the model, moves
 * past it. False at the end.
 */
MSD_MUST_CHECK bool msd_external_data_next(struct msd_cur *items, uint64_t *end,
					   struct msd_external_data_file *ret);
/**
 * Find the file that a model calls @name in the checked items. A file without a
 * directory in its name, as from `--with FILE`, matches any directory. False if there
 * is none.
 */
bool msd_external_data_find(struct msd_span items, uint64_t model_bytes,
			    const char *name, struct msd_external_data_file *ret);

#endif
