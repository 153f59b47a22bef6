#ifndef MSD_ONNX_NAMES_H
#define MSD_ONNX_NAMES_H
/* Tensors by their names: ONNX has no other identity. */
#include "graph/modser_graph.h"
#include "proto/err.h"

struct onnx_names {
	modser_sg_tensor **slots; /* a power of two of them, half of which are free */
	size_t n_slots;
	size_t n;
};

/** NULL: no tensor is called so. */
modser_sg_tensor *onnx_names_find(const struct onnx_names *names, const char *name);
/** Remember @tensor, whose name is new. False: memory is short. */
MSD_MUST_CHECK bool onnx_names_add(struct onnx_names *names, modser_sg_tensor *tensor);
void onnx_names_finish(struct onnx_names *names);

#endif
