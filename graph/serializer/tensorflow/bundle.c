/*
 * Read the table of a bundle. Normal path: the footer tells the place of the index, the
 * index that of each block, and each entry of a block is a message. The entry with an
 * empty key is the header. Failures name what is damaged; a compressed block is refused
 * by the number of its type. Counts and keys are limited, because entries that share
 * the beginnings of their keys could need more memory than the file has bytes.
 */
#include "graph/serializer/tensorflow/bundle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tensorflow.pb-c.h>

#include "graph/ir/graph.h"
#include "graph/serializer/wire/wire.h"
#include "proto/base/grow.h"

#define MAGIC UINT64_C(0xdb4775248b80fb57)
#define FOOTER_BYTES 48u
#define TRAILER_BYTES 5u /* the type of a block and its checksum */
#define MAX_KEY 4096u
#define MAX_KEY_BYTES (64u << 20) /* of all keys */
#define MAX_ENTRIES (1u << 18)
#define MAX_BLOCKS (1u << 16)

struct table {
	modser_graph *g;
	struct msd_span file;
	struct tf_bundle *ret;
	char key[MAX_KEY + 1];
	size_t key_bytes; /* of all keys */
	size_t n_blocks;
	bool has_header;
};

static int bad(const struct table *t, const char *text)
{
	return msd_sg_fail(t->g, MSD_BAD_ARTIFACT, "the table of variables: %s", text);
}

static bool take_place(struct msd_cur *c, uint64_t *ret_at, uint64_t *ret_n)
{
	return msd_wire_take_varint(c, ret_at) && msd_wire_take_varint(c, ret_n);
}

/* The entries of the block at @at, without the list of restarts. */
static int find_block(const struct table *t, uint64_t at, uint64_t n,
		      struct msd_span *ret)
{
	if (at > t->file.n || n > t->file.n - at || t->file.n - at - n < TRAILER_BYTES)
		return bad(t, "a block is outside the file");
	const uint8_t *p = t->file.p + at;
	if (p[n] != 0) {
		return msd_sg_fail(t->g, MSD_UNSUPPORTED,
				   "the table of variables: a block has type %u; only "
				   "type 0 (not compressed) can be read",
				   p[n]);
	}
	if (n < 4)
		return bad(t, "a block is too short");
	const uint64_t n_restarts = msd_le32(p + n - 4);
	if (n_restarts > (n - 4) / 4)
		return bad(t, "a block has too many restarts");
	*ret = (struct msd_span){p, (size_t)(n - 4 - 4 * n_restarts)};
	return 0;
}

/* Take an entry; its key continues the one before. */
static int take_entry(struct table *t, struct msd_cur *c, size_t *n_key,
		      struct msd_span *ret)
{
	uint64_t shared;
	uint64_t more;
	uint64_t n;

	if (!msd_wire_take_varint(c, &shared) || !msd_wire_take_varint(c, &more) ||
	    !msd_wire_take_varint(c, &n) || shared > *n_key || more > c->left ||
	    n > c->left - more)
		return bad(t, "an entry is damaged");
	if (shared + more > MAX_KEY)
		return bad(t, "a key has more than 4096 bytes");
	memcpy(t->key + shared, msd_cur_read(c, (size_t)more), (size_t)more);
	*n_key = (size_t)(shared + more);
	t->key[*n_key] = '\0';
	*ret = (struct msd_span){msd_cur_read(c, (size_t)n), (size_t)n};
	return 0;
}

static int read_header(struct table *t, struct msd_span value)
{
	Tensorflow__BundleHeaderProto *p =
		tensorflow__bundle_header_proto__unpack(NULL, value.n, value.p);

	if (p == NULL)
		return bad(t, "its header is no message");
	const int32_t n = p->num_shards;
	const bool is_little = p->endianness == 0;
	tensorflow__bundle_header_proto__free_unpacked(p, NULL);
	if (n < 1 || n > 99999)
		return bad(t, "its number of files cannot be");
	if (!is_little) {
		return msd_sg_fail(t->g, MSD_UNSUPPORTED,
				   "the variables were written on a big-endian "
				   "machine");
	}
	t->ret->n_shards = (uint32_t)n;
	t->has_header = true;
	return 0;
}

static int set_entry(const struct table *t, const Tensorflow__BundleEntryProto *p,
		     struct tf_bundle_entry *e)
{
	e->dtype = p->dtype;
	e->shard = (uint32_t)p->shard_id;
	e->offset = (uint64_t)p->offset;
	e->bytes = (uint64_t)p->size;
	e->is_sliced = p->n_slices > 0;
	e->ndim = p->shape != NULL ? p->shape->n_dim : 0;
	if (p->offset < 0 || p->size < 0 || p->shard_id < 0 ||
	    e->ndim > MODSER_GRAPH_MAX_NDIM)
		return bad(t, "an entry has a place or shape that cannot be");
	for (size_t i = 0; i < e->ndim; i++)
		e->dims[i] = p->shape->dim[i]->size;
	return 0;
}

static int add_entry(struct table *t, size_t n_key, struct msd_span value)
{
	struct tf_bundle *b = t->ret;

	if (n_key == 0) {
		return t->has_header ? bad(t, "it has two headers")
				     : read_header(t, value);
	}
	if (b->n == MAX_ENTRIES || t->key_bytes + n_key > MAX_KEY_BYTES)
		return bad(t, "it has too many entries");
	t->key_bytes += n_key;
	if (!msd_grow(&b->entries, b->n, sizeof(*b->entries)))
		return msd_sg_no_memory(t->g);
	Tensorflow__BundleEntryProto *p =
		tensorflow__bundle_entry_proto__unpack(NULL, value.n, value.p);
	if (p == NULL)
		return bad(t, "an entry is no message");
	struct tf_bundle_entry *e = &b->entries[b->n];
	*e = (struct tf_bundle_entry){0};
	int result = set_entry(t, p, e);
	tensorflow__bundle_entry_proto__free_unpacked(p, NULL);
	if (result != 0)
		return -1;
	e->key = msd_sg_copy(t->key, n_key);
	if (e->key == NULL)
		return msd_sg_no_memory(t->g);
	b->n++;
	return 0;
}

static int read_block(struct table *t, uint64_t at, uint64_t n)
{
	struct msd_span block = {0};
	size_t n_key = 0;

	if (t->n_blocks++ == MAX_BLOCKS)
		return bad(t, "it has too many blocks");
	if (find_block(t, at, n, &block) != 0)
		return -1;
	struct msd_cur c = msd_cur_of(block);
	while (c.left > 0) {
		struct msd_span value = {0};

		if (take_entry(t, &c, &n_key, &value) != 0 ||
		    add_entry(t, n_key, value) != 0)
			return -1;
	}
	return 0;
}

/* The index has an entry for each block: its last key and its place. */
static int read_index(struct table *t, struct msd_span index)
{
	struct msd_cur c = msd_cur_of(index);
	size_t n_key = 0;

	while (c.left > 0) {
		char key[MAX_KEY + 1];
		struct msd_span value = {0};
		uint64_t at;
		uint64_t n;

		if (take_entry(t, &c, &n_key, &value) != 0)
			return -1;
		memcpy(key, t->key, n_key + 1); /* blocks have keys of their own */
		struct msd_cur place = msd_cur_of(value);
		if (!take_place(&place, &at, &n))
			return bad(t, "a block has no place");
		if (read_block(t, at, n) != 0)
			return -1;
		memcpy(t->key, key, n_key + 1);
	}
	return 0;
}

static int name_entries(struct table *t)
{
	for (size_t i = 0; i < t->ret->n; i++) {
		struct tf_bundle_entry *e = &t->ret->entries[i];

		if (msd_names_find(&t->ret->names, e->key) != NULL)
			return bad(t, "a key occurs twice");
		if (!msd_names_add(&t->ret->names, e->key, e))
			return msd_sg_no_memory(t->g);
	}
	return 0;
}

int tf_bundle_read(modser_graph *g, struct msd_span file, struct tf_bundle *ret)
{
	struct table t = {.g = g, .file = file, .ret = ret};
	struct msd_span index = {0};
	uint64_t place[4];

	*ret = (struct tf_bundle){0};
	if (file.n < FOOTER_BYTES ||
	    msd_le64(file.p + file.n - sizeof(uint64_t)) != MAGIC)
		return bad(&t, "it does not end with the mark of a table");
	struct msd_cur c = msd_cur_of(
		(struct msd_span){file.p + file.n - FOOTER_BYTES, FOOTER_BYTES - 8});
	if (!take_place(&c, &place[0], &place[1]) ||
	    !take_place(&c, &place[2], &place[3]))
		return bad(&t, "its footer is damaged");
	if (find_block(&t, place[2], place[3], &index) != 0 ||
	    read_index(&t, index) != 0)
		return -1;
	if (!t.has_header)
		return bad(&t, "it has no header");
	return name_entries(&t);
}

void tf_bundle_finish(struct tf_bundle *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->entries[i].key);
	free(b->entries);
	msd_names_finish(&b->names);
	*b = (struct tf_bundle){0};
}

const struct tf_bundle_entry *tf_bundle_find(const struct tf_bundle *b, const char *key)
{
	return msd_names_find(&b->names, key);
}

void tf_bundle_shard_name(const struct tf_bundle *b, uint32_t shard, char ret[64])
{
	(void)snprintf(ret, 64, "variables/variables.data-%05" PRIu32 "-of-%05" PRIu32,
		       shard, b->n_shards);
}
