#ifndef MSD_PROTO_BESIDE_H
#define MSD_PROTO_BESIDE_H
/*
 * The files that come behind a framework's model in one upload: ONNX's external data.
 *
 *   model | zeros | file 1 | zeros | file 2 ...        each file begins on a page
 *
 * A list of [name, bytes], in msgpack, says which. The names are what the model calls
 * them; nothing else of any machine can be reached by them.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

#define MSD_BESIDE_PAGE 4096u
#define MSD_BESIDE_MAX 1024u     /* files */
#define MSD_BESIDE_NAME_MAX 512u /* bytes */

struct msd_beside_file {
	struct msd_span name; /* borrowed from the list */
	uint64_t at;          /* from the model's begin */
	uint64_t bytes;
};

/** Where a file begins that comes behind @end bytes. */
uint64_t msd_beside_at(uint64_t end);
/**
 * Check the list's @items, one behind the other, of scanned msgpack: names that are
 * relative and without "..", and that a model of @model_bytes and they are
 * @whole_bytes. Errors: MSD_BAD_REQUEST, MSD_TOO_LARGE (too many).
 */
MSD_MUST_CHECK msd_err msd_beside_check(struct msd_span items, uint64_t model_bytes,
					uint64_t whole_bytes, struct msd_diag *d);
/**
 * The file that a model calls @name, of items that were checked. One that has no folder
 * in its name is meant wherever a model has it, as `--with FILE` says it. False: none.
 */
bool msd_beside_find(struct msd_span items, uint64_t model_bytes, const char *name,
		     struct msd_beside_file *ret);

#endif
