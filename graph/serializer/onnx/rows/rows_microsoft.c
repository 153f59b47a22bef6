/*
 * Operators of ONNX Runtime (com.microsoft), as its optimizer and exporters of
 * transformers write them. A fused operator becomes the nodes that it was made of:
 * the node itself is the last of them, and the others are inserted before it.
 */
#include "graph/ir/graph.h"
#include "graph/serializer/onnx/rows/row.h"

/* Replace input @k by its sum with @addend; @name names the sum in the file. */
static int add_to(const struct onnx_node *n, size_t k, modser_sg_tensor *addend,
		  const char *name)
{
	const struct onnx_made sum =
		onnx_make(n, "Add", onnx_input(n, k), addend, name);

	if (sum.n.node == NULL)
		return -1;
	n->node->inputs[k] = sum.out;
	return 0;
}

/* Keep the first @count inputs of the node. */
static void keep_inputs(const struct onnx_node *n, size_t count)
{
	if (n->node->n_inputs > count)
		n->node->n_inputs = count;
}

/* Input 1 is a bias. */
static int load_biased(struct onnx_node *n)
{
	modser_sg_tensor *bias = onnx_input(n, 1);

	keep_inputs(n, 1);
	return bias != NULL ? add_to(n, 0, bias, NULL) : 0;
}

static int load_fast_gelu(struct onnx_node *n)
{
	return onnx_set_text(n, "approximate", "tanh") == 0 ? load_biased(n) : -1;
}

/* Exchange the last two axes of input @k. */
static int transpose(const struct onnx_node *n, size_t k)
{
	int64_t perm[MODSER_GRAPH_MAX_NDIM];
	const int ndim = onnx_input_ndim(n, k);

	if (ndim < 0)
		return onnx_fail(n, "the shape of its input %zu is not known", k);
	if (ndim < 2)
		return 0; /* a vector */
	for (int i = 0; i < ndim; i++)
		perm[i] = i < ndim - 2 ? i : 2 * ndim - 3 - i;
	return onnx_insert(n, k, "Transpose", "perm", perm, (size_t)ndim);
}

static int load_fused_mat_mul(struct onnx_node *n)
{
	const Onnx__AttributeProto *alpha = onnx_attr(n, "alpha");

	if (n->node->n_inputs != 2)
		return onnx_fail(n, "it is no product of two matrices");
	if (onnx_attr_int(n, "transBatchA", 0) != 0 ||
	    onnx_attr_int(n, "transBatchB", 0) != 0)
		return onnx_fail(n, "its batches are transposed, which cannot be read");
	if ((onnx_attr_int(n, "transA", 0) != 0 && transpose(n, 0) != 0) ||
	    (onnx_attr_int(n, "transB", 0) != 0 && transpose(n, 1) != 0))
		return -1;
	if (alpha == NULL || alpha->f == 1)
		return 0;
	const struct onnx_made scaled =
		onnx_make(n, "Mul", onnx_input(n, 0), NULL, NULL);
	if (scaled.n.node == NULL || onnx_add_float(&scaled.n, 1, alpha->f) != 0)
		return -1;
	n->node->inputs[0] = scaled.out;
	return 0;
}

/* The name of output @i in the file; NULL: it is not requested. */
static const char *output_name(const struct onnx_node *n, size_t i)
{
	const char *name = i < n->proto->n_output ? onnx_text(n->proto->output[i]) : "";

	return name[0] != '\0' ? name : NULL;
}

/* Inputs 0 and 1 are added, and so is the last one, a bias. Output 3 is the sum.
 * @bias: where the bias is. */
static int load_skip(struct onnx_node *n, size_t bias)
{
	modser_sg_tensor *skip = onnx_input(n, 1);
	modser_sg_tensor *more = onnx_input(n, bias);
	const char *sum = output_name(n, 3);

	if (skip == NULL || onnx_input(n, 2) == NULL)
		return onnx_fail(n, "it has no skip or no gamma");
	if (add_to(n, 0, skip, more == NULL ? sum : NULL) != 0 ||
	    (more != NULL && add_to(n, 0, more, sum) != 0))
		return -1;
	for (size_t i = 1; i + 1 < n->node->n_inputs; i++)
		n->node->inputs[i] = n->node->inputs[i + 1];
	n->node->n_inputs--;
	keep_inputs(n, bias - 1);
	while (n->node->n_inputs > 2 && n->node->inputs[n->node->n_inputs - 1] == NULL)
		n->node->n_inputs--;
	n->n_outputs = n->n_outputs > 3 ? 3 : n->n_outputs;
	return 0;
}

static int load_skip_norm(struct onnx_node *n)
{
	return load_skip(n, 4);
}

/* Without beta, mean and deviation. */
static int load_skip_rms_norm(struct onnx_node *n)
{
	if (output_name(n, 1) != NULL || output_name(n, 2) != NULL)
		return onnx_fail(n, "it has outputs for training");
	const int result = load_skip(n, 3);
	n->n_outputs = 1;
	return result;
}

/* Rows of @table at indices @at. */
static modser_sg_tensor *rows_at(const struct onnx_node *n, modser_sg_tensor *table,
				 modser_sg_tensor *at)
{
	const struct onnx_made made = onnx_make(n, "Gather", table, at, NULL);

	return made.n.node != NULL && onnx_set_int(&made.n, "is_onnx", 1) == 0
		       ? made.out
		       : NULL;
}

/* The first rows of @table, as many as the extent of axis 1 of @ids. */
static modser_sg_tensor *first_rows(const struct onnx_node *n, modser_sg_tensor *table,
				    modser_sg_tensor *ids)
{
	static const int64_t zero = 0;
	const struct onnx_made length = onnx_make(n, "Shape", ids, NULL, NULL);
	const struct onnx_made made = onnx_make(n, "Slice", table, NULL, NULL);

	if (length.n.node == NULL || made.n.node == NULL ||
	    onnx_set_int(&length.n, "start", 1) != 0 ||
	    onnx_set_int(&made.n, "isonnx", 1) != 0 ||
	    onnx_add_ints(&made.n, 1, &zero, 1) != 0 ||
	    onnx_put_input(&made.n, 2, length.out) != 0 ||
	    onnx_add_ints(&made.n, 3, &zero, 1) != 0)
		return NULL;
	return made.out;
}

/* The number of ones in each row of @mask; of zeros without a mask. */
static int put_mask_index(const struct onnx_node *n, modser_sg_tensor *ids,
			  modser_sg_tensor *mask, const char *name)
{
	static const int64_t axis = 1;
	static const int32_t zero = 0;
	struct onnx_made product;

	if (mask == NULL) { /* ids * 0 */
		product = onnx_make(n, "Mul", ids, NULL, NULL);
		if (product.n.node == NULL ||
		    onnx_add_constant(&product.n, 1, "int32", NULL, 0, &zero) != 0)
			return -1;
		mask = product.out;
	}
	const struct onnx_made sum = onnx_make(n, "Reduction", mask, NULL, name);
	return sum.n.node != NULL && onnx_set_int(&sum.n, "type", 0) == 0 &&
			       onnx_set_int(&sum.n, "keepdim", 0) == 0
		       ? onnx_add_ints(&sum.n, 1, &axis, 1)
		       : -1;
}

enum { IDS, SEGMENTS, WORDS, PLACES, SEGMENT_ROWS, GAMMA, BETA, MASK, PLACE_IDS };

/* Words, positions and segments are looked up and added; output 1 counts the mask,
 * output 2 is the sum. */
static int load_embed(struct onnx_node *n)
{
	modser_sg_tensor *in[PLACE_IDS + 1];
	const char *sum = output_name(n, 2);

	for (size_t i = 0; i <= PLACE_IDS; i++)
		in[i] = onnx_input(n, i);
	if (in[IDS] == NULL || in[WORDS] == NULL || in[PLACES] == NULL ||
	    in[GAMMA] == NULL || in[BETA] == NULL)
		return onnx_fail(n, "an input is missing");
	if ((in[SEGMENTS] == NULL) != (in[SEGMENT_ROWS] == NULL))
		return onnx_fail(n, "it has segments without rows for them");
	modser_sg_tensor *words = rows_at(n, in[WORDS], in[IDS]);
	modser_sg_tensor *places = in[PLACE_IDS] != NULL
					   ? rows_at(n, in[PLACES], in[PLACE_IDS])
					   : first_rows(n, in[PLACES], in[IDS]);
	if (words == NULL || places == NULL)
		return -1;
	n->node->inputs[0] = words;
	if (add_to(n, 0, places, in[SEGMENTS] == NULL ? sum : NULL) != 0)
		return -1;
	if (in[SEGMENTS] != NULL) {
		modser_sg_tensor *rows = rows_at(n, in[SEGMENT_ROWS], in[SEGMENTS]);

		if (rows == NULL || add_to(n, 0, rows, sum) != 0)
			return -1;
	}
	n->node->inputs[1] = in[GAMMA];
	n->node->inputs[2] = in[BETA];
	keep_inputs(n, 3);
	n->n_outputs = 1;
	return output_name(n, 1) == NULL
		       ? 0
		       : put_mask_index(n, in[IDS], in[MASK], output_name(n, 1));
}

/* Positions are input 1, before the tables. */
static int load_rotary(struct onnx_node *n)
{
	if (n->node->n_inputs != 4)
		return onnx_fail(n, "it has %zu inputs, expected 4", n->node->n_inputs);
	modser_sg_tensor *places = n->node->inputs[1];
	n->node->inputs[1] = n->node->inputs[2];
	n->node->inputs[2] = n->node->inputs[3];
	n->node->inputs[3] = places;
	return 0;
}

const struct onnx_row onnx_rows_microsoft[] = {
	{"BiasGelu", 1, "Gelu", "", load_biased},
	{"EmbedLayerNormalization", 1, "LayerNorm",
	 "epsilon=eps:1e-12 -mask_index_type", load_embed},
	{"FastGelu", 1, "Gelu", "", load_fast_gelu},
	{"FusedMatMul", 1, "MatMul", "-alpha -transA -transB -transBatchA -transBatchB",
	 load_fused_mat_mul},
	{"Gelu", 1, "Gelu", "", NULL},
	{"QuickGelu", 1, "Swish", "alpha:1.702", NULL},
	{"RotaryEmbedding", 1, "RotaryEmbedding",
	 "interleaved num_heads rotary_embedding_dim", load_rotary},
	{"SimplifiedLayerNormalization", 1, "RMSNorm",
	 "axis:-1 epsilon=eps:1e-5 -stash_type", NULL},
	{"SkipLayerNormalization", 1, "LayerNorm", "epsilon=eps:1e-12", load_skip_norm},
	{"SkipSimplifiedLayerNormalization", 1, "RMSNorm", "epsilon=eps:1e-12",
	 load_skip_rms_norm},
	{0},
};
