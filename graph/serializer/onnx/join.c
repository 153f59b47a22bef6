/*
 * External data put into the model that names it.
 *
 * Happy path: the scan copies the file message by message; a tensor that says that its
 * bytes are elsewhere is written anew, without its place and with raw_data, before
 * which a field that nobody knows makes room so that the bytes are aligned. Failures
 * name the tensor (external.h).
 */
#include "graph/serializer/onnx/join.h"

#include <onnx.pb-c.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/external.h"
#include "graph/serializer/onnx/wire.h"

#define ALIGN 64u
#define PAD_TAG "\xa2\x06" /* field 100, bytes: ONNX has none of that number */
#define PAD_HEADER 3u      /* that tag, and a length below 128 */
#define RAW_TAG 0x4a       /* field 9, bytes */
#define RAW_HEADER 11u     /* that tag, and a length of ten bytes */

struct join {
	modser_graph *g;
	struct onnx_external external;
	size_t n_joined;
};

static bool is_external(struct msd_span message)
{
	struct msd_cur c = msd_cur_of(message);
	struct onnx_field f;
	bool is_so = false;

	while (c.left > 0 && onnx_field_take(&c, &f)) {
		if (f.number == ONNX_DATA_LOCATION && f.type == 0)
			is_so = f.value == ONNX_IS_EXTERNAL;
	}
	return is_so;
}

/* Lengths in ten bytes are as good as shorter ones. */
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

static int join_tensor(void *ctx, struct msd_span message, struct msd_buf *out,
		       bool *ret_is_written)
{
	struct join *j = ctx;
	struct msd_span bytes = {0};

	if (!is_external(message))
		return 0;
	Onnx__TensorProto *p = onnx__tensor_proto__unpack(NULL, message.n, message.p);
	if (p == NULL)
		return msd_sg_fail(j->g, MSD_BAD_ARTIFACT, "a tensor is no message");
	const int result = onnx_external_find(&j->external, j->g, p, &bytes);
	onnx__tensor_proto__free_unpacked(p, NULL);
	if (result != 0)
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
	struct join j = {.g = graph, .external = {.read = read, .ctx = ctx}};
	struct msd_buf out = {0};
	const int result =
		onnx_wire_copy(graph, (struct msd_span){model->data, model->bytes},
			       ONNX_LONG_LENGTHS, join_tensor, &j, &out);

	onnx_external_finish(&j.external);
	if (result != 0 || j.n_joined == 0) {
		msd_buf_finish(&out);
		return result;
	}
	*ret = (modser_part){out.p, out.n};
	return 0;
}
