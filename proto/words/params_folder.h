#ifndef MSD_PROTO_PARAMS_FOLDER_H
#define MSD_PROTO_PARAMS_FOLDER_H
/*
 * A folder of parameters as tvmjs.dump_tensor_cache writes it, packed into the params
 * part of a module: zeros, then a ustar archive of the index and of the shards that the
 * index names. With the zeros, the files of the archive are aligned in the module, so
 * that a worker can use tensors where they are.
 *
 *   library | graph | zeros | header | index | zeros | header | shard | ... | 2 blocks
 *
 * Only a worker parses the index (artifact/params/shards.h). Here it is only searched
 * for the names of shards.
 */
#include "proto/base/diag.h"

#define MSD_PARAMS_FOLDER_ALIGN 64u             /* bytes; fewer zeros than that */
#define MSD_PARAMS_FOLDER_INDEX_MAX (16u << 20) /* bytes */
#define MSD_PARAMS_FOLDER_FILES_MAX 65536u

struct msd_params_folder {
	char *path; /* owned */
	struct msd_params_folder_file {
		char *name; /* owned */
		uint64_t bytes;
	} * files; /* owned; the index is the first */
	size_t n;
	uint64_t zeros; /* before the archive */
	uint64_t bytes; /* of the part */
};

/** True if @path is a folder. */
bool msd_params_folder_is(const char *path);
/**
 * Read the index of the folder @path and the sizes of its shards, for a part that
 * begins at byte @at of its module. Blocks. The caller finishes *@ret. Errors: MSD_IO,
 * MSD_BAD_ARTIFACT (no index, a shard elsewhere, an empty shard), MSD_TOO_LARGE,
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_params_folder_open(const char *path, uint64_t at,
					      struct msd_params_folder *ret,
					      struct msd_diag *d);
/**
 * Write the @n bytes from @at on of the part, which has that many, to @to. Blocks.
 * Errors: MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_params_folder_read(const struct msd_params_folder *f,
					      uint64_t at, uint8_t *to, size_t n,
					      struct msd_diag *d);
void msd_params_folder_finish(struct msd_params_folder *f); /* zeroed is allowed */

#endif
