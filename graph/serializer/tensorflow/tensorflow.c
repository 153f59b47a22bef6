/* The serializer of TensorFlow, and how its files are told from others. */
#include "graph/serializer/operators.h"
#include "graph/serializer/serializer.h"
#include "graph/serializer/tensorflow/layer.h"
#include "graph/serializer/wire/wire.h"

/* A name of nodes and operators: visible characters. */
static bool take_name(struct msd_cur *c, uint32_t number)
{
	struct msd_wire_field f;

	if (!msd_wire_take(c, &f) || f.number != number || f.type != MSD_WIRE_BYTES ||
	    f.n == 0)
		return false;
	for (size_t i = 0; i < f.n; i++) {
		if (f.body[i] <= ' ' || f.body[i] > '~')
			return false;
	}
	return true;
}

/* A message: its tag, and a length of at least one byte. */
static bool enter_message(struct msd_cur *c, uint32_t number)
{
	uint64_t tag;
	uint64_t n;

	return msd_wire_take_varint(c, &tag) && tag == (number << 3 | MSD_WIRE_BYTES) &&
	       msd_wire_take_varint(c, &n) && n > 0;
}

/* A node with its name and its operator, or a function of a library. */
static bool is_graph(struct msd_cur c)
{
	struct msd_cur node = c;
	struct msd_cur function = c;

	if (enter_message(&node, 1) && take_name(&node, 1) && take_name(&node, 2))
		return true;
	return enter_message(&function, 2) && enter_message(&function, 1) &&
	       enter_message(&function, 1) && take_name(&function, 1);
}

/* The version of a SavedModel, and a MetaGraphDef that begins with its facts or its
 * graph. ONNX has the name of its writer there. */
static bool is_saved(struct msd_cur c)
{
	struct msd_wire_field f;

	if (!msd_wire_take(&c, &f) || f.number != 1 || f.type != MSD_WIRE_VARINT ||
	    f.value != 1 || !enter_message(&c, 2))
		return false;
	const uint8_t tag = msd_cur_u8(&c);
	return tag == (1 << 3 | MSD_WIRE_BYTES) || tag == (2 << 3 | MSD_WIRE_BYTES);
}

static bool probe(const void *head, size_t bytes)
{
	const struct msd_cur c = msd_cur_of((struct msd_span){head, bytes});

	return is_graph(c) || is_saved(c);
}

bool msd_tensorflow_operators(struct msd_operators *ret)
{
	const struct tf_row *row;

	for (size_t i = 0; (row = tf_row_at(i)) != NULL; i++) {
		if (!msd_operators_add(ret, row->name))
			return false;
	}
	return true;
}

const modser_serializer_ops msd_tensorflow_serializer = {
	.size = sizeof(modser_serializer_ops),
	.name = "tensorflow",
	.format = "tensorflow",
	.version = "1.0",
	.n_files = 1,
	.probe = probe,
	.load = tf_model_load,
	.join = tf_model_join,
};
