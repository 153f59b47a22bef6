#ifndef MSD_TESTS_JOINER_ENGINE_H
#define MSD_TESTS_JOINER_ENGINE_H
/*
 * The engine of tests/e2e/plugins/joiner.c in this process, with counts of what it is
 * asked, and graphs of the operators that it joins.
 */
#include <modserd_plugin.h>

#include "runtime/plan/plan.h"

#define JOINER_CHANNELS 3 /* channels */
#define JOINER_FLOATS ((size_t)JOINER_CHANNELS * 5 * 4)

extern const modserd_engine joiner; /* the plugin's own */

/* What the engine was asked, and what it says. */
struct joiner_seen {
	int n_asked, n_joined, n_run, n_left;
	size_t n_nodes, n_in, n_out; /* of the last group */
	int says;                    /* by join() */
	bool fails;                  /* run_group() does */
};
extern struct joiner_seen seen;
extern modserd_engine watched; /* as it was registered */

/** Register the engine, with new counts. */
void joiner_register(void);

/** An input of the graph: float32[1, JOINER_CHANNELS, @height, 4]. */
modser_sg_tensor *joiner_input(modser_graph *g, int64_t height);
/** The output of a node called @name; @b may be NULL. */
modser_sg_tensor *joiner_node(modser_graph *g, const char *op, const char *name,
			      modser_sg_tensor *a, modser_sg_tensor *b);
modser_sg_tensor *joiner_conv(modser_graph *g, const char *name, modser_sg_tensor *x);
/** A block of ResNet: conv, relu, conv, + x, relu. */
modser_graph *joiner_block(int64_t height);

msd_err joiner_call(struct msd_plan *plan, int64_t height, struct msd_diag *d);
struct msd_plan *joiner_plan(modser_graph *g);
/** The outputs of one run, one after the other. Returns the number of floats. */
size_t joiner_answer(modser_graph *g, int64_t height,
		     float ret[static 4 * JOINER_FLOATS]);

#endif
