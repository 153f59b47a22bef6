/*
 * A plugin as others write one, against the installed headers alone: an operator with a
 * kernel, its rows for ONNX and tmfiles, two engines, and a format, "toy": a line "toy
 * FACTOR EXTENT". TOY_... says which mistake it makes, or what else it knows.
 */
#include <modserd_plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int infer(modser_sg_node *node)
{
	const modser_sg_tensor *x = modser_sg_node_input(node, 0);

	return modser_sg_tensor_set_dims(modser_sg_node_output(node, 0),
					 modser_sg_tensor_dims(x),
					 (size_t)modser_sg_tensor_ndim(x));
}

static const modser_sg_op_field fields[] = {
	{"factor", {.kind = MODSER_ATTR_FLOAT, .as.f = 1}, false}};
static const modser_sg_op_schema schema = {.size = sizeof(schema),
					   .name = "ToyScale",
					   .fields = fields,
					   .n_fields = 1,
					   .min_in = 1,
					   .max_in = 1,
					   .min_out = 1,
					   .max_out = 1,
					   .infer = infer};

static const modserd_host *our_host;

/* Elements of a tensor, and their multiples. */
struct scaled {
	float factor;
	const float *in;
	float *out;
};

static void scale_one(const void *ctx, size_t i)
{
	const struct scaled *s = ctx;

	s->out[i] = s->factor * s->in[i];
}

static int run(const modserd_kernel_call *call, char *ret_why, size_t why_bytes)
{
	const modser_sg_tensor *x = modser_sg_node_input(call->node, 0);
	const float factor =
		modser_sg_op_float(modser_sg_node_op(call->node), "factor");
	const struct scaled s = {factor, call->in[0], call->out[0]};
	size_t n = 1;

	if (factor < 0) {
		(void)snprintf(ret_why, why_bytes, "a factor below 0");
		return -1;
	}
	for (int i = 0; i < modser_sg_tensor_ndim(x); i++)
		n *= (size_t)modser_sg_tensor_dims(x)[i];
	our_host->parallel(n, 1000000, scale_one, &s); /* slow, as it were */
	return 0;
}

static const modserd_kernel kernel = {sizeof(kernel), "ToyScale", run};
static const modser_tmfile_row tm_row = {sizeof(tm_row), 200, "ToyScale", "f:factor"};
static const modser_onnx_row row = {sizeof(row), "toy.example", "Scale",
				    2,           "ToyScale",    "factor!"};

/* An engine for Neg, of nodes that are called "toy..." alone: ten times as much. */
static int take(const modser_sg_node *node, void **ret_state, char *ret_why,
		size_t why_bytes)
{
	const char *name = modser_sg_node_name(node);

	if (strcmp(modser_sg_op_name(modser_sg_node_op(node)), "Neg") != 0 ||
	    strncmp(name, "toy", 3) != 0)
		return 0;
	if (strcmp(name, "toy.broken") == 0) {
		(void)snprintf(ret_why, why_bytes, "it is broken");
		return -1;
	}
	float *by = malloc(sizeof(*by));
	if (by == NULL)
		return -1;
	*by = -10;
	*ret_state = by;
	return 1;
}

static int run_taken(void *state, const modserd_kernel_call *call, char *ret_why,
		     size_t why_bytes)
{
	const modser_sg_tensor *x = modser_sg_node_input(call->node, 0);
	const float *by = state, *in = call->in[0];
	float *out = call->out[0];

	if (modser_sg_tensor_ndim(x) != 1) {
		(void)snprintf(ret_why, why_bytes, "not one axis");
		return -1;
	}
	for (int64_t i = 0; i < modser_sg_tensor_dims(x)[0]; i++)
		out[i] = *by * in[i];
	return 0;
}

static const modserd_engine engine = {.size = sizeof(engine),
				      .name = "toy engine",
				      .take = take,
				      .run = run_taken,
				      .leave = free};

/* Another, for convolutions of one channel and one place that are called "toy...":
 * three times as much, and seven times with a batch norm in it, where it knows of that.
 */
static int take_conv(const modser_sg_node *node, void **ret_state, char *ret_why,
		     size_t why_bytes)
{
	static float plain = 3, scaled = 7;
	const char *op = modser_sg_op_name(modser_sg_node_op(node));
	const bool is_scaled = strcmp(op, "ScaledConvolution") == 0;

#ifndef TOY_KNOWS
	if (is_scaled) {
		(void)snprintf(ret_why, why_bytes, "never heard of %s", op);
		return -1;
	}
#else
	(void)ret_why;
	(void)why_bytes;
#endif
	*ret_state = is_scaled ? &scaled : &plain;
	return (is_scaled || strcmp(op, "Convolution") == 0) &&
	       strncmp(modser_sg_node_name(node), "toy", 3) == 0;
}

static int run_conv(void *state, const modserd_kernel_call *call, char *ret_why,
		    size_t why_bytes)
{
	const int64_t *dims =
		modser_sg_tensor_dims(modser_sg_node_input(call->node, 0));
	const float *by = state, *in = call->in[0];
	float *out = call->out[0];

	(void)ret_why;
	(void)why_bytes;
	for (int64_t i = 0; i < dims[2] * dims[3]; i++)
		out[i] = *by * in[i];
	return 0;
}

#ifdef TOY_KNOWS
static const char *const made[] = {"ScaledConvolution", NULL};
#endif
static const modserd_engine convolutions = {.size = sizeof(convolutions),
					    .name = "toy convolutions",
					    .take = take_conv,
					    .run = run_conv,
#ifdef TOY_KNOWS
					    .made = made
#endif
};

static bool probe(const void *head, size_t bytes)
{
	return bytes >= 4 && memcmp(head, "toy ", 4) == 0;
}

static modser_sg_node *add_node(modser_graph *g, const char *op, modser_sg_tensor *y)
{
	modser_sg_node *node = modser_sg_node_create(g, op);

	(void)modser_sg_node_set_op(node, modser_sg_op_create(g, op));
	(void)modser_sg_node_add_output(node, y);
	return node;
}

static int load(const modser_serializer *s, const modser_part *parts,
		const modser_model_options *options, modser_graph *g)
{
	modser_sg_attr factor = {.kind = MODSER_ATTR_FLOAT};
	char text[64] = "";
	long extent = 0;

	(void)s;
	memcpy(text, parts[0].data, parts[0].bytes < 63 ? parts[0].bytes : 63);
	if (sscanf(text, "toy %f %ld", &factor.as.f, &extent) != 2)
		return modser_graph_fail(g, "no factor and extent behind \"toy\"");
	if (options->outputs != NULL && strcmp(options->outputs, "y") != 0)
		return modser_graph_fail(g, "it has one output, y");
	if (options->signature != NULL && strcmp(options->signature, "twice") == 0)
		factor.as.f *= 2;
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");
	modser_sg_tensor *y = modser_sg_tensor_create(g, "y");
	const int64_t dims[] = {extent};
	(void)modser_sg_tensor_set_dims(x, dims, 1);
	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)add_node(g, "InputOp", x);
	modser_sg_node *node = add_node(g, "ToyScale", y);
	(void)modser_sg_node_add_input(node, x);
	(void)modser_sg_op_set_param(modser_sg_node_op(node), "factor", &factor);
	(void)modser_graph_add_input(g, x);
	return modser_graph_add_output(g, y);
}

static int store(const modser_serializer *s, modser_graph *g, modser_part *ret_parts)
{
	const modser_sg_op *op =
		modser_sg_node_op(modser_graph_node(g, modser_graph_node_count(g) - 1));
	char *text = malloc(64);

	(void)s;
	if (text == NULL || strcmp(modser_sg_op_name(op), "ToyScale") != 0) {
		free(text);
		return modser_graph_fail(g, "a toy is one ToyScale");
	}
	const int n = snprintf(
		text, 64, "toy %g %ld\n", (double)modser_sg_op_float(op, "factor"),
		(long)modser_sg_tensor_dims(modser_graph_input(g, 0))[0]);
	ret_parts[0] = (modser_part){text, (size_t)n};
	return 0;
}

static const modser_serializer_ops ops = {
#ifndef TOY_HOLLOW
	.probe = probe,
#endif
	.size = sizeof(ops),
	.name = "toy reader",
	.format = "toy",
	.version = "3.1",
	.n_files = 1,
	.load = load,
	.store = store};

static int add(const modserd_host *host, char *ret_why, size_t why_bytes)
{
#ifdef TOY_CRASH
	*(volatile int *)8 = 1;
#endif
#ifdef TOY_REFUSE
	(void)snprintf(ret_why, why_bytes, "it is not in the mood");
	return -1;
#endif
	our_host = host;
	modser_serializer *s = modser_serializer_create(&ops);
	const bool is_good =
		s != NULL && modser_sg_op_register(&schema) == 0 &&
		host->add_kernel(&kernel) == 0 && host->add_engine(&engine) == 0 &&
		host->add_engine(&convolutions) == 0 &&
		modser_onnx_add_row(&row) == 0 && modser_tmfile_add_row(&tm_row) == 0 &&
		modser_serializer_add("toy", s) == 0;

	modser_serializer_unref(s);
	if (!is_good)
		(void)snprintf(ret_why, why_bytes, "its names are taken");
	return is_good ? 0 : -1;
}

#ifndef TOY_NO_ENTRY
MODSERD_PLUGIN_EXPORT const modserd_plugin modserd_plugin_entry = {
#ifdef TOY_ABI
	MODSERD_PLUGIN_ABI + 6,
#elif defined(TOY_OLD_ABI)
	MODSERD_PLUGIN_ABI - 1,
#else
	MODSERD_PLUGIN_ABI,
#endif
	sizeof(modserd_plugin), "toy", "0.9", add};
#endif
