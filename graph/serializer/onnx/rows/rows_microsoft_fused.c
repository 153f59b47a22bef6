/*
 * Operators of ONNX Runtime (com.microsoft) that its optimizer makes of several nodes:
 * attention, products with a function behind them, and products of quantized weights.
 * The node itself is the last of the nodes that each becomes.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/format.h"
#include "graph/serializer/onnx/rows/row.h"

static modser_sg_tensor *two(const struct onnx_node *n, const char *op,
			     modser_sg_tensor *a, modser_sg_tensor *b)
{
	return a != NULL && b != NULL ? onnx_make(n, op, a, b, NULL).out : NULL;
}

/* @x with @op and the number @v. */
static modser_sg_tensor *by_number(const struct onnx_node *n, const char *op,
				   modser_sg_tensor *x, float v)
{
	const struct onnx_made made = onnx_make(n, op, x, NULL, NULL);

	return made.n.node != NULL && onnx_add_float(&made.n, 1, v) == 0 ? made.out
									 : NULL;
}

static modser_sg_tensor *to(const struct onnx_node *n, modser_sg_tensor *x,
			    const char *dtype)
{
	const struct onnx_made made = onnx_make(n, "Cast", x, NULL, NULL);

	return made.n.node != NULL && onnx_set_text(&made.n, "to", dtype) == 0
		       ? made.out
		       : NULL;
}

static modser_sg_tensor *to_float(const struct onnx_node *n, modser_sg_tensor *x)
{
	return to(n, x, "float32");
}

/* Elements @begin to @end of axis @axis. */
static modser_sg_tensor *range(const struct onnx_node *n, modser_sg_tensor *x,
			       int64_t axis, int64_t begin, int64_t end)
{
	const struct onnx_made made = onnx_make(n, "Slice", x, NULL, NULL);

	return made.n.node != NULL && onnx_set_int(&made.n, "isonnx", 1) == 0 &&
			       onnx_add_ints(&made.n, 1, &begin, 1) == 0 &&
			       onnx_add_ints(&made.n, 2, &end, 1) == 0 &&
			       onnx_add_ints(&made.n, 3, &axis, 1) == 0
		       ? made.out
		       : NULL;
}

/* Give the node these inputs; NULL: one is left out. */
static int set_inputs(const struct onnx_node *n, modser_sg_tensor *const *in,
		      size_t count)
{
	while (count > 0 && in[count - 1] == NULL)
		count--;
	n->node->n_inputs = 0;
	for (size_t i = 0; i < count; i++) {
		if (modser_sg_node_add_input(n->node, in[i]) < 0)
			return -1;
	}
	return 0;
}

/* Let the node compute @op of @x. */
static int finish(struct onnx_node *n, const char *op, modser_sg_tensor *x)
{
	modser_sg_op *made = x != NULL ? modser_sg_op_create(n->l->g, op) : NULL;

	if (made == NULL)
		return -1;
	msd_sg_node_take_op(n->node, made);
	n->op = made;
	return set_inputs(n, &x, 1);
}

/* ---- Attention ---- */

enum { LESS = 4 }; /* type of Comparison */

/* Flags of [batch, keys] from the number of keys in each entry of the batch. */
static modser_sg_tensor *shown_of(const struct onnx_node *n, modser_sg_tensor *lengths,
				  modser_sg_tensor *keys)
{
	static const int64_t axis = 1;
	const struct onnx_made ends =
		onnx_make(n, "Unsqueeze", to(n, lengths, "int64"), NULL, NULL);

	if (ends.n.node == NULL || onnx_set_ints(&ends.n, "axes", &axis, 1) != 0)
		return NULL;
	modser_sg_tensor *places = onnx_make_places(n, keys, keys->ndim == 4 ? 2 : 1);
	const struct onnx_made shown =
		onnx_make(n, "Comparison", places, ends.out, NULL);
	return shown.n.node != NULL && onnx_set_int(&shown.n, "type", LESS) == 0
		       ? shown.out
		       : NULL;
}

/* The addend before the softmax: a large negative number where @mask is 0. Its axes
 * are [batch, keys] or [batch, queries, keys]. */
static modser_sg_tensor *mask_of(const struct onnx_node *n, modser_sg_tensor *mask,
				 int ndim)
{
	static const int64_t axes[] = {1, 2};
	const Onnx__AttributeProto *given = onnx_attr(n, "mask_filter_value");
	const float low = given != NULL ? given->f : -10000.0f;

	modser_sg_tensor *t = by_number(n, "Sub", to_float(n, mask), 1);
	t = t != NULL ? by_number(n, "Mul", t, -low) : NULL;
	if (t == NULL)
		return NULL;
	const struct onnx_made made = onnx_make(n, "Unsqueeze", t, NULL, NULL);
	return made.n.node != NULL && onnx_set_ints(&made.n, "axes", axes,
						    ndim == 3 ? 1 : 2) == 0
		       ? made.out
		       : NULL;
}

/* Dimensions of the mask, input @i; -1: not known. With open extents, the nodes that
 * make a mask are not inferred: a sum along the keys has one dimension less. */
static int mask_ndim(const struct onnx_node *n, size_t i)
{
	int lost = 0;

	(void)onnx_input_ndim(n, i);
	const modser_sg_tensor *t = onnx_input(n, i);
	while (t != NULL && t->ndim < 0 && t->producer != NULL &&
	       t->producer->n_inputs > 0) {
		const char *op = t->producer->op->schema->name;

		if (strcmp(op, "Reduction") == 0) {
			lost++;
		} else if (strcmp(op, "Cast") != 0 && strcmp(op, "Mul") != 0) {
			return -1;
		}
		t = t->producer->inputs[0];
	}
	return t != NULL && t->ndim >= 0 ? t->ndim - lost : -1;
}

/* The addend before the softmax: the sum of @bias and the mask, input @mask. */
static modser_sg_tensor *addend_of(const struct onnx_node *n, size_t mask,
				   modser_sg_tensor *bias, modser_sg_tensor *keys)
{
	const int ndim = mask_ndim(n, mask);
	modser_sg_tensor *flags = onnx_input(n, mask);

	if (ndim < 1 || ndim > 3) {
		(void)onnx_fail(n, "its mask has %d dimensions, expected 1 to 3", ndim);
		return NULL;
	}
	if (ndim == 1)
		flags = shown_of(n, flags, keys);
	modser_sg_tensor *addend = flags != NULL ? mask_of(n, flags, ndim) : NULL;
	return bias != NULL ? two(n, "Add", bias, addend) : addend;
}

/* Queries, keys, values and a past; the mask, input @mask, and @bias are added before
 * the softmax. */
static int attend(struct onnx_node *n, modser_sg_tensor *const qkv[3], size_t mask,
		  modser_sg_tensor *bias, modser_sg_tensor *const past[2])
{
	const int64_t heads = onnx_attr_int(n, "num_heads", 0);
	modser_sg_tensor *in[] = {qkv[0], qkv[1], qkv[2], bias, past[0], past[1]};

	if (qkv[0] == NULL || qkv[1] == NULL || qkv[2] == NULL)
		return onnx_fail(n, "it needs queries, keys and values of their own");
	if (onnx_attr_int(n, "unidirectional", 0) != 0 && past[0] != NULL)
		return onnx_fail(n, "unidirectional with a past cannot be read");
	if (onnx_input(n, mask) != NULL) {
		if (past[0] != NULL && mask_ndim(n, mask) == 1)
			return onnx_fail(n, "lengths with a past cannot be read");
		in[3] = addend_of(n, mask, bias, qkv[1]);
		if (in[3] == NULL)
			return -1;
	}
	if (onnx_set_int(n, "q_num_heads", heads) != 0 ||
	    onnx_set_int(n, "kv_num_heads", heads) != 0 ||
	    onnx_set_int(n, "is_causal", onnx_attr_int(n, "unidirectional", 0)) != 0)
		return -1;
	return set_inputs(n, in, 6);
}

/* Inputs: queries, keys, values, a bias of all three, a mask of the keys, what is added
 * before the softmax, past keys and values. */
static int load_multi_head(struct onnx_node *n)
{
	enum { BIAS = 3, MASK, ADDED, PAST_K, PAST_V };
	modser_sg_tensor *bias = onnx_input(n, BIAS);
	modser_sg_tensor *in[3] = {onnx_input(n, 0), onnx_input(n, 1),
				   onnx_input(n, 2)};
	modser_sg_tensor *const past[] = {onnx_input(n, PAST_K), onnx_input(n, PAST_V)};

	if (bias != NULL && (bias->ndim != 1 || bias->dims[0] % 3 != 0))
		return onnx_fail(n, "its bias is not of three parts");
	for (size_t i = 0; bias != NULL && i < 3; i++) {
		const int64_t part = bias->dims[0] / 3;

		in[i] = two(
			n, "Add", in[i],
			range(n, bias, 0, (int64_t)i * part, ((int64_t)i + 1) * part));
	}
	return attend(n, in, MASK, onnx_input(n, ADDED), past);
}

/* Inputs: data, weights and bias of queries, keys and values together, a mask, a past,
 * and what is added before the softmax. */
static int load_attention(struct onnx_node *n)
{
	enum { WEIGHTS = 1, BIAS, MASK, PAST, ADDED };
	const Onnx__AttributeProto *given = onnx_attr(n, "qkv_hidden_sizes");
	modser_sg_tensor *const none[2] = {NULL, NULL};
	modser_sg_tensor *weights = onnx_input(n, WEIGHTS);
	modser_sg_tensor *added = onnx_input(n, ADDED);
	modser_sg_tensor *part[3];
	int64_t at = 0;

	if (weights == NULL || weights->ndim != 2 || weights->dims[1] < 3)
		return onnx_fail(n, "the extents of its weights are not known");
	if (onnx_input(n, PAST) != NULL || onnx_attr_int(n, "do_rotary", 0) != 0)
		return onnx_fail(n, "a past, or do_rotary, cannot be read");
	modser_sg_tensor *all = two(n, "MatMul", onnx_input(n, 0), weights);
	if (onnx_input(n, BIAS) != NULL)
		all = two(n, "Add", all, onnx_input(n, BIAS));
	if (all == NULL)
		return -1;
	for (size_t i = 0; i < 3; i++) {
		const int64_t size = given != NULL && given->n_ints == 3
					     ? given->ints[i]
					     : weights->dims[1] / 3;

		part[i] = range(n, all, 2, at, at + size);
		at += size;
	}
	return attend(n, part, MASK, added, none);
}

/* ---- A function behind a product ---- */

static int activate(struct onnx_node *n, modser_sg_tensor *x, const float *params)
{
	static const char *const names[][2] = {
		{"Relu", "ReLu"}, {"Sigmoid", "Sigmoid"},
		{"Tanh", "Tanh"}, {"LeakyRelu", "ReLu"},
		{"Clip", "Clip"}, {"HardSigmoid", "Hardsigmoid"}};
	static const char *const words[][2] = {{NULL, NULL},   {NULL, NULL},
					       {NULL, NULL},   {"negative_slope", NULL},
					       {"min", "max"}, {"alpha", "beta"}};
	size_t i = 0;

	while (i < sizeof(names) / sizeof(names[0]) &&
	       !onnx_attr_is(n, "activation", names[i][0]))
		i++;
	if (i == sizeof(names) / sizeof(names[0]))
		return onnx_fail(n, "its activation cannot be read");
	if (finish(n, names[i][1], x) != 0)
		return -1;
	for (size_t k = 0; k < 2 && words[i][k] != NULL; k++) {
		const modser_sg_attr v = {.kind = MODSER_ATTR_FLOAT, .as.f = params[k]};

		if (modser_sg_op_set_param(n->op, words[i][k], &v) != 0)
			return -1;
	}
	return 0;
}

/* Input 3 is added before the function. */
static int load_fused_conv(struct onnx_node *n)
{
	const Onnx__AttributeProto *given = onnx_attr(n, "activation_params");
	modser_sg_tensor *const added = onnx_input(n, 3);
	float params[2] = {0.01f, 0};
	int64_t first;
	const struct onnx_row *conv = onnx_row_find(NULL, "Conv", ONNX_OPSET, &first);

	for (size_t i = 0; given != NULL && i < given->n_floats && i < 2; i++)
		params[i] = given->floats[i];
	struct onnx_made made =
		onnx_make(n, "Convolution", onnx_input(n, 0), onnx_input(n, 1), NULL);
	if (made.n.node == NULL ||
	    (onnx_input(n, 2) != NULL &&
	     onnx_put_input(&made.n, 2, onnx_input(n, 2)) != 0) ||
	    onnx_set_int(&made.n, "group", onnx_attr_int(n, "group", 1)) != 0 ||
	    conv->load(&made.n) != 0)
		return -1;
	return activate(n, added != NULL ? two(n, "Add", made.out, added) : made.out,
			params);
}

static int load_fused_gemm(struct onnx_node *n)
{
	static const char *const floats[] = {"alpha", "beta"};
	const Onnx__AttributeProto *alpha = onnx_attr(n, "activation_alpha");
	const Onnx__AttributeProto *beta = onnx_attr(n, "activation_beta");
	const float slope = onnx_attr_is(n, "activation", "HardSigmoid") ? 0.2f : 0.01f;
	const float params[2] = {alpha != NULL ? alpha->f : slope,
				 beta != NULL ? beta->f : 0.5f};
	struct onnx_made made =
		onnx_make(n, "Gemm", onnx_input(n, 0), onnx_input(n, 1), NULL);

	if (made.n.node == NULL ||
	    (onnx_input(n, 2) != NULL &&
	     onnx_put_input(&made.n, 2, onnx_input(n, 2)) != 0) ||
	    onnx_set_int(&made.n, "transA", onnx_attr_int(n, "transA", 0)) != 0 ||
	    onnx_set_int(&made.n, "transB", onnx_attr_int(n, "transB", 0)) != 0)
		return -1;
	for (size_t i = 0; i < 2; i++) {
		const Onnx__AttributeProto *a = onnx_attr(n, floats[i]);
		const modser_sg_attr v = {.kind = MODSER_ATTR_FLOAT,
					  .as.f = a != NULL ? a->f : 1};

		if (modser_sg_op_set_param(made.n.op, floats[i], &v) != 0)
			return -1;
	}
	return activate(n, made.out, params);
}

/* ---- Products of quantized weights ---- */

/* Input @k by its scale and zero point; along its last axis if there are several. */
static modser_sg_tensor *dequantize(const struct onnx_node *n, size_t k, size_t scale,
				    size_t zero)
{
	const struct onnx_made made = onnx_make(n, "DequantizeLinear", onnx_input(n, k),
						onnx_input(n, scale), NULL);

	if (made.n.node == NULL || onnx_set_int(&made.n, "axis", -1) != 0 ||
	    (onnx_input(n, zero) != NULL &&
	     onnx_put_input(&made.n, 2, onnx_input(n, zero)) != 0))
		return NULL;
	return made.out;
}

/* Let the node return @x, with a bias if it has input @bias. */
static int finish_product(struct onnx_node *n, modser_sg_tensor *x, size_t bias)
{
	modser_sg_tensor *b = onnx_input(n, bias);

	return finish(n, "Noop", b != NULL ? two(n, "Add", x, b) : x);
}

/* Inputs: a, b, the scales of both, their zero points, a bias. */
static int load_to_float(struct onnx_node *n)
{
	enum { A, B, SCALE_A, SCALE_B, ZERO_A, ZERO_B, BIAS };
	modser_sg_tensor *a = dequantize(n, A, SCALE_A, ZERO_A);

	return finish_product(n,
			      two(n, "MatMul", a,
				  a != NULL ? dequantize(n, B, SCALE_B, ZERO_B) : NULL),
			      BIAS);
}

/* Inputs: a of floats, quantized b, its scale and zero point, a bias. */
static int load_dynamic(struct onnx_node *n)
{
	enum { A, B, SCALE, ZERO, BIAS };
	const struct onnx_made q =
		onnx_make(n, "DynamicQuantizeLinear", onnx_input(n, A), NULL, NULL);
	modser_sg_tensor *more[2] = {NULL, NULL};

	for (size_t i = 0; i < 2 && q.n.node != NULL; i++) {
		more[i] = modser_sg_tensor_create(n->l->g, q.n.node->name);
		if (more[i] == NULL || modser_sg_node_add_output(q.n.node, more[i]) < 0)
			return -1;
	}
	if (more[1] == NULL)
		return -1;
	const struct onnx_made sum =
		onnx_make(n, "MatMulInteger", q.out, onnx_input(n, B), NULL);
	if (sum.n.node == NULL || onnx_put_input(&sum.n, 2, more[1]) != 0 ||
	    (onnx_input(n, ZERO) != NULL &&
	     onnx_put_input(&sum.n, 3, onnx_input(n, ZERO)) != 0))
		return -1;
	modser_sg_tensor *scale = two(n, "Mul", more[0], onnx_input(n, SCALE));
	return finish_product(n, two(n, "Mul", to_float(n, sum.out), scale), BIAS);
}

/* Weights in blocks of one column, of 4 bits each. */
struct blocks {
	int64_t rows, columns, block, n; /* blocks of a column */
	const uint8_t *bits;
	const float *scales;
	const uint8_t *zeros; /* NULL: 8 */
};

static void unpack(const struct blocks *b, float *to)
{
	for (int64_t c = 0; c < b->columns; c++) {
		for (int64_t r = 0; r < b->rows; r++) {
			const int64_t at = c * b->n + r / b->block;
			const int64_t k = r % b->block;
			const uint8_t pair = b->bits[at * (b->block / 2) + k / 2];
			int zero = 8;

			if (b->zeros != NULL) {
				const int64_t z = r / b->block;
				const uint8_t both =
					b->zeros[c * ((b->n + 1) / 2) + z / 2];

				zero = z % 2 == 0 ? both & 15 : both >> 4;
			}
			to[r * b->columns + c] =
				(float)((k % 2 == 0 ? pair & 15 : pair >> 4) - zero) *
				b->scales[at];
		}
	}
}

/* The bytes of constant input @i, of which there must be @bytes. */
static const void *constant(const struct onnx_node *n, size_t i, uint64_t bytes,
			    const char *dtype)
{
	const modser_sg_tensor *t = onnx_input(n, i);

	if (t != NULL && t->type == MODSER_TENSOR_CONST && t->data != NULL &&
	    t->bytes == bytes && strcmp(t->dtype_name, dtype) == 0)
		return t->data;
	(void)onnx_fail(n, "input %zu is no constant of %llu bytes of %s", i,
			(unsigned long long)bytes, dtype);
	return NULL;
}

/* Inputs: data, packed weights, scales, zero points, an order of groups, a bias. */
static int load_n_bits(struct onnx_node *n)
{
	enum { DATA, BITS, SCALES, ZEROS, GROUPS, BIAS, MOST = 1 << 28 };
	struct blocks b = {.rows = onnx_attr_int(n, "K", 0),
			   .columns = onnx_attr_int(n, "N", 0),
			   .block = onnx_attr_int(n, "block_size", 0)};

	if (onnx_attr_int(n, "bits", 4) != 4 || onnx_input(n, GROUPS) != NULL)
		return onnx_fail(n, "only 4 bits without groups can be read");
	if (b.rows < 1 || b.columns < 1 || b.rows > MOST || b.columns > MOST ||
	    b.rows * b.columns > MOST || b.block < 2 || b.block % 2 != 0 ||
	    b.block > MOST) {
		return onnx_fail(n,
				 "weights of %lld rows and %lld columns in blocks of "
				 "%lld",
				 (long long)b.rows, (long long)b.columns,
				 (long long)b.block);
	}
	b.n = (b.rows + b.block - 1) / b.block;
	const uint64_t all = (uint64_t)(b.n * b.columns);
	b.bits = constant(n, BITS, all * (uint64_t)b.block / 2, "uint8");
	b.scales = b.bits != NULL ? constant(n, SCALES, 4 * all, "float32") : NULL;
	if (b.scales == NULL)
		return -1;
	if (onnx_input(n, ZEROS) != NULL) {
		b.zeros = constant(n, ZEROS, (uint64_t)(b.columns * ((b.n + 1) / 2)),
				   "uint8");
		if (b.zeros == NULL)
			return -1;
	}
	float *own = calloc((size_t)(b.rows * b.columns), sizeof(*own));
	if (own == NULL)
		return msd_sg_no_memory(n->l->g);
	unpack(&b, own);
	const struct onnx_made made =
		onnx_make(n, "MatMul", onnx_input(n, DATA), NULL, NULL);
	const int64_t dims[] = {b.rows, b.columns};
	const int result =
		made.n.node != NULL
			? onnx_add_constant(&made.n, 1, "float32", dims, 2, own)
			: -1;
	free(own);
	return result == 0 ? finish_product(n, made.out, BIAS) : -1;
}

const struct onnx_row onnx_rows_microsoft_fused[] = {
	{"Attention", 1, "Attention",
	 "scale -num_heads -unidirectional -qkv_hidden_sizes -mask_filter_value "
	 "-do_rotary -rotary_embedding_dim -past_present_share_buffer",
	 load_attention},
	{"DynamicQuantizeMatMul", 1, "Noop", "", load_dynamic},
	{"FusedConv", 1, "Noop",
	 "-kernel_shape -strides -pads -dilations -auto_pad -group -activation "
	 "-activation_params",
	 load_fused_conv},
	{"FusedGemm", 1, "Noop",
	 "-alpha -beta -transA -transB -activation -activation_alpha -activation_beta "
	 "-activation_gamma",
	 load_fused_gemm},
	{"MatMulIntegerToFloat", 1, "Noop", "", load_to_float},
	{"MatMulNBits", 1, "Noop", "-K -N -bits -block_size -accuracy_level",
	 load_n_bits},
	{"MultiHeadAttention", 1, "Attention",
	 "scale -num_heads -unidirectional -mask_filter_value", load_multi_head},
	{0},
};
