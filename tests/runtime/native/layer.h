#ifndef MSD_TESTS_LAYER_H
#define MSD_TESTS_LAYER_H
/* Graphs of one node, by the native engine and by the reference engine (agree.h). */
#include "tests/graph/one.h"
#include "tests/runtime/native/agree.h"

static inline void expect_agreement(const char *what, struct one *o)
{
	size_t n;
	float *want = run(o->g, "reference", 1, &n);
	float *is = run(o->g, "native", 1, &n);

	expect_close(what, is, want, n);
	expect_same_bits(what, o->g, is);
	free(want);
	free(is);
	one_end(o);
}

static inline void add(struct one *o, size_t ndim, const int64_t *dims, unsigned seed)
{
	(void)modser_sg_node_add_input(o->node, given(o->g, ndim, dims, seed));
}

/* As the reference engine where a result is not finite, and close to it elsewhere. */
static inline void expect_same_kinds(const char *what, struct one *o)
{
	size_t n;
	float *want = run(o->g, "reference", 1, &n);
	float *is = run(o->g, "native", 1, &n);

	for (size_t i = 0; i < n; i++) {
		cr_assert_eq(isnan(is[i]), isnan(want[i]), "%s: element %zu", what, i);
		cr_assert(isnan(is[i]) || isinf(want[i])
				  ? is[i] == want[i] || isnan(is[i])
				  : fabsf(is[i] - want[i]) < 1e-5f,
			  "%s: element %zu", what, i);
	}
	expect_same_bits(what, o->g, is);
	free(want);
	free(is);
	one_end(o);
}

#endif
