#ifndef MSD_TESTS_ONE_H
#define MSD_TESTS_ONE_H
/* A graph of one node, and its plan. */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/constant.h"
#include "tests/graph/net.h"

/* A node of @op over constants and one input of one axis. */
struct one {
	modser_graph *g;
	modser_sg_node *node;
	struct msd_plan *plan;
	struct msd_diag d;
};

static inline struct one one_begin(const char *op)
{
	struct one o = {.g = modser_graph_create("one")};
	modser_sg_tensor *y = modser_sg_tensor_create(o.g, "y");

	o.node = net_node(o.g, "n", op, y);
	(void)modser_graph_add_output(o.g, y);
	return o;
}

static inline void one_add_shaped(struct one *o, const char *dtype, size_t ndim,
				  const int64_t *dims, const void *bytes)
{
	(void)modser_sg_node_add_input(o->node,
				       net_constant(o->g, dtype, ndim, dims, bytes));
}

static inline void one_add_constant(struct one *o, const char *dtype, int64_t n,
				    const void *bytes)
{
	one_add_shaped(o, dtype, 1, &n, bytes);
}

static inline void one_add_input(struct one *o, const char *dtype, int64_t n)
{
	modser_sg_tensor *t = modser_sg_tensor_create(o->g, "x");

	(void)modser_sg_tensor_set_type(t, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dtype(t, dtype);
	(void)modser_sg_tensor_set_dims(t, &n, 1);
	(void)net_node(o->g, "x", "InputOp", t);
	(void)modser_graph_add_input(o->g, t);
	(void)modser_sg_node_add_input(o->node, t);
}

static inline void one_end(struct one *o)
{
	msd_plan_destroy(o->plan);
	modser_graph_destroy(o->g);
	msd_diag_finish(&o->d);
	msd_pool_stop();
}

static inline void expect_said(const struct one *o, const char *what)
{
	const char *text = msd_diag_text(&o->d);

	cr_expect(strstr(text, what) != NULL, "\"%s\" is not in \"%s\"", what, text);
}

#endif
