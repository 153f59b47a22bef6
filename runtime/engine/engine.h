#ifndef MSD_RUNTIME_ENGINE_ENGINE_H
#define MSD_RUNTIME_ENGINE_ENGINE_H
/*
 * Engines: implementations that compute nodes. When a graph is planned, each node is
 * offered to one engine after the other, plugins first, and the first that accepts it
 * runs it. The reference engine is last and accepts every node with a kernel. A new
 * engine is a file and a row in engine.c.
 */
#include <modserd_plugin.h>

#include "graph/modser_graph.h"
#include "proto/base/diag.h"

struct msd_kernel_call;

struct msd_engine {
	const char *name;
	/* Accept @node, with its operator and constants set; *@ret_state is the
	 * engine's state for it. MSD_UNSUPPORTED: another engine must compute it. */
	msd_err (*take)(const struct msd_engine *e, const modser_sg_node *node,
			void **ret_state, struct msd_diag *d);
	/* The node's shapes and dtypes are now known: check that it can run with
	 * them. NULL: always. */
	msd_err (*check)(void *state, const modser_sg_node *node, struct msd_diag *d);
	msd_err (*run)(void *state, const struct msd_kernel_call *c,
		       struct msd_diag *d);
	void (*leave)(
		void *state); /* the node is freed; NULL: there is no state to free */
};
extern const struct msd_engine msd_engine_native;
extern const struct msd_engine msd_engine_reference;

/* An accepted node. */
struct msd_engine_node {
	const struct msd_engine *engine; /* NULL: no engine has accepted it */
	void *state;
};

/** Offer @node to all engines. MSD_UNSUPPORTED: no engine accepts it. */
MSD_MUST_CHECK msd_err msd_engine_offer(const modser_sg_node *node,
					struct msd_engine_node *ret,
					struct msd_diag *d);
/**
 * True if a pass may merge @node, which some engine could run unchanged, into an
 * operator @made. A plugin's engine agrees if it lists the operator or does not
 * accept the node.
 */
bool msd_engine_may_make(const modser_sg_node *node, const char *made);
MSD_MUST_CHECK msd_err msd_engine_check(const struct msd_engine_node *n,
					const modser_sg_node *node, struct msd_diag *d);
void msd_engine_leave(struct msd_engine_node *n);
/**
 * Register a plugin's engine, as modserd_host.add_engine of modserd_plugin.h
 * specifies.
 */
int msd_engine_register(const modserd_engine *engine);

#endif
