#ifndef MSD_TESTS_PASSING_H
#define MSD_TESTS_PASSING_H
/* Graphs of a few nodes, what passes make of them, and what both compute. */
#include <criterion/criterion.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/pass/pass.h"
#include "runtime/kernel/kernel.h"
#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/net.h"
#include "tests/support/fail_alloc.h"

#define MOST 64

static inline modser_sg_tensor *input(modser_graph *g, size_t ndim, const int64_t *dims)
{
	modser_sg_tensor *t = modser_sg_tensor_create(g, "x");

	(void)modser_sg_tensor_set_type(t, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dims(t, dims, ndim);
	(void)net_node(g, "x", "InputOp", t);
	(void)modser_graph_add_input(g, t);
	return t;
}

/* The output of a new node of @op over these; @b may be NULL. */
static inline modser_sg_tensor *add(modser_graph *g, const char *op,
				    modser_sg_tensor *a, modser_sg_tensor *b)
{
	modser_sg_tensor *y = modser_sg_tensor_create(g, op);
	modser_sg_node *node = net_node(g, op, op, y);

	(void)modser_sg_node_add_input(node, a);
	if (b != NULL)
		(void)modser_sg_node_add_input(node, b);
	return y;
}

static const struct msd_pass_host host = {msd_kernel_compute, NULL};

static inline struct msd_passed pass(modser_graph *g)
{
	struct msd_passed passed;

	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
	return passed;
}

static inline size_t count(const modser_graph *g, const char *op)
{
	size_t n = 0;

	for (size_t i = 0; i < modser_graph_node_count(g); i++) {
		const modser_sg_node *node = modser_graph_node(g, i);

		cr_assert_eq(modser_sg_node_index(node), i);
		n += strcmp(modser_sg_op_name(modser_sg_node_op(node)), op) == 0;
	}
	return n;
}

/* Output 0 for the input x[i] = i + 1. */
static inline size_t run(modser_graph *g, float ret[MOST])
{
	float x[MOST];
	const void *const in[] = {x};
	struct msd_plan *plan = NULL;
	uint64_t bytes;

	for (int i = 0; i < MOST; i++)
		x[i] = (float)(i + 1);
	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	cr_assert_eq(msd_plan_run(plan, in, NULL), MSD_OK);
	cr_assert(msd_sg_tensor_bytes(modser_graph_output(g, 0), &bytes));
	cr_assert_leq(bytes, MOST * sizeof(float));
	memcpy(ret, msd_plan_output(plan, 0), bytes);
	msd_plan_destroy(plan);
	msd_pool_stop();
	return (size_t)bytes;
}

typedef modser_graph *make_fn(void);

/* The bits of the graph that @make makes are the same after passes. */
static inline modser_graph *expect_same_bits(make_fn *make)
{
	modser_graph *plain = make();
	modser_graph *passed = make();
	float want[MOST], got[MOST];
	const size_t bytes = run(plain, want);

	(void)pass(passed);
	cr_assert_eq(run(passed, got), bytes);
	cr_expect_eq(memcmp(got, want, bytes), 0);
	modser_graph_destroy(plain);
	return passed;
}

/* Passes over the graph of @make with each of their allocations failing once. */
static inline void expect_every_failure(make_fn *make)
{
	bool failed = true;
	long k = 0;

	for (; failed; k++) {
		modser_graph *g = make();
		struct msd_passed passed;

		msd_fail_alloc(k);
		const int result = msd_passes_run(g, host, &passed);
		failed = msd_fail_alloc_stop();
		cr_assert(failed || result == 0, "allocation %ld", k);
		if (result != 0)
			cr_assert_str_eq(modser_graph_error_name(g), "NO_MEMORY");
		modser_graph_destroy(g);
	}
	cr_expect_gt(k, 8);
}

#endif
