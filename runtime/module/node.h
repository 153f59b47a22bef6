#ifndef MSD_RUNTIME_MODULE_NODE_H
#define MSD_RUNTIME_MODULE_NODE_H
/*
 * One node of a loaded import tree: what a kind of module can do, which the table of
 * kinds (runtime/kind/kinds.h) has a row for.
 */
#include "artifact/elf/era.h"
#include "runtime/abi/context.h"
#include "runtime/module/module.h"

struct msd_instance;
struct msd_node;

/* What a kind gets when its node is opened. All borrowed for the life of the node. */
struct msd_node_context {
	int fd;               /* the library's file */
	struct msd_span file; /* its bytes */
	const struct msd_elf *elf;
	enum msd_era era;
	struct msd_span payload;
	const struct msd_load_options *options;
	/* It was given beside the library: options->graph is what it is, and
	 * options->params are its own. */
	bool is_given;
};

struct msd_node_ops {
	/**
	 * Make the node from its payload. Imports are attached afterwards and are
	 * complete when @start is called. May leave node->refusal set instead of
	 * failing.
	 */
	msd_err (*open)(struct msd_node *node, const struct msd_node_context *ctx,
			struct msd_diag *d);
	/** Optional: called for every node once the whole tree stands, imports first.
	 */
	msd_err (*start)(struct msd_node *node, struct msd_diag *d);
	/**
	 * Optional: called for every node when the module is placed, once: @device is
	 * where it runs (msd_loaded_place()). What needs a driver happens here.
	 */
	msd_err (*place)(struct msd_node *node, struct msd_device device,
			 struct msd_diag *d);
	/** Optional: own function by name, not through imports; NULL when there is
	 * none. The pointer is good until the node is closed. Several threads may look
	 * up at a time. */
	struct msd_function *(*find)(struct msd_node *node, const char *name);
	/** Optional: call @each for every own function that a caller may name. Infos
	 * and what they point to live until the node is closed. */
	msd_err (*list)(struct msd_node *node,
			msd_err (*each)(void *ctx, const struct msd_func_info *info),
			void *ctx);
	/** Optional: what there is here in place of @name, which TVM has in such a
	 * module; static, or NULL. */
	const char *(*tell)(const struct msd_node *node, const char *name);
	/** Optional: ask the own functions for their signatures. Their places begin at
	 * *@place, which is moved behind the last. */
	msd_err (*probe)(struct msd_node *node, const struct msd_probe_gate *gate,
			 size_t *place, struct msd_diag *d);
	/** Optional: something that keeps state (runtime/module/instance.h). */
	msd_err (*instance)(struct msd_node *node, struct msd_instance **ret,
			    struct msd_diag *d);
	void (*close)(struct msd_node *node); /* half-built nodes too */
};

struct msd_node {
	struct msd_abi_context
		context; /* first: compiled code of the node looks up here */
	const struct msd_node_ops *ops;
	uint32_t
		index; /* in the tree; 0 is its root. What was given has the next one */
	struct msd_span kind;  /* the tree's kind string */
	const char *kind_name; /* the same, of the table; "": it has no row */
	struct msd_node **imports;
	size_t n_imports;
	/* Whose imports compiled code sees behind those of its own library: the root's,
	 * for what stands beside a library below it is visible, too. NULL: nobody's. */
	struct msd_node *root;
	char *refusal; /* why functions of this node cannot run here, or NULL; owned */
	void *state;   /* the kind's own */
};

/** The .params file with what modules keep beside their library; empty: none, or it is
 * that of a graph or program which was given, and this is not it. */
struct msd_span msd_node_params(const struct msd_node_context *ctx);
/** Own functions, then imports depth-first. NULL when nobody has it. */
struct msd_function *msd_node_lookup(struct msd_node *node, const char *name);
/** The same, starting with the imports: what compiled code sees through its context.
 * After them come those of node->root, then the packed functions of the runtime itself
 * (runtime/global/global.h). */
struct msd_function *msd_node_lookup_from_imports(struct msd_node *node,
						  const char *name);
/** Begin a node: its context asks msd_node_lookup_from_imports(). */
void msd_node_init(struct msd_node *node);
/** Append "module 1 (cuda) cannot run here: ..." for every refused node below @node,
 * itself included, joined by "; ". Says why a lookup may have failed. */
void msd_node_refusals(struct msd_node *node, struct msd_buf *out);

#endif
