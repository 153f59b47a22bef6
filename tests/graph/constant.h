#ifndef MSD_TESTS_CONSTANT_H
#define MSD_TESTS_CONSTANT_H
/* A constant of a graph under test. */
#include <criterion/criterion.h>

#include "graph/ir/graph.h"
#include "tests/graph/net.h"

/** Of @bytes, which are borrowed, with the node that gives it. */
static inline modser_sg_tensor *net_constant(modser_graph *g, const char *dtype,
					     size_t ndim, const int64_t *dims,
					     const void *bytes)
{
	modser_sg_tensor *t = modser_sg_tensor_create_const(g, "c");
	uint64_t size;

	(void)modser_sg_tensor_set_dtype(t, dtype);
	(void)modser_sg_tensor_set_dims(t, dims, ndim);
	cr_assert(msd_sg_tensor_bytes(t, &size));
	(void)modser_sg_tensor_set_size(t, size);
	(void)modser_sg_tensor_set_buffer(t, bytes, NULL);
	(void)net_node(g, "c", "Const", t);
	return t;
}

#endif
