/*
 * Move weights out of a model, the inverse of join.c: the scan copies the file
 * message by message. A tensor whose raw_data is not small is rewritten, with the
 * location of its bytes in the other file instead of them.
 */
#include "graph/serializer/onnx/split.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/wire.h"

#define ALIGN 64u   /* alignment of each tensor in the file */
#define LEAST 1024u /* minimum bytes of a tensor to move */
/* Tags of fields of TensorProto and of its entries, which are a key and a value. */
enum { EXTERNAL_TAG = 0x6a, LOCATION_TAG = 0x70, KEY_TAG = 0x0a, VALUE_TAG = 0x12 };
enum { IS_EXTERNAL = 1 };

struct split {
	const char *name;
	struct msd_buf data;
};

static struct msd_span raw_of(struct msd_span message)
{
	struct msd_cur c = msd_cur_of(message);
	struct msd_span raw = {0};
	struct msd_wire_field f;

	while (c.left > 0 && msd_wire_take(&c, &f)) {
		if (f.number == ONNX_RAW_DATA && f.type == 2)
			raw = (struct msd_span){f.body, f.n};
	}
	return raw;
}

static size_t varint(size_t n, uint8_t ret[static 10])
{
	size_t k = 0;

	for (; n > 0x7f; n >>= 7)
		ret[k++] = (uint8_t)(n & 0x7f) | 0x80;
	ret[k++] = (uint8_t)n;
	return k;
}

static void put_bytes(struct msd_buf *out, uint8_t tag, const void *bytes, size_t n)
{
	uint8_t length[10];

	msd_buf_put_u8(out, tag);
	msd_buf_put(out, length, varint(n, length));
	msd_buf_put(out, bytes, n);
}

static void put_entry(struct msd_buf *out, const char *key, const char *value)
{
	struct msd_buf entry = {0};

	put_bytes(&entry, KEY_TAG, key, strlen(key));
	put_bytes(&entry, VALUE_TAG, value, strlen(value));
	out->bad = out->bad || entry.bad;
	put_bytes(out, EXTERNAL_TAG, entry.p, entry.n);
	msd_buf_finish(&entry);
}

static void put_number(struct msd_buf *out, const char *key, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	put_entry(out, key, text);
}

static int split_tensor(void *ctx, struct msd_span message, struct msd_buf *out,
			bool *ret_is_written)
{
	static const uint8_t zeros[ALIGN];
	struct split *s = ctx;
	const struct msd_span raw = raw_of(message);

	if (raw.n < LEAST)
		return 0;
	msd_buf_put(&s->data, zeros, (ALIGN - s->data.n % ALIGN) % ALIGN);
	onnx_wire_put_others(out, message);
	put_entry(out, "location", s->name);
	put_number(out, "offset", s->data.n);
	put_number(out, "length", raw.n);
	msd_buf_put_u8(out, LOCATION_TAG);
	msd_buf_put_u8(out, IS_EXTERNAL);
	msd_buf_put(&s->data, raw.p, raw.n);
	*ret_is_written = true;
	return 0;
}

int onnx_split(const modser_part *model, const char *name, modser_graph *graph,
	       modser_part *ret_model, modser_part *ret_data)
{
	struct split s = {.name = name};
	struct msd_buf out = {0};
	int result = onnx_wire_copy(graph, (struct msd_span){model->data, model->bytes},
				    MSD_WIRE_SHORT_LENGTHS, split_tensor, &s, &out);

	if (result == 0 && s.data.bad)
		result = msd_sg_no_memory(graph);
	if (result != 0) {
		msd_buf_finish(&out);
		msd_buf_finish(&s.data);
		return -1;
	}
	*ret_model = (modser_part){out.p, out.n};
	*ret_data = (modser_part){s.data.p, s.data.n};
	return 0;
}
