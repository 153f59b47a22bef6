#ifndef MSD_RUNTIME_ENGINE_NATIVE_CLAIM_H
#define MSD_RUNTIME_ENGINE_NATIVE_CLAIM_H
/*
 * Adapters: each connects nodes of some operators to the kernels. Only these files and
 * engine.c know the interface of engines.
 */
#include "graph/modser_graph.h"
#include "proto/base/diag.h"
#include "runtime/engine/native/kernels.h"
#include "runtime/kernel/kernel.h"

/* A node's packed constants; each claim has its own struct. */
struct msd_native_packed {
	void (*destroy)(struct msd_native_packed *p);
	size_t bytes;    /* of packed weights; 0: it only has parameters */
	const char *how; /* algorithm, for people; NULL: the only one */
	float *weights;  /* owned, runtime/engine/weights.h; NULL: none */
};

struct msd_native_claim {
	const char *op;
	/* Dtypes and shapes are known: can the kernels compute this node? It may not
	 * read a constant's floats. */
	bool (*may)(const modser_sg_node *node);
	/* Pack constants, once. False: memory is short. NULL: nothing to pack. */
	bool (*pack)(const modser_sg_node *node, struct msd_native_packed **ret);
	msd_err (*run)(const struct msd_kernel_call *c,
		       const struct msd_native_packed *packed, struct msd_diag *d);
	/* The inputs, one bit each, that pack() copies if they are constants. run()
	 * reads them again only if nothing is packed, or returns
	 * MSD_NATIVE_NEEDS_CONSTANTS. */
	unsigned packs;
};

/* A run needs a packed constant that msd_native_constant() does not have. */
#define MSD_NATIVE_NEEDS_CONSTANTS MSD_UNSUPPORTED

/** The claim for operator @op; NULL: there is none. */
const struct msd_native_claim *msd_native_find(const char *op);

/** True if input @i exists and is float32. */
bool msd_native_is_single(const modser_sg_node *node, size_t i);
/** The same of all inputs that exist. */
bool msd_native_all_single(const modser_sg_node *node);
/** The bytes of input @i if it is a float32 constant, else NULL. */
const float *msd_native_constant(const modser_sg_node *node, size_t i);
/** The elements of extents @from to @to - 1. */
size_t msd_native_count(const int64_t *dims, size_t from, size_t to);
/** The function of an operator that the pass `fuse` made. */
void msd_native_set_fused(int64_t kind, float a, float b, struct msd_native_finish *f);
/** The `pack` of elementwise functions: it reads only parameters. */
bool msd_native_read_function(const modser_sg_node *node,
			      struct msd_native_packed **ret);
/**
 * A claim's object of @size bytes, which begins with a struct msd_native_packed, and
 * @floats of packed weights. *@ret_is_packed: another worker of the module packed them,
 * and they are read-only. NULL: memory is short.
 */
void *msd_native_packed_new(const modser_sg_node *node, const char *how, size_t size,
			    size_t floats, bool *ret_is_packed);
/** Free such an object, or one without weights. */
void msd_native_packed_free(struct msd_native_packed *p);

/* Each claim is a row here and an object in the file of its family. */
#define MSD_NATIVE_CLAIMS(X)                                                           \
	X(absval)                                                                      \
	X(add)                                                                         \
	X(addn)                                                                        \
	X(attention)                                                                   \
	X(batch_normalization)                                                         \
	X(clip)                                                                        \
	X(conv_integer)                                                                \
	X(convolution)                                                                 \
	X(deconvolution)                                                               \
	X(dequantize_linear)                                                           \
	X(div)                                                                         \
	X(dynamic_quantize_linear)                                                     \
	X(einsum)                                                                      \
	X(elu)                                                                         \
	X(erf)                                                                         \
	X(exp)                                                                         \
	X(fully_connected)                                                             \
	X(fused_attention)                                                             \
	X(fused_convolution)                                                           \
	X(fused_product)                                                               \
	X(gelu)                                                                        \
	X(gemm)                                                                        \
	X(gru)                                                                         \
	X(hard_swish)                                                                  \
	X(hardsigmoid)                                                                 \
	X(instance_norm)                                                               \
	X(layer_norm)                                                                  \
	X(log)                                                                         \
	X(log_softmax)                                                                 \
	X(lstm)                                                                        \
	X(mat_mul)                                                                     \
	X(mat_mul_integer)                                                             \
	X(maximum)                                                                     \
	X(minimum)                                                                     \
	X(mul)                                                                         \
	X(neg)                                                                         \
	X(pooling)                                                                     \
	X(pow)                                                                         \
	X(prelu)                                                                       \
	X(q_linear_conv)                                                               \
	X(q_linear_mat_mul)                                                            \
	X(quantize_linear)                                                             \
	X(quantized_binary)                                                            \
	X(quantized_convolution)                                                       \
	X(quantized_mat_mul)                                                           \
	X(quantized_pooling)                                                           \
	X(quantized_table)                                                             \
	X(reciprocal)                                                                  \
	X(reduction)                                                                   \
	X(relu)                                                                        \
	X(resize)                                                                      \
	X(scaled_convolution)                                                          \
	X(sigmoid)                                                                     \
	X(softmax)                                                                     \
	X(softplus)                                                                    \
	X(sqrt)                                                                        \
	X(squared_difference)                                                          \
	X(sub)                                                                         \
	X(tanh)

#define MSD_NATIVE_DECLARE(id) extern const struct msd_native_claim msd_native_##id;
MSD_NATIVE_CLAIMS(MSD_NATIVE_DECLARE)
#undef MSD_NATIVE_DECLARE

#endif
