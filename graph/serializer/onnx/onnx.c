#include "graph/serializer/onnx/join.h"
#include "graph/serializer/onnx/read.h"
#include "graph/serializer/onnx/split.h"
#include "graph/serializer/onnx/store.h"
#include "graph/serializer/onnx/wire.h"
#include "graph/serializer/serializer.h"

static bool probe(const void *head, size_t bytes)
{
	return onnx_wire_probe((struct msd_span){head, bytes});
}

const modser_serializer_ops msd_onnx_serializer = {
	.size = sizeof(modser_serializer_ops),
	.has_fixed_outputs = true,
	.name = "onnx",
	.format = "onnx",
	.version = "1.0",
	.n_files = 1,
	.probe = probe,
	.load = onnx_load,
	.store = onnx_store,
	.join = onnx_join,
	.split = onnx_split,
};
