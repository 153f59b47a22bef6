#ifndef MSD_RUNTIME_ENGINE_ENGINE_H
#define MSD_RUNTIME_ENGINE_ENGINE_H
/*
 * Engines: implementations that compute nodes. A plan offers each node, when its dtypes
 * and shapes are known, to one engine after the other, plugins first. The first engine
 * that claims the node and supports its shapes runs it. The reference engine is last
 * and claims every node with a kernel. A new engine is a file and a row in engine.c.
 */
#include <modserd_plugin.h>

#include "graph/modser_graph.h"
#include "proto/base/diag.h"
#include "proto/words/engine_word.h"

struct msd_kernel_call;

/* How an engine computes a node, for people. */
struct msd_engine_way {
	char implementation[32]; /* "avx2, winograd"; "": nothing to tell */
	uint64_t packed_bytes;   /* of constants that it keeps in another form */
	bool is_shared;          /* other workers of the module may have them, too */
};

struct msd_engine {
	const char *name;
	/* Claim @node; *@ret_state is the engine's state for it. MSD_UNSUPPORTED:
	 * another engine must compute it. A pass asks, too, before shapes are known,
	 * and a plan asks once for all shapes: a claim allocates nothing large, and
	 * the engine keeps no pointer to @node. */
	msd_err (*take)(const struct msd_engine *e, const modser_sg_node *node,
			void **ret_state, struct msd_diag *d);
	/* Check that the engine can run the node with its known shapes and dtypes.
	 * MSD_UNSUPPORTED: not with these; the next engine is asked. The answer is
	 * kept with the shapes, and runs of other shapes come between: it must not
	 * change what run() does. NULL: always. */
	msd_err (*check)(void *state, const modser_sg_node *node, struct msd_diag *d);
	msd_err (*run)(void *state, const struct msd_kernel_call *c,
		       struct msd_diag *d);
	void (*leave)(
		void *state); /* the node is freed; NULL: there is no state to free */
	/* Fill *@ret, which is empty. NULL: there is nothing to tell. */
	void (*tell)(const void *state, struct msd_engine_way *ret);
	/* As modserd_engine.lay_out. NULL: all tensors are row-major. */
	bool (*lay_out)(void *state, const modser_sg_node *node,
			const modserd_layout **in, const modserd_layout **out);
	/*
	 * Run the nodes of @group as one; @states has the state of each.
	 * MSD_UNSUPPORTED: they run one by one. The group stays valid until
	 * leave_group(), which is called before any of its nodes is left. NULL: this
	 * engine runs node by node, and the others below are NULL, too.
	 */
	msd_err (*join)(const struct msd_engine *e, const modserd_group *group,
			void *const *states, void **ret_state, struct msd_diag *d);
	/* @c has the inputs and outputs of the group; its node is the first one. */
	msd_err (*run_group)(void *state, const struct msd_kernel_call *c,
			     struct msd_diag *d);
	void (*leave_group)(void *state);
};
extern const struct msd_engine msd_engine_native;
extern const struct msd_engine msd_engine_reference;
/**
 * Select the engines of models that this process loads from now on. Without a choice,
 * or with AUTO, MODSERD_ENGINE=reference leaves all nodes to the reference engine.
 */
void msd_engine_choose(enum msd_engine_word word);
/** True if the choice leaves all nodes to the reference engine. */
bool msd_engine_native_is_off(void);

/* An accepted node. */
struct msd_engine_node {
	const struct msd_engine *engine; /* NULL: no engine has accepted it */
	void *state;
};

/* The engines of a planned node. */
struct msd_claim {
	struct msd_engine_node by; /* claimed it with known shapes */
	/* If shapes vary: runs the node when `by` does not support new shapes. */
	struct msd_engine_node reserve;
	/* Has packed weights, and is asked like the others with known shapes. */
	struct msd_engine_node packed;
};

/**
 * Let the first engine that supports @node, with its known shapes and dtypes, claim it.
 * MSD_UNSUPPORTED: no engine supports it; the text is that of the last one.
 */
MSD_MUST_CHECK msd_err msd_claim_make(struct msd_claim *c, const modser_sg_node *node,
				      struct msd_diag *d);
/**
 * Attach the reserve to @node, whose shapes vary: the last engine that computes its
 * operator, which is the reference engine if it has a kernel. MSD_UNSUPPORTED: no
 * engine computes the operator.
 */
MSD_MUST_CHECK msd_err msd_claim_reserve(struct msd_claim *c,
					 const modser_sg_node *node,
					 struct msd_diag *d);
/**
 * The engine that runs @node with its current shapes and dtypes: it is claimed now if
 * it was not before.
 */
MSD_MUST_CHECK msd_err msd_claim_choose(struct msd_claim *c, const modser_sg_node *node,
					const struct msd_engine_node **ret,
					struct msd_diag *d);
/**
 * Let the native engine pack the weights of @node. No engine has claimed the node, and
 * the caller has guessed its shapes. Does nothing if plugins have engines, because
 * these come first.
 */
void msd_claim_pack(struct msd_claim *c, const modser_sg_node *node);
void msd_claim_release(struct msd_claim *c);
/** True if a plugin computes @node, which @by runs: with its engine or its kernel. */
bool msd_engine_is_plugins(const struct msd_engine_node *by,
			   const modser_sg_node *node);
/**
 * Offer @node, which @by runs, again to each engine that comes before it, and call
 * @each with the reason why that one does not run it. For people: it may pack
 * constants once more, and drops them.
 */
void msd_engine_refusals(const struct msd_engine_node *by, const modser_sg_node *node,
			 void (*each)(void *ctx, const char *engine, const char *why),
			 void *ctx);
/**
 * True if a pass may merge @node, which some engine could run unchanged, into an
 * operator @made. A plugin's engine agrees if it lists the operator or does not
 * accept the node.
 */
bool msd_engine_may_make(const modser_sg_node *node, const char *made);
/**
 * Register a plugin's engine, as modserd_host.add_engine of modserd_plugin.h
 * specifies.
 */
int msd_engine_register(const modserd_engine *engine);

#endif
