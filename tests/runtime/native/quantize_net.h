#ifndef MSD_TESTS_QUANTIZE_NET_H
#define MSD_TESTS_QUANTIZE_NET_H
/* Operators between DequantizeLinear and QuantizeLinear, and what the pass `quantize`
 * makes of them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/pass/pass.h"
#include "runtime/engine/engine.h"
#include "tests/runtime/native/bytes_net.h"

static inline modser_sg_tensor *dequantized(modser_graph *g, modser_sg_tensor *x,
					    const char *dtype, float by, int at)
{
	return node(g, "DequantizeLinear", 3,
		    (modser_sg_tensor *[]){x, scale(g, by), zero(g, dtype, at)});
}

static inline modser_sg_tensor *quantized(modser_graph *g, modser_sg_tensor *x,
					  const char *dtype, float by, int at)
{
	return node(g, "QuantizeLinear", 3,
		    (modser_sg_tensor *[]){x, scale(g, by), zero(g, dtype, at)});
}

static inline size_t count_op(const modser_graph *g, const char *op)
{
	size_t n = 0;

	for (size_t i = 0; i < modser_graph_node_count(g); i++) {
		n += strcmp(modser_sg_op_name(
				    modser_sg_node_op(modser_graph_node(g, i))),
			    op) == 0;
	}
	return n;
}

/* Run the passes: @n nodes of @op are made, and no DequantizeLinear stays. */
static inline void expect_made(modser_graph *g, const char *op, size_t n)
{
	const struct msd_pass_host host = {NULL, msd_engine_may_make};
	struct msd_passed passed;

	cr_assert_eq(setenv("MODSERD_ENGINE", "reference", 1), 0);
	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	cr_expect_eq(passed.n[MSD_PASS_quantize], 0, "the reference engine is alone");
	cr_assert_eq(setenv("MODSERD_ENGINE", "native", 1), 0);
	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	cr_expect_eq(count_op(g, op), n, "%zu of %s", count_op(g, op), op);
	cr_expect_eq(count_op(g, "DequantizeLinear"), 0);
	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
}

/* Bytes differ from @want by one step, and in at most one of a thousand: at ties. */
static inline void expect_ties(const char *what, modser_graph *g, const char *want,
			       size_t n)
{
	for (unsigned threads = 1; threads <= 3; threads++) {
		size_t n_own, n_ties = 0;
		char *y = run(g, "native", threads, &n_own);

		cr_assert_eq(n, n_own);
		for (size_t i = 0; i < n; i++) {
			const uint8_t step = (uint8_t)(y[i] - want[i]);

			cr_assert(step == 0 || step == 1 || step == 255, "%s: byte %zu",
				  what, i);
			n_ties += step != 0;
		}
		cr_expect_leq(n_ties, n / 1000, "%s: %zu of %zu differ", what, n_ties,
			      n);
		free(y);
	}
}

static inline void expect_integers(const char *what, modser_graph *g, const char *op,
				   size_t n_op)
{
	size_t n;
	char *want = run(g, "reference", 1, &n);

	expect_made(g, op, n_op);
	expect_ties(what, g, want, n);
	free(want);
	modser_graph_destroy(g);
}

#endif
