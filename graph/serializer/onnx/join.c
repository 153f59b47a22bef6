/*
 * Merge external data into the model that names it.
 *
 * Happy path: the scan copies the file message by message. A tensor with external
 * bytes is rewritten, without its location and with raw_data. A field that all
 * readers skip pads it, so that the bytes are aligned. A large tensor in the file
 * itself with unaligned bytes is rewritten, too: otherwise each worker would need a
 * copy. Failures name the tensor (external.h).
 */
#include "graph/serializer/onnx/join.h"

#include <onnx.pb-c.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/external.h"
#include "graph/serializer/onnx/wire.h"

#define ALIGN 64u
#define LARGE (64u * 1024u)
#define LARGEST_ELEMENT 16u
#define PAD_TAG "\xa2\x06" /* field 100, bytes: ONNX does not use this number */
#define PAD_HEADER 3u      /* the tag, and a length below 128 */
#define RAW_TAG 0x4a       /* field 9, bytes */
#define RAW_HEADER 11u     /* the tag, and a length of ten bytes */

struct join {
	modser_graph *g;
	struct onnx_external external;
	struct msd_span model;
	size_t n_joined;
};

/* Facts of a tensor's message; the last occurrence of a field counts. */
struct facts {
	bool is_external;
	struct msd_span raw; /* its bytes, if they are in the file */
};

static struct facts facts_of(struct msd_span message)
{
	struct msd_cur c = msd_cur_of(message);
	struct msd_wire_field f;
	struct facts ret = {0};

	while (c.left > 0 && msd_wire_take(&c, &f)) {
		if (f.number == ONNX_DATA_LOCATION && f.type == 0)
			ret.is_external = f.value == ONNX_IS_EXTERNAL;
		if (f.number == ONNX_RAW_DATA && f.type == 2)
			ret.raw = (struct msd_span){f.body, f.n};
	}
	return ret;
}

/* True if each worker would need a large copy of its own. */
static bool is_askew(const struct join *j, struct msd_span raw)
{
	return raw.n >= LARGE && (size_t)(raw.p - j->model.p) % LARGEST_ELEMENT != 0;
}

/* Protobuf also accepts lengths in ten bytes. */
static void put_raw(struct msd_buf *out, struct msd_span bytes)
{
	const size_t used = (out->n + PAD_HEADER + RAW_HEADER) % ALIGN;
	const size_t pad = used > 0 ? ALIGN - used : 0;

	msd_buf_put(out, PAD_TAG, 2);
	msd_buf_put_u8(out, (uint8_t)pad);
	for (size_t i = 0; i < pad; i++)
		msd_buf_put_u8(out, 0);
	msd_buf_put_u8(out, RAW_TAG);
	for (unsigned i = 0; i < 10; i++) {
		const uint8_t more = i < 9 ? 0x80 : 0;

		msd_buf_put_u8(out,
			       (uint8_t)(((uint64_t)bytes.n >> (7 * i) & 0x7f) | more));
	}
	msd_buf_put(out, bytes.p, bytes.n);
}

static int find(struct join *j, struct msd_span message, struct msd_span *ret)
{
	Onnx__TensorProto *p = onnx__tensor_proto__unpack(NULL, message.n, message.p);

	if (p == NULL)
		return msd_sg_fail(j->g, MSD_BAD_ARTIFACT, "a tensor is no message");
	const int result = onnx_external_find(&j->external, j->g, p, ret);
	onnx__tensor_proto__free_unpacked(p, NULL);
	return result;
}

static int join_tensor(void *ctx, struct msd_span message, struct msd_buf *out,
		       bool *ret_is_written)
{
	struct join *j = ctx;
	const struct facts facts = facts_of(message);
	struct msd_span bytes = facts.raw;

	if (!facts.is_external && !is_askew(j, facts.raw))
		return 0;
	if (facts.is_external && find(j, message, &bytes) != 0)
		return -1;
	onnx_wire_put_others(out, message);
	put_raw(out, bytes);
	j->n_joined++;
	*ret_is_written = true;
	return 0;
}

int onnx_join(const modser_part *model, modser_read_beside *read, void *ctx,
	      modser_graph *graph, modser_part *ret)
{
	struct join j = {.g = graph,
			 .external = {.read = read, .ctx = ctx},
			 .model = {model->data, model->bytes}};
	struct msd_buf out = {0};
	const int result =
		onnx_wire_copy(graph, (struct msd_span){model->data, model->bytes},
			       MSD_WIRE_LONG_LENGTHS, join_tensor, &j, &out);

	onnx_external_finish(&j.external);
	if (result != 0 || j.n_joined == 0) {
		msd_buf_finish(&out);
		return result;
	}
	*ret = (modser_part){out.p, out.n};
	return 0;
}
