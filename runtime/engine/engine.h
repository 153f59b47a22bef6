#ifndef MSD_RUNTIME_ENGINE_ENGINE_H
#define MSD_RUNTIME_ENGINE_ENGINE_H
/*
 * Engines: what computes nodes. When a graph is planned each node is offered to one
 * after the other, those of plugins first, and who takes it runs it. The reference
 * engine, the last, takes what has a kernel. A new one is a file and a row in engine.c.
 */
#include <modserd_plugin.h>

#include "graph/modser_graph.h"
#include "proto/diag.h"

struct msd_kernel_call;

struct msd_engine {
	const char *name;
	/* Take @node, whose operator and constants are there; *@ret_state is what the
	 * engine keeps of it. MSD_UNSUPPORTED: it is another's to compute. */
	msd_err (*take)(const struct msd_engine *e, const modser_sg_node *node,
			void **ret_state, struct msd_diag *d);
	/* The node's shapes and dtypes are known now: can it be run with these? NULL:
	 * always. */
	msd_err (*check)(void *state, const modser_sg_node *node, struct msd_diag *d);
	msd_err (*run)(void *state, const struct msd_kernel_call *c,
		       struct msd_diag *d);
	void (*leave)(void *state); /* the node goes; NULL: nothing is kept */
};
extern const struct msd_engine msd_engine_reference;

/* A node that was taken. */
struct msd_engine_node {
	const struct msd_engine *engine; /* NULL: nobody has taken it */
	void *state;
};

/** Offer @node to all. MSD_UNSUPPORTED: nobody takes it. */
MSD_MUST_CHECK msd_err msd_engine_offer(const modser_sg_node *node,
					struct msd_engine_node *ret,
					struct msd_diag *d);
/** May a pass make @node, which somebody could take as it is, part of an operator
 * @made? An engine of a plugin's says so that lists it, or does not take the node. */
bool msd_engine_may_make(const modser_sg_node *node, const char *made);
MSD_MUST_CHECK msd_err msd_engine_check(const struct msd_engine_node *n,
					const modser_sg_node *node, struct msd_diag *d);
void msd_engine_leave(struct msd_engine_node *n);
/** Add a plugin's, which is as modserd_host.add_engine of modserd_plugin.h says. */
int msd_engine_register(const modserd_engine *engine);

#endif
