#ifndef MSD_ARTIFACT_PARAMS_SHARDS_H
#define MSD_ARTIFACT_PARAMS_SHARDS_H
/*
 * A folder of parameters as tvmjs.dump_tensor_cache writes it: an index
 * (tensor-cache.json, before TVM 0.22 ndarray-cache.json) and files, the shards, with
 * the bytes of tensors. It arrives as one tar archive (proto/words/params_folder.h).
 */
#include "artifact/params/tensor_blob.h"

#define MSD_SHARDS_VALUES_MAX (1u << 20) /* values in the index */
#define MSD_SHARDS_DEPTH_MAX 32u         /* brackets in each other */
#define MSD_SHARDS_RECORDS_MAX 65536u

struct msd_shard {
	struct msd_span name, data;
	struct msd_span md5; /* hexadecimal digits; empty: the index has none */
};

struct msd_shard_record {
	struct msd_span name;
	/* Its data are in a shard, at any alignment. */
	struct msd_tensor_blob tensor;
	bool is_bf16; /* the data are the upper halves of the tensor's float32 */
};

struct json_t;
struct msd_shards {
	struct json_t *index; /* owner of the names */
	struct msd_shard *shards;
	size_t n_shards;
	struct msd_shard_record *records; /* in the order of the index */
	size_t n;
	const struct msd_shard_record **by_name;
};

/** True if @bytes begins like the archive of such a folder. */
bool msd_shards_is(struct msd_span bytes);
/**
 * Read the index, and check names, sizes and types of all records; the bytes of the
 * shards are not read (msd_shards_check()). Borrows from @bytes. The caller owns *@ret
 * (finish it). Errors: MSD_BAD_ARTIFACT, MSD_UNSUPPORTED (another format),
 * MSD_TOO_LARGE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_shards_read(struct msd_span bytes, struct msd_shards *ret,
				       struct msd_diag *d);
/** Compare all bytes of the shards with their MD5. Errors: MSD_BAD_ARTIFACT, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_shards_check(const struct msd_shards *s, struct msd_diag *d);
/** The record called @name, or NULL. */
const struct msd_shard_record *msd_shards_find(const struct msd_shards *s,
					       struct msd_span name);
void msd_shards_finish(struct msd_shards *s); /* NULL and zeroed are allowed */

#endif
