#ifndef MSD_TESTS_AGREE_H
#define MSD_TESTS_AGREE_H
/* Graphs by the native engine and by the reference engine: the same within 1e-5 of the
 * largest, and the same bits on 1, 2 and 3 threads. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/constant.h"
#include "tests/graph/net.h"
#include "tests/runtime/native/levels.h"

static inline size_t elements(const modser_sg_tensor *t)
{
	size_t n = 1;

	cr_assert_geq(modser_sg_tensor_ndim(t), 0);
	for (int i = 0; i < modser_sg_tensor_ndim(t); i++)
		n *= (size_t)modser_sg_tensor_dims(t)[i];
	return n;
}

/* Run the graph and copy its first output. */
static inline float *run(modser_graph *g, const char *engine, unsigned threads,
			 size_t *ret_n)
{
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	cr_assert_eq(setenv("MODSERD_ENGINE", engine, 1), 0);
	msd_pool_stop();
	msd_pool_configure(threads);
	cr_assert_eq(msd_plan_create(g, &plan, &d), MSD_OK, "%s", msd_diag_text(&d));
	cr_assert_eq(msd_plan_run(plan, NULL, &d), MSD_OK, "%s", msd_diag_text(&d));
	*ret_n = elements(msd_plan_output_tensor(plan, 0));
	float *y = malloc((*ret_n + 1) * sizeof(*y));
	cr_assert_not_null(y);
	memcpy(y, msd_plan_output(plan, 0), *ret_n * sizeof(*y));
	msd_plan_destroy(plan);
	msd_pool_stop();
	return y;
}

static inline void expect_close(const char *what, const float *is, const float *want,
				size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fabs((double)want[i]) > most ? fabs((double)want[i]) : most;
	for (size_t i = 0; i < n; i++) {
		cr_assert(fabs((double)is[i] - (double)want[i]) <= 1e-5 * most ||
				  (isnan(is[i]) && isnan(want[i])),
			  "%s: element %zu is %.9g, not %.9g", what, i, (double)is[i],
			  (double)want[i]);
	}
}

static inline void expect_same_bits(const char *what, modser_graph *g,
				    const float *first)
{
	for (unsigned threads = 2; threads <= 3; threads++) {
		size_t n;
		float *y = run(g, "native", threads, &n);

		cr_expect(memcmp(first, y, n * sizeof(*y)) == 0,
			  "%s: other bits on %u threads", what, threads);
		free(y);
	}
}

static inline modser_sg_tensor *given(modser_graph *g, size_t ndim, const int64_t *dims,
				      unsigned seed)
{
	size_t n = 1;

	for (size_t i = 0; i < ndim; i++)
		n *= (size_t)dims[i];
	float *x = levels_numbers(n, seed);
	modser_sg_tensor *t = net_constant(g, "float32", ndim, dims, x);
	(void)modser_sg_tensor_set_buffer(t, x, free);
	return t;
}

static inline void set_list(modser_sg_node *node, const char *name, size_t n,
			    const int64_t *list)
{
	const modser_sg_attr a = {MODSER_ATTR_INTS, n, {.ints = list}};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(node), name, &a), 0, "%s",
		     name);
}

static inline void set_int(modser_sg_node *node, const char *name, int64_t v)
{
	cr_assert_eq(modser_sg_op_set_int(modser_sg_node_op(node), name, v), 0, "%s",
		     name);
}

/* A node that adds itself to @x. */
static inline modser_sg_tensor *then(modser_graph *g, const char *op,
				     modser_sg_tensor *x, modser_sg_tensor *y)
{
	modser_sg_tensor *to = modser_sg_tensor_create(g, op);
	modser_sg_node *node = net_node(g, op, op, to);

	(void)modser_sg_node_add_input(node, x);
	if (y != NULL)
		(void)modser_sg_node_add_input(node, y);
	return to;
}

#endif
