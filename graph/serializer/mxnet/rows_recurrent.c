/*
 * RNN: layers of LSTM, GRU or plain cells, whose parameters are one vector. It has the
 * weights of all layers and directions, each for the input and then for the state, and
 * behind them all biases in the same order. Gates are in another order than ours.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/compose.h"
#include "graph/serializer/mxnet/layer.h"

struct kind {
	const char *mode;
	const char *op;
	int64_t gates;
	int64_t order[4]; /* gate @i of ours is gate order[i] of MXNet */
	const char *activation;
};
static const struct kind kinds[] = {
	{"lstm", "LSTM", 4, {0, 3, 1, 2}, NULL}, /* i f c o to i o f c */
	{"gru", "GRU", 3, {1, 0, 2}, NULL},      /* r z n to z r n */
	{"rnn_tanh", "RNN", 1, {0}, "Tanh"},
	{"rnn_relu", "RNN", 1, {0}, "Relu"},
};

struct rnn {
	const struct kind *kind;
	int64_t layers, ways, hidden;
	int64_t input; /* size of an input of the first layer */
	const float *weights;
};

/* Find the only size of the input with which the vector has @n elements. */
static bool find_input(const struct mxnet_layer *x, int64_t n, struct rnn *r)
{
	const int64_t rows = r->ways * r->kind->gates * r->hidden;
	const int64_t later =
		(r->layers - 1) * rows * (r->ways * r->hidden + r->hidden);
	const int64_t rest = n - later - r->layers * rows * 2;

	r->input = rest > 0 && rest % rows == 0 ? rest / rows - r->hidden : 0;
	if (r->input > 0)
		return true;
	(void)mxnet_fail(
		x, "%lld parameters are not those of %d layers with a state of %d",
		(long long)n, (int)r->layers, (int)r->hidden);
	return false;
}

static bool read_rnn(const struct mxnet_layer *x, struct rnn *ret)
{
	const modser_sg_tensor *p = x->in[1].t;
	size_t i = 0;

	if (!mxnet_int(x, "num_layers", 1, &ret->layers) ||
	    !mxnet_int(x, "state_size", 0, &ret->hidden))
		return false;
	while (i < sizeof(kinds) / sizeof(kinds[0]) &&
	       !mxnet_is(x, "mode", kinds[i].mode, ""))
		i++;
	if (i == sizeof(kinds) / sizeof(kinds[0]) ||
	    mxnet_attr(x->node, "projection_size") != NULL) {
		(void)mxnet_fail(x, "its mode, or a projection, cannot be read");
		return false;
	}
	ret->kind = &kinds[i];
	ret->ways = mxnet_bool(x, "bidirectional", false) ? 2 : 1;
	if (ret->layers < 1 || ret->layers > 64 || ret->hidden < 1 ||
	    ret->hidden > INT16_MAX) {
		(void)mxnet_fail(x, "%lld layers with a state of %lld",
				 (long long)ret->layers, (long long)ret->hidden);
		return false;
	}
	if (p->type != MODSER_TENSOR_CONST || p->ndim != 1 ||
	    strcmp(p->dtype_name, "float32") != 0) {
		(void)mxnet_fail(x, "its parameters are no vector of float32");
		return false;
	}
	ret->weights = p->data;
	return find_input(x, p->dims[0], ret);
}

/* Copy @n numbers of each gate from @from, in our order. */
static void put_gates(const struct kind *k, const float *from, int64_t n, float *to)
{
	for (int64_t g = 0; g < k->gates; g++)
		memcpy(to + g * n, from + k->order[g] * n, (size_t)n * sizeof(float));
}

/* The weights, or biases, of both directions as one constant of [ways, rows, columns]:
 * @columns numbers of each row, at @at of the vector with @step between directions. A
 * bias has two rows of all gates beside each other: @pieces is 2. */
static modser_sg_tensor *take(const struct mxnet_layer *x, const struct rnn *r,
			      int64_t at, int64_t step, int64_t columns, int64_t pieces)
{
	const int64_t rows = r->kind->gates * r->hidden;
	const int64_t one = rows * columns; /* numbers of one piece */
	const int64_t dims[] = {r->ways, rows * pieces, columns};
	float *own = malloc((size_t)(r->ways * one * pieces) * sizeof(*own));

	if (own == NULL) {
		(void)msd_sg_no_memory(x->b.g);
		return NULL;
	}
	for (int64_t d = 0; d < r->ways; d++) {
		for (int64_t k = 0; k < pieces; k++) {
			put_gates(r->kind, r->weights + at + d * step + k * one,
				  r->hidden * columns, own + (d * pieces + k) * one);
		}
	}
	modser_sg_tensor *t = msd_build_constant(&x->b, "float32", dims,
						 pieces == 2 ? 2 : 3, own, free);
	if (t == NULL)
		free(own);
	return t;
}

/* State @i of @layer; NULL with *@ret_bad unset: zeros. */
static modser_sg_tensor *state(const struct mxnet_layer *x, const struct rnn *r,
			       size_t i, int64_t layer, bool *ret_bad)
{
	static const int64_t axis = 0;
	static const int64_t step = 1;
	const int64_t begin = layer * r->ways;
	const int64_t end = begin + r->ways;

	*ret_bad = false;
	if (i >= x->n_in || strcmp(x->from[i]->op, "_zeros") == 0)
		return NULL;
	if (r->layers == 1)
		return x->in[i].t;
	modser_sg_tensor *const in[] = {x->in[i].t, msd_build_ints(&x->b, &begin, 1),
					msd_build_ints(&x->b, &end, 1),
					msd_build_ints(&x->b, &axis, 1),
					msd_build_ints(&x->b, &step, 1)};
	modser_sg_tensor *t = msd_build_node(&x->b, "Slice", in, 5);
	t = msd_build_done(msd_build_int(t, "isonnx", 1));
	*ret_bad = t == NULL;
	return t;
}

/* The node of one layer. Numbers of the vector before it: @weights, @biases. */
static modser_sg_tensor *run_layer(const struct mxnet_layer *x, const struct rnn *r,
				   modser_sg_tensor *in, int64_t layer, int64_t weights,
				   int64_t biases)
{
	const int64_t columns = layer == 0 ? r->input : r->ways * r->hidden;
	const int64_t rows = r->kind->gates * r->hidden;
	const int64_t step = rows * (columns + r->hidden);
	const size_t n_states = strcmp(r->kind->mode, "lstm") == 0 ? 2 : 1;
	modser_sg_tensor *const ins[] = {
		in, take(x, r, weights, step, columns, 1),
		take(x, r, weights + rows * columns, step, r->hidden, 1),
		take(x, r, biases, 2 * rows, 1, 2)};
	modser_sg_tensor *states[2] = {NULL};

	for (size_t i = 0; i < n_states; i++) {
		bool is_bad;

		states[i] = state(x, r, 2 + i, layer, &is_bad);
		if (is_bad)
			return NULL;
	}
	modser_sg_tensor *t = msd_build_node(&x->b, r->kind->op, ins, 4);
	if (t == NULL || modser_sg_node_add_input(t->producer, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < n_states; i++) {
		if (modser_sg_node_add_input(t->producer, states[i]) < 0)
			return NULL;
	}
	t = msd_build_text(t, "direction", r->ways == 2 ? "bidirectional" : "forward");
	t = msd_build_int(t, "hidden_size", r->hidden);
	if (strcmp(r->kind->op, "GRU") == 0)
		t = msd_build_int(t, "linear_before_reset", 1);
	if (r->kind->activation != NULL) {
		static const char *const twice[][2] = {{"Tanh", "Tanh Tanh"},
						       {"Relu", "Relu Relu"}};
		const size_t k = strcmp(r->kind->activation, "Relu") == 0;

		t = msd_build_text(t, "activations", twice[k][r->ways - 1]);
	}
	return t;
}

/* [steps, ways, batch, hidden] becomes [steps, batch, ways * hidden]. */
static modser_sg_tensor *join_ways(const struct mxnet_layer *x, const struct rnn *r,
				   modser_sg_tensor *t)
{
	static const int64_t perm[] = {0, 2, 1, 3};
	const int64_t dims[] = {0, 0, r->ways * r->hidden};

	return msd_build_reshape(&x->b, msd_build_transpose(&x->b, t, perm, 4), dims,
				 3);
}

static modser_sg_tensor *stack(const struct mxnet_layer *x, modser_sg_tensor **parts,
			       int64_t n)
{
	return n == 1 ? parts[0] : msd_build_concat(&x->b, parts, (size_t)n, 0);
}

/* Outputs are all steps of the last layer and, if asked for, the states of all. */
static size_t load_rnn(struct mxnet_layer *x, modser_sg_tensor **ret, size_t max)
{
	const bool has_states = mxnet_bool(x, "state_outputs", false);
	modser_sg_tensor *states[2][64];
	modser_sg_tensor *t = x->in[0].t;
	struct rnn r = {0};
	int64_t weights = 0;

	if (max < 3 || !read_rnn(x, &r))
		return 0;
	const bool is_lstm = strcmp(r.kind->mode, "lstm") == 0;
	const int64_t rows = r.kind->gates * r.hidden;
	int64_t biases = x->in[1].t->dims[0] - r.layers * r.ways * rows * 2;
	for (int64_t layer = 0; layer < r.layers; layer++) {
		const int64_t columns = layer == 0 ? r.input : r.ways * r.hidden;
		modser_sg_tensor *y = run_layer(x, &r, t, layer, weights, biases);

		if (y == NULL)
			return 0;
		for (size_t i = 0; has_states && i < (is_lstm ? 2 : 1); i++)
			states[i][layer] = msd_build_output(&x->b, y);
		t = join_ways(x, &r, msd_build_done(y));
		if (t == NULL)
			return 0;
		weights += r.ways * rows * (columns + r.hidden);
		biases += r.ways * rows * 2;
	}
	x->ndim = 3;
	ret[0] = t;
	if (!has_states)
		return 1;
	ret[1] = stack(x, states[0], r.layers);
	ret[2] = is_lstm ? stack(x, states[1], r.layers) : NULL;
	return is_lstm ? 3 : 2;
}

const struct mxnet_row mxnet_rows_recurrent[] = {
	{"RNN", 2, 4, .many = load_rnn},
	{0},
};
