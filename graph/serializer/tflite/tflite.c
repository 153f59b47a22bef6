/* The serializer of TensorFlow Lite. */
#include "graph/serializer/operators.h"
#include "graph/serializer/serializer.h"
#include "graph/serializer/tflite/layer.h"
#include "graph/serializer/tflite/read.h"

static bool probe(const void *head, size_t bytes)
{
	return flat_has_id((struct msd_span){head, bytes}, "TFL3");
}

bool msd_tflite_operators(struct msd_operators *ret)
{
	const struct tflite_row *row;

	for (size_t i = 0; (row = tflite_row_at(i)) != NULL; i++) {
		if (!msd_operators_add(ret, row->name))
			return false;
	}
	return true;
}

const modser_serializer_ops msd_tflite_serializer = {
	.size = sizeof(modser_serializer_ops),
	.has_fixed_outputs = true,
	.name = "tflite",
	.format = "tflite",
	.version = "3.0",
	.n_files = 1,
	.probe = probe,
	.load = tflite_load,
};
