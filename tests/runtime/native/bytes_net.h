#ifndef MSD_TESTS_BYTES_NET_H
#define MSD_TESTS_BYTES_NET_H
/* Graphs of quantized layers over constants, and their runs. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/constant.h"
#include "tests/graph/net.h"
#include "tests/runtime/native/levels.h"

/* Run the graph and copy its first output. */
static inline char *run(modser_graph *g, const char *engine, unsigned threads,
			size_t *ret_n)
{
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};
	uint64_t bytes;

	cr_assert_eq(setenv("MODSERD_ENGINE", engine, 1), 0);
	msd_pool_stop();
	msd_pool_configure(threads);
	cr_assert_eq(msd_plan_create(g, &plan, &d), MSD_OK, "%s", msd_diag_text(&d));
	cr_assert_eq(msd_plan_run(plan, NULL, &d), MSD_OK, "%s", msd_diag_text(&d));
	cr_assert(msd_sg_tensor_bytes(msd_plan_output_tensor(plan, 0), &bytes));
	char *y = malloc(bytes + 1);
	cr_assert_not_null(y);
	memcpy(y, msd_plan_output(plan, 0), bytes);
	*ret_n = bytes;
	msd_plan_destroy(plan);
	msd_pool_stop();
	return y;
}

static inline modser_sg_tensor *constant(modser_graph *g, const char *dtype,
					 size_t ndim, const int64_t *dims,
					 unsigned seed)
{
	const size_t size = strcmp(dtype, "int32") == 0 ? 4 : 1;
	size_t n = 1;

	for (size_t i = 0; i < ndim; i++)
		n *= (size_t)dims[i];
	float *noise = levels_numbers(n, seed);
	char *data = malloc(n * size + 1);
	cr_assert_not_null(data);
	for (size_t i = 0; i < n; i++) {
		const int32_t v = (int32_t)(noise[i] * (size == 4 ? 5000.f : 127.f));

		if (size == 4) {
			memcpy(data + i * size, &v, size);
		} else {
			data[i] = (char)(strcmp(dtype, "uint8") == 0 ? v + 128 : v);
		}
	}
	free(noise);
	modser_sg_tensor *t = net_constant(g, dtype, ndim, dims, data);
	(void)modser_sg_tensor_set_buffer(t, data, free);
	return t;
}

static inline modser_sg_tensor *scale(modser_graph *g, float v)
{
	float *p = malloc(sizeof(*p));

	cr_assert_not_null(p);
	*p = v;
	modser_sg_tensor *t = net_constant(g, "float32", 0, NULL, p);
	(void)modser_sg_tensor_set_buffer(t, p, free);
	return t;
}

/* A scale for each of @n channels. */
static inline modser_sg_tensor *scales(modser_graph *g, int64_t n, float v)
{
	float *p = malloc((size_t)n * sizeof(*p));

	cr_assert_not_null(p);
	for (int64_t i = 0; i < n; i++)
		p[i] = v * (1 + 0.1f * (float)(i % 7));
	modser_sg_tensor *t = net_constant(g, "float32", 1, &n, p);
	(void)modser_sg_tensor_set_buffer(t, p, free);
	return t;
}

static inline modser_sg_tensor *zero(modser_graph *g, const char *dtype, int v)
{
	char *p = malloc(1);

	cr_assert_not_null(p);
	*p = (char)v;
	modser_sg_tensor *t = net_constant(g, dtype, 0, NULL, p);
	(void)modser_sg_tensor_set_buffer(t, p, free);
	return t;
}

static inline modser_sg_tensor *node(modser_graph *g, const char *op, size_t n,
				     modser_sg_tensor *const *in)
{
	modser_sg_tensor *y = modser_sg_tensor_create(g, op);
	modser_sg_node *made = net_node(g, op, op, y);

	for (size_t i = 0; i < n; i++)
		(void)modser_sg_node_add_input(made, in[i]);
	return y;
}

static inline modser_sg_node *last(modser_graph *g)
{
	return modser_graph_node(g, modser_graph_node_count(g) - 1);
}

static inline void set_ints(modser_sg_node *n, const char *name, size_t count,
			    const int64_t *list)
{
	const modser_sg_attr a = {MODSER_ATTR_INTS, count, {.ints = list}};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(n), name, &a), 0);
}

static inline void set_int(modser_sg_node *n, const char *name, int64_t v)
{
	cr_assert_eq(modser_sg_op_set_int(modser_sg_node_op(n), name, v), 0, "%s",
		     name);
}

/* A convolution of @axes axes. */
struct window {
	size_t axes;
	int64_t in, out, group, extent, kernel, stride, dilation, pad;
	const char *x, *w, *y;
};

static const struct window windows[] = {
	{2, 8, 13, 1, 11, 3, 1, 1, 1, "uint8", "int8", "uint8"},
	{2, 7, 9, 1, 17, 3, 2, 1, 1, "int8", "int8", "int8"},
	{2, 16, 24, 1, 14, 1, 1, 1, 0, "uint8", "uint8", "uint8"},
	{2, 12, 6, 1, 9, 1, 2, 1, 0, "uint8", "int8", "int8"},
	{2, 12, 18, 3, 10, 3, 1, 2, 2, "uint8", "int8", "uint8"},
	{2, 10, 10, 10, 15, 3, 2, 1, 1, "uint8", "int8", "uint8"},
	{2, 6, 6, 6, 12, 5, 1, 1, 2, "int8", "uint8", "int8"},
	{2, 3, 32, 1, 40, 7, 3, 1, 3, "uint8", "int8", "uint8"},
	{1, 9, 11, 1, 37, 5, 1, 1, 2, "uint8", "int8", "uint8"},
	{3, 4, 7, 1, 6, 3, 1, 1, 1, "uint8", "int8", "uint8"},
	{2, 130, 33, 1, 5, 3, 1, 1, 0, "uint8", "int8", "uint8"},
	{2, 5, 9, 1, 50, 3, 1, 1, 1, "uint8", "int8", "int8"},
	{2, 6, 40, 2, 33, 5, 2, 1, 2, "int8", "int8", "uint8"},
	{2, 4, 4, 4, 37, 3, 1, 1, 1, "int8", "int8", "uint8"},
	{2, 3, 3, 3, 21, 5, 2, 1, 2, "uint8", "int8", "int8"},
	{1, 5, 5, 5, 30, 7, 1, 2, 3, "uint8", "int8", "uint8"},
	{2, 2, 2, 2, 20, 9, 1, 1, 4, "uint8", "int8", "uint8"},
};
#define N_WINDOWS (sizeof(windows) / sizeof(windows[0]))

static inline void set_window(modser_sg_node *n, const struct window *w)
{
	const char *const hw[] = {"kernel_h",   "kernel_w",   "stride_h", "stride_w",
				  "dilation_h", "dilation_w", "pad_h0",   "pad_w0",
				  "pad_h1",     "pad_w1"};
	const int64_t all[] = {w->kernel, w->stride, w->dilation, w->pad, w->pad};
	const int64_t pads[] = {w->pad, w->pad, w->pad, w->pad, w->pad, w->pad};

	set_int(n, "group", w->group);
	for (size_t i = 0; i < 10 && w->axes == 2; i++)
		set_int(n, hw[i], all[i / 2]);
	if (w->axes == 2)
		return;
	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = {"kernel", "strides", "dilations"};
		const int64_t list[] = {all[i], all[i], all[i]};

		set_ints(n, names[i], w->axes, list);
	}
	set_ints(n, "pads", 2 * w->axes, pads);
}

static inline modser_sg_tensor *image(modser_graph *g, const struct window *w)
{
	const int64_t dims[] = {2, w->in, w->extent, w->extent, w->extent};

	return constant(g, w->x, 2 + w->axes, dims, 11);
}

static inline modser_sg_tensor *kernels(modser_graph *g, const struct window *w)
{
	const int64_t dims[] = {w->out, w->in / w->group, w->kernel, w->kernel,
				w->kernel};

	return constant(g, w->w, 2 + w->axes, dims, 12);
}

static inline modser_sg_tensor *floats(modser_graph *g, size_t ndim,
				       const int64_t *dims, float by)
{
	size_t n = 1;

	for (size_t i = 0; i < ndim; i++)
		n *= (size_t)dims[i];
	float *x = levels_numbers(n, 31);
	for (size_t i = 0; i < n; i++)
		x[i] *= by;
	modser_sg_tensor *t = net_constant(g, "float32", ndim, dims, x);
	(void)modser_sg_tensor_set_buffer(t, x, free);
	return t;
}

#endif
