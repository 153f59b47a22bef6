#include "graph/serializer/onnx/wire.h"

#include <onnx.pb-c.h>

static const struct msd_wire_weight weights[] = {
	{&onnx__tensor_proto__descriptor, ONNX_RAW_DATA},
};
const struct msd_wire_format onnx_wire_format = {"ONNX", &onnx__model_proto__descriptor,
						 weights,
						 sizeof(weights) / sizeof(weights[0])};

int onnx_wire_trim(modser_graph *g, struct msd_span file, struct msd_buf *out)
{
	return msd_wire_trim(g, &onnx_wire_format, file, out);
}

int onnx_wire_copy(modser_graph *g, struct msd_span file, enum msd_wire_lengths lengths,
		   msd_wire_replace *tensor, void *ctx, struct msd_buf *out)
{
	const struct msd_wire_hook hook = {&onnx__tensor_proto__descriptor, tensor,
					   ctx};

	return msd_wire_copy(g, &onnx_wire_format, file, lengths, &hook, out);
}

void onnx_wire_put_others(struct msd_buf *out, struct msd_span message)
{
	struct msd_cur c = msd_cur_of(message);

	while (c.left > 0) {
		const uint8_t *at = c.p;
		struct msd_wire_field f;

		if (!msd_wire_take(&c, &f))
			return; /* protobuf-c has already read it */
		if (f.number != ONNX_RAW_DATA && f.number != ONNX_EXTERNAL_DATA &&
		    f.number != ONNX_DATA_LOCATION)
			msd_buf_put(out, at, (size_t)(c.p - at));
	}
}

/* True if @c is at the graph of a model: its message begins with one of the fields of
 * a graph that are messages or texts. */
static bool is_at_graph(struct msd_cur c)
{
	uint64_t n;

	if (msd_cur_u8(&c) != (7 << 3 | MSD_WIRE_BYTES) ||
	    !msd_wire_take_varint(&c, &n) || n == 0)
		return false;
	const uint8_t tag = msd_cur_u8(&c);
	return !c.bad && (tag & 7) == MSD_WIRE_BYTES && tag >> 3 >= 1 && tag >> 3 <= 15;
}

/* True if a message begins where a model has the name of its writer: a SavedModel of
 * TensorFlow. */
static bool is_at_message(struct msd_cur c)
{
	uint64_t n;

	(void)msd_cur_u8(&c);
	return msd_wire_take_varint(&c, &n) && n > 0 && c.left > 0 && c.p[0] < ' ';
}

bool onnx_wire_probe(struct msd_span head)
{
	/* The wire type of each field of a model; -1 if undefined. */
	static const signed char kinds[] = {-1,
					    MSD_WIRE_VARINT,
					    MSD_WIRE_BYTES,
					    MSD_WIRE_BYTES,
					    MSD_WIRE_BYTES,
					    MSD_WIRE_VARINT,
					    MSD_WIRE_BYTES,
					    MSD_WIRE_BYTES,
					    MSD_WIRE_BYTES};
	struct msd_cur c = msd_cur_of(head);
	bool has_version = false;

	while (c.left > 0) {
		struct msd_wire_field f;
		const uint8_t tag = *c.p;

		if (tag >> 3 >= sizeof(kinds) || kinds[tag >> 3] != (tag & 7))
			return has_version && tag >> 3 >= sizeof(kinds);
		if (tag >> 3 == 1) /* IR versions are small */
			has_version = c.left > 1 && c.p[1] >= 1 && c.p[1] < 64;
		if (tag >> 3 == 7)
			return has_version || is_at_graph(c);
		if (tag >> 3 == 2 && is_at_message(c))
			return false;
		if (!msd_wire_take(&c,
				   &f)) /* the head or the file ends inside the field */
			return has_version;
	}
	return has_version;
}
