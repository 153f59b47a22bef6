/*
 * A plugin as others write one, against the installed headers alone: an engine that
 * runs Convolution, ReLu and Add, and groups of them as one, as an engine on top of a
 * library of graphs does. A group is interpreted node by node; tensors within it lie
 * in memory of the engine's own. JOINER_FAILS: run_group() fails.
 */
#include <modserd_plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How an operator is computed; the state of its nodes. */
struct op {
	const char *name;
	void (*compute)(const modser_sg_node *node, const float *const *in, float *out);
};

static size_t elements(const modser_sg_tensor *t)
{
	size_t n = 1;

	for (int i = 0; i < modser_sg_tensor_ndim(t); i++)
		n *= (size_t)modser_sg_tensor_dims(t)[i];
	return n;
}

static const int64_t *dims_of(const modser_sg_tensor *t)
{
	return modser_sg_tensor_dims(t);
}

static int64_t param(const modser_sg_node *node, const char *name)
{
	return modser_sg_op_int(modser_sg_node_op(node), name);
}

/* A convolution: extents of its tensors, and steps. */
struct conv {
	const int64_t *x, *w, *y;
	int64_t stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w, per_group;
};

/* Output @m, @i, @j of image @n. */
static double sum(const struct conv *c, const float *x, const float *w, int64_t n,
		  int64_t m, int64_t i, int64_t j)
{
	const int64_t first = m / c->per_group * c->w[1]; /* channel of the input */
	double s = 0;

	for (int64_t k = 0; k < c->w[1] * c->w[2] * c->w[3]; k++) {
		const int64_t channel = k / (c->w[2] * c->w[3]);
		const int64_t a = i * c->stride_h - c->pad_h +
				  k / c->w[3] % c->w[2] * c->dilation_h;
		const int64_t b =
			j * c->stride_w - c->pad_w + k % c->w[3] * c->dilation_w;

		if (a < 0 || a >= c->x[2] || b < 0 || b >= c->x[3])
			continue;
		s += (double)w[m * c->w[1] * c->w[2] * c->w[3] + k] *
		     (double)x[((n * c->x[1] + first + channel) * c->x[2] + a) *
				       c->x[3] +
			       b];
	}
	return s;
}

static void convolve(const modser_sg_node *node, const float *const *in, float *out)
{
	const struct conv c = {.x = dims_of(modser_sg_node_input(node, 0)),
			       .w = dims_of(modser_sg_node_input(node, 1)),
			       .y = dims_of(modser_sg_node_output(node, 0)),
			       .stride_h = param(node, "stride_h"),
			       .stride_w = param(node, "stride_w"),
			       .dilation_h = param(node, "dilation_h"),
			       .dilation_w = param(node, "dilation_w"),
			       .pad_h = param(node, "pad_h0"),
			       .pad_w = param(node, "pad_w0"),
			       .per_group = dims_of(modser_sg_node_output(node, 0))[1] /
					    param(node, "group")};
	const float *bias = modser_sg_node_input_count(node) > 2 ? in[2] : NULL;

	for (int64_t n = 0; n < c.y[0]; n++) {
		for (int64_t m = 0; m < c.y[1]; m++) {
			const double more = bias != NULL ? (double)bias[m] : 0;

			for (int64_t i = 0; i < c.y[2] * c.y[3]; i++) {
				*out++ = (float)(sum(&c, in[0], in[1], n, m, i / c.y[3],
						     i % c.y[3]) +
						 more);
			}
		}
	}
}

static void rectify(const modser_sg_node *node, const float *const *in, float *out)
{
	const size_t n = elements(modser_sg_node_output(node, 0));

	for (size_t i = 0; i < n; i++)
		out[i] = in[0][i] < 0 ? 0 : in[0][i];
}

static void add_up(const modser_sg_node *node, const float *const *in, float *out)
{
	const size_t n = elements(modser_sg_node_output(node, 0));

	for (size_t i = 0; i < n; i++)
		out[i] = in[0][i] + in[1][i];
}

static struct op ops[] = {
	{"Convolution", convolve}, {"ReLu", rectify}, {"Add", add_up}};

static int is_float(const modser_sg_tensor *t)
{
	return t == NULL || strcmp(modser_sg_tensor_dtype(t), "float32") == 0;
}

/* What no shape changes: a pass asks before shapes are known. */
static int take(const modser_sg_node *node, void **ret_state, char *ret_why,
		size_t why_bytes)
{
	const modser_sg_op *op = modser_sg_node_op(node);

	(void)ret_why;
	(void)why_bytes;
	for (size_t i = 0; i < modser_sg_node_input_count(node); i++) {
		if (!is_float(modser_sg_node_input(node, i)))
			return 0;
	}
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(ops[i].name, modser_sg_op_name(op)) != 0)
			continue;
		*ret_state = &ops[i];
		return modser_sg_op_float(op, "negative_slope") == 0 &&
		       (i > 0 || (modser_sg_op_int(op, "activation") == -1 &&
				  modser_sg_op_int(op, "pad_h0") >= 0));
	}
	return 0;
}

/* Two axes, and no broadcasting. */
static int validate(void *state, const modser_sg_node *node, char *ret_why,
		    size_t why_bytes)
{
	const struct op *op = state;
	const modser_sg_tensor *y = modser_sg_node_output(node, 0);

	if (op->compute == convolve && modser_sg_tensor_ndim(y) != 4) {
		(void)snprintf(ret_why, why_bytes, "not two axes");
		return 0;
	}
	for (size_t i = 0; op->compute == add_up && i < 2; i++) {
		if (elements(modser_sg_node_input(node, i)) != elements(y)) {
			(void)snprintf(ret_why, why_bytes, "it broadcasts");
			return 0;
		}
	}
	return 1;
}

static int run(void *state, const modserd_kernel_call *call, char *ret_why,
	       size_t why_bytes)
{
	const struct op *op = state;
	const float *in[3] = {NULL, NULL, NULL};

	(void)ret_why;
	(void)why_bytes;
	for (size_t i = 0; i < modser_sg_node_input_count(call->node); i++)
		in[i] = call->in[i];
	op->compute(call->node, in, call->out[0]);
	return 0;
}

struct group {
	const modserd_group *told;
	struct op **ops;  /* by node */
	size_t n_tensors; /* more than each index of the group's tensors */
	float **at;       /* by tensor: its place in a run */
	float **own;      /* by tensor: memory of a tensor within the group, or NULL */
};

static void leave_group(void *state)
{
	struct group *g = state;

	for (size_t i = 0; g->own != NULL && i < g->n_tensors; i++)
		free(g->own[i]);
	free((void *)g->ops);
	free((void *)g->at);
	free((void *)g->own);
	free(g);
}

static size_t beyond(const modserd_group *told)
{
	size_t n = 0;

	for (size_t i = 0; i < told->n_nodes; i++) {
		const modser_sg_node *node = told->nodes[i];

		for (size_t k = 0; k < modser_sg_node_input_count(node); k++) {
			const modser_sg_tensor *t = modser_sg_node_input(node, k);

			if (t != NULL && modser_sg_tensor_index(t) >= n)
				n = modser_sg_tensor_index(t) + 1;
		}
		const size_t y = modser_sg_tensor_index(modser_sg_node_output(node, 0));
		n = y >= n ? y + 1 : n;
	}
	return n;
}

static int is_output(const modserd_group *told, const modser_sg_tensor *t)
{
	for (size_t i = 0; i < told->n_outputs; i++) {
		if (told->outputs[i] == t)
			return 1;
	}
	return 0;
}

/* Memory for each result that is no output of the group. */
static int make_own(struct group *g)
{
	const modserd_group *told = g->told;

	for (size_t i = 0; i < told->n_nodes; i++) {
		const modser_sg_tensor *y = modser_sg_node_output(told->nodes[i], 0);
		float **own = &g->own[modser_sg_tensor_index(y)];

		if (is_output(told, y))
			continue;
		*own = malloc((elements(y) + 1) * sizeof(**own));
		if (*own == NULL)
			return -1;
	}
	return 0;
}

static int join(const modserd_group *told, void *const *states, void **ret_state,
		char *ret_why, size_t why_bytes)
{
	struct group *g = calloc(1, sizeof(*g));

	if (g == NULL)
		return -1;
	g->told = told;
	g->n_tensors = beyond(told);
	g->ops = calloc(told->n_nodes, sizeof(*g->ops));
	g->at = calloc(g->n_tensors, sizeof(*g->at));
	g->own = calloc(g->n_tensors, sizeof(*g->own));
	if (g->ops == NULL || g->at == NULL || g->own == NULL || make_own(g) != 0) {
		(void)snprintf(ret_why, why_bytes, "memory is short");
		leave_group(g);
		return -1;
	}
	for (size_t i = 0; i < told->n_nodes; i++)
		g->ops[i] = states[i];
	*ret_state = g;
	return 1;
}

static const float *place(const struct group *g, const modser_sg_tensor *t)
{
	uint64_t bytes;

	if (t == NULL)
		return NULL;
	return modser_sg_tensor_type_of(t) == MODSER_TENSOR_CONST
		       ? modser_sg_tensor_data(t, &bytes)
		       : g->at[modser_sg_tensor_index(t)];
}

static int run_group(void *state, const void *const *in, void *const *out,
		     char *ret_why, size_t why_bytes)
{
	struct group *g = state;
	const modserd_group *told = g->told;

#ifdef JOINER_FAILS
	(void)snprintf(ret_why, why_bytes, "the device is gone");
	return -1;
#endif
	(void)ret_why;
	(void)why_bytes;
	for (size_t i = 0; i < g->n_tensors; i++)
		g->at[i] = g->own[i];
	for (size_t i = 0; i < told->n_inputs; i++) {
		g->at[modser_sg_tensor_index(told->inputs[i])] =
			(float *)(uintptr_t)in[i];
	}
	for (size_t i = 0; i < told->n_outputs; i++) {
		/* An engine may write an output before it has read all inputs. */
		memset(out[i], 0xff, elements(told->outputs[i]) * sizeof(float));
		g->at[modser_sg_tensor_index(told->outputs[i])] = out[i];
	}
	for (size_t i = 0; i < told->n_nodes; i++) {
		const modser_sg_node *node = told->nodes[i];
		const float *args[3] = {NULL, NULL, NULL};

		for (size_t k = 0; k < modser_sg_node_input_count(node); k++)
			args[k] = place(g, modser_sg_node_input(node, k));
		g->ops[i]->compute(
			node, args,
			g->at[modser_sg_tensor_index(modser_sg_node_output(node, 0))]);
	}
	return 0;
}

/* Tests of the library's own take it, too. */
extern const modserd_engine joiner;
const modserd_engine joiner = {.size = sizeof(joiner),
			       .name = "joiner",
			       .take = take,
			       .run = run,
			       .validate = validate,
			       .join = join,
			       .run_group = run_group,
			       .leave_group = leave_group};

static int add(const modserd_host *host, char *ret_why, size_t why_bytes)
{
	(void)ret_why;
	(void)why_bytes;
	return host->add_engine(&joiner);
}

MODSERD_PLUGIN_BRINGS("engine joiner\n");
MODSERD_PLUGIN_EXPORT const modserd_plugin modserd_plugin_entry = {
	MODSERD_PLUGIN_ABI, sizeof(modserd_plugin), "joiner", "1.0", add};
