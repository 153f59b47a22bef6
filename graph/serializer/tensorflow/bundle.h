#ifndef MSD_TENSORFLOW_BUNDLE_H
#define MSD_TENSORFLOW_BUNDLE_H
/*
 * The table of a bundle of variables (variables.index): sorted keys with the place of
 * each tensor in the bundle's files of data. It is a table of LevelDB: blocks of
 * entries that share the beginning of the key before, an index of the blocks, and a
 * footer.
 */
#include "graph/modser_graph.h"
#include "graph/serializer/names.h"
#include "proto/base/bytes.h"

struct tf_bundle_entry {
	char *key;
	int32_t dtype; /* of TensorFlow */
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t ndim;
	uint32_t shard;
	uint64_t offset, bytes;
	bool is_sliced;
};

struct tf_bundle {
	struct tf_bundle_entry *entries;
	size_t n;
	struct msd_names names;
	uint32_t n_shards;
};

/** Read the table @file. -1 with the error of @g. Finish *@ret in any case. */
MSD_MUST_CHECK int tf_bundle_read(modser_graph *g, struct msd_span file,
				  struct tf_bundle *ret);
void tf_bundle_finish(struct tf_bundle *b);
/** NULL: no tensor is called @key. */
const struct tf_bundle_entry *tf_bundle_find(const struct tf_bundle *b,
					     const char *key);
/** Write the name of file @shard of @b: "variables/variables.data-00000-of-00001". */
void tf_bundle_shard_name(const struct tf_bundle *b, uint32_t shard, char ret[64]);
#define TF_BUNDLE_INDEX "variables/variables.index"

#endif
