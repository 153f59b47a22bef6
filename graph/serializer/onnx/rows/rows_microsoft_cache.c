/*
 * GroupQueryAttention of ONNX Runtime (com.microsoft), which language models of its
 * tools consist of: heads that share keys, rotated by their positions, with a cache of
 * keys and values. It becomes rotations, a write into the cache, and attention whose
 * keys end at the last query of each entry of the batch. The cache grows to the total
 * length; a longer one keeps its length.
 */
#include "graph/ir/graph.h"
#include "graph/serializer/onnx/rows/row.h"

enum {
	QUERY,
	KEY,
	VALUE,
	PAST_K,
	PAST_V,
	LAST_KEYS, /* the index of the last key of each entry */
	TOTAL,     /* the length of the cache with what is added */
	COS,
	SIN,
	PLACES,
	BIAS,
	KNOWN_INPUTS
};

/* The node, and the tensors that all parts use. */
struct group {
	const struct onnx_node *n;
	int64_t heads, kv_heads;
	modser_sg_tensor *length; /* of the queries: [1] */
	modser_sg_tensor *starts; /* the index of the first query: [batch] */
	modser_sg_tensor *places; /* of queries: [batch, length]; NULL: no rotation */
};

static modser_sg_tensor *two(const struct group *g, const char *op, modser_sg_tensor *a,
			     modser_sg_tensor *b)
{
	return a != NULL && b != NULL ? onnx_make(g->n, op, a, b, NULL).out : NULL;
}

/* @x with @op and the list @values as input 1. */
static modser_sg_tensor *by_ints(const struct group *g, const char *op,
				 modser_sg_tensor *x, const int64_t *values,
				 size_t count)
{
	const struct onnx_made made = onnx_make(g->n, op, x, NULL, NULL);

	return made.n.node != NULL && onnx_add_ints(&made.n, 1, values, count) == 0
		       ? made.out
		       : NULL;
}

static modser_sg_tensor *by_int(const struct group *g, const char *op,
				modser_sg_tensor *x, int64_t value)
{
	return by_ints(g, op, x, &value, 1);
}

/* @x as a list of int64. */
static modser_sg_tensor *list_of(const struct group *g, modser_sg_tensor *x)
{
	static const int64_t all = -1;
	const struct onnx_made made = onnx_make(g->n, "Cast", x, NULL, NULL);
	const struct onnx_made flat = onnx_make(
		g->n, "Reshape",
		made.n.node != NULL && onnx_set_text(&made.n, "to", "int64") == 0
			? made.out
			: NULL,
		NULL, NULL);

	return flat.n.node != NULL && onnx_set_int(&flat.n, "is_onnx", 1) == 0 &&
			       onnx_set_ints(&flat.n, "re_shape", &all, 1) == 0
		       ? flat.out
		       : NULL;
}

/* Columns @begin to @end of the last axis of @x. */
static modser_sg_tensor *columns(const struct group *g, modser_sg_tensor *x,
				 int64_t begin, int64_t end)
{
	static const int64_t axis = 2;
	const struct onnx_made made = onnx_make(g->n, "Slice", x, NULL, NULL);

	return made.n.node != NULL && onnx_set_int(&made.n, "isonnx", 1) == 0 &&
			       onnx_add_ints(&made.n, 1, &begin, 1) == 0 &&
			       onnx_add_ints(&made.n, 2, &end, 1) == 0 &&
			       onnx_add_ints(&made.n, 3, &axis, 1) == 0
		       ? made.out
		       : NULL;
}

/* [batch, length, heads * size] as [batch, heads, length, size]. */
static modser_sg_tensor *split_heads(const struct group *g, modser_sg_tensor *x,
				     int64_t heads)
{
	static const int64_t perm[] = {0, 2, 1, 3};
	const int64_t shape[] = {0, 0, heads, -1};
	const struct onnx_made split = onnx_make(g->n, "Reshape", x, NULL, NULL);

	if (split.n.node == NULL || onnx_set_int(&split.n, "is_onnx", 1) != 0 ||
	    onnx_set_ints(&split.n, "re_shape", shape, 4) != 0)
		return NULL;
	const struct onnx_made made =
		onnx_make(g->n, "Transpose", split.out, NULL, NULL);
	return made.n.node != NULL && onnx_set_ints(&made.n, "perm", perm, 4) == 0
		       ? made.out
		       : NULL;
}

/* The first query of a prompt is at 0, also if the entry is padded behind its end. */
static int place(struct group *g)
{
	const struct onnx_node *n = g->n;

	g->length = onnx_make_extent(n, onnx_input(n, QUERY), 1);
	modser_sg_tensor *ends =
		by_int(g, "Add", list_of(g, onnx_input(n, LAST_KEYS)), 1);
	g->starts = by_int(g, "Maximum", two(g, "Sub", ends, g->length), 0);
	if (g->starts == NULL)
		return -1;
	if (onnx_attr_int(n, "do_rotary", 0) == 0)
		return 0;
	g->places = onnx_input(n, PLACES);
	if (g->places != NULL)
		return 0;
	g->places = two(g, "Add", by_int(g, "Unsqueeze", g->starts, 1),
			onnx_make_places(n, onnx_input(n, QUERY), 1));
	return g->places != NULL ? 0 : -1;
}

static modser_sg_tensor *rotated(const struct group *g, modser_sg_tensor *x,
				 int64_t heads)
{
	modser_sg_tensor *cosines = onnx_input(g->n, COS);

	if (g->places == NULL)
		return x;
	const struct onnx_made made =
		onnx_make(g->n, "RotaryEmbedding", x, cosines, NULL);
	const bool is_known = cosines != NULL && cosines->ndim == 2;
	return made.n.node != NULL &&
			       onnx_put_input(&made.n, 2, onnx_input(g->n, SIN)) == 0 &&
			       onnx_put_input(&made.n, 3, g->places) == 0 &&
			       onnx_set_int(&made.n, "num_heads", heads) == 0 &&
			       onnx_set_int(&made.n, "rotary_embedding_dim",
					    is_known && cosines->dims[1] > 0
						    ? 2 * cosines->dims[1]
						    : 0) == 0 &&
			       onnx_param_read(&made.n, "rotary_interleaved",
					       "interleaved") == 0
		       ? made.out
		       : NULL;
}

/* The cache of input @past with @now from the first query on; output @output. */
static modser_sg_tensor *cached(const struct group *g, size_t past,
				modser_sg_tensor *now, size_t output)
{
	static const int64_t after_rows[] = {0, 0, 0, 0, 0, 0, 1, 0};
	const char *name =
		output < g->n->proto->n_output ? g->n->proto->output[output] : NULL;
	modser_sg_tensor *cache = onnx_input(g->n, past);

	name = name != NULL && name[0] != '\0' ? name : NULL;
	if (cache == NULL)
		return onnx_make(g->n, "Noop", now, NULL, name).out;
	modser_sg_tensor *more = two(g, "Sub", list_of(g, onnx_input(g->n, TOTAL)),
				     onnx_make_extent(g->n, cache, 2));
	more = by_ints(g, "Mul", by_int(g, "Maximum", more, 0), after_rows, 8);
	cache = two(g, "Pad", cache, more);
	if (cache == NULL || now == NULL)
		return NULL;
	const struct onnx_made made =
		onnx_make(g->n, "TensorScatter", cache, now, name);
	return made.n.node != NULL && onnx_put_input(&made.n, 2, g->starts) == 0
		       ? made.out
		       : NULL;
}

/* The elements of a head, which the cache tells if extents of the queries are open; 0:
 * not known. */
static int64_t head_size(const struct group *g, modser_sg_tensor *all)
{
	const modser_sg_tensor *cache = onnx_input(g->n, PAST_K);
	const int64_t heads = g->heads + 2 * g->kv_heads;

	if (cache != NULL && cache->ndim == 4 && cache->dims[3] > 0)
		return cache->dims[3];
	return onnx_input_ndim(g->n, QUERY) == 3 && all->dims[2] > 0 &&
			       all->dims[2] % heads == 0
		       ? all->dims[2] / heads
		       : 0;
}

/* Keys and values may lie behind the queries in input 0. */
static int split_parts(const struct group *g, modser_sg_tensor *part[3])
{
	modser_sg_tensor *all = part[0];

	if ((part[1] == NULL) != (part[2] == NULL))
		return onnx_fail(g->n, "it has keys or values alone");
	if (part[1] != NULL)
		return 0;
	const int64_t size = head_size(g, all);
	if (size < 1 || size > INT32_MAX) {
		return onnx_fail(g->n, "its heads do not divide its input, or the "
				       "extents of that are not known");
	}
	if (onnx_input_ndim(g->n, QUERY) == 3 && all->dims[2] > 0 &&
	    all->dims[2] != (g->heads + 2 * g->kv_heads) * size)
		return onnx_fail(g->n, "its heads do not fill its input");
	const int64_t keys = g->heads * size;
	const int64_t values = keys + g->kv_heads * size;
	part[0] = columns(g, all, 0, keys);
	part[1] = columns(g, all, keys, values);
	part[2] = columns(g, all, values, INT64_MAX); /* too many fit no cache */
	return part[2] != NULL ? 0 : -1;
}

static int check(const struct onnx_node *n)
{
	for (size_t i = KNOWN_INPUTS; i < n->node->n_inputs; i++) {
		if (onnx_input(n, i) != NULL)
			return onnx_fail(n, "input %zu cannot be read", i);
	}
	for (size_t i = 3; i < n->proto->n_output; i++) {
		if (n->proto->output[i][0] != '\0')
			return onnx_fail(n, "output %zu cannot be read", i);
	}
	if (onnx_attr_int(n, "smooth_softmax", 0) > 0)
		return onnx_fail(n, "smooth_softmax cannot be read");
	if (onnx_attr_int(n, "local_window_size", -1) == 0)
		return onnx_fail(n, "its window has no keys");
	if ((onnx_input(n, PAST_K) == NULL) != (onnx_input(n, PAST_V) == NULL))
		return onnx_fail(n, "it has a cache of keys or values alone");
	if (onnx_input(n, QUERY) == NULL || onnx_input(n, LAST_KEYS) == NULL ||
	    onnx_input(n, TOTAL) == NULL)
		return onnx_fail(n, "an input is missing");
	return 0;
}

/* Set the parameters of @made, the attention, from the attributes of the file. */
static int set_attention(const struct group *g, const struct onnx_node *made)
{
	const int64_t window = onnx_attr_int(g->n, "local_window_size", -1);

	return onnx_param_read(made, "scale", "scale") != 0 ||
			       onnx_param_read(made, "softcap", "softcap") != 0 ||
			       onnx_set_int(made, "is_causal", 1) != 0 ||
			       (window > 0 &&
				onnx_set_int(made, "left_window_size", window - 1) != 0)
		       ? -1
		       : 0;
}

static int finish(struct onnx_node *n, modser_sg_tensor *y)
{
	static const int64_t perm[] = {0, 2, 1, 3};
	static const int64_t shape[] = {0, 0, -1};
	const struct onnx_made turned = onnx_make(n, "Transpose", y, NULL, NULL);

	if (turned.n.node == NULL || onnx_set_ints(&turned.n, "perm", perm, 4) != 0 ||
	    onnx_set_int(n, "is_onnx", 1) != 0 ||
	    onnx_set_ints(n, "re_shape", shape, 3) != 0)
		return -1;
	n->node->n_inputs = 0;
	n->n_outputs = 1;
	return modser_sg_node_add_input(n->node, turned.out) < 0 ? -1 : 0;
}

static int load_group_query(struct onnx_node *n)
{
	struct group g = {.n = n,
			  .heads = onnx_attr_int(n, "num_heads", 0),
			  .kv_heads = onnx_attr_int(n, "kv_num_heads", 0)};
	modser_sg_tensor *part[] = {onnx_input(n, QUERY), onnx_input(n, KEY),
				    onnx_input(n, VALUE)};

	if (g.heads < 1 || g.kv_heads < 1 || g.heads > UINT16_MAX ||
	    g.kv_heads > UINT16_MAX)
		return onnx_fail(n, "it has no heads");
	if (check(n) != 0 || split_parts(&g, part) != 0 || place(&g) != 0)
		return -1;
	modser_sg_tensor *q = split_heads(&g, rotated(&g, part[0], g.heads), g.heads);
	modser_sg_tensor *k =
		split_heads(&g, rotated(&g, part[1], g.kv_heads), g.kv_heads);
	k = cached(&g, PAST_K, k, 1);
	modser_sg_tensor *v =
		cached(&g, PAST_V, split_heads(&g, part[2], g.kv_heads), 2);
	modser_sg_tensor *ends = two(&g, "Add", g.starts, g.length);
	if (q == NULL || k == NULL || v == NULL || ends == NULL)
		return -1;
	const struct onnx_made made = onnx_make(n, "Attention", q, k, NULL);
	if (made.n.node == NULL || onnx_put_input(&made.n, 2, v) != 0 ||
	    (onnx_input(n, BIAS) != NULL &&
	     onnx_put_input(&made.n, 3, onnx_input(n, BIAS)) != 0) ||
	    onnx_put_input(&made.n, 6, ends) != 0 || set_attention(&g, &made.n) != 0)
		return -1;
	return finish(n, made.out);
}

const struct onnx_row onnx_rows_microsoft_cache[] = {
	{"GroupQueryAttention", 1, "Reshape",
	 "-num_heads -kv_num_heads -scale -softcap -local_window_size -do_rotary "
	 "-rotary_interleaved -smooth_softmax",
	 load_group_query},
	{0},
};
