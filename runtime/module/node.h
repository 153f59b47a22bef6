#ifndef MSD_RUNTIME_MODULE_NODE_H
#define MSD_RUNTIME_MODULE_NODE_H
/* One node of a loaded import tree, and the operations of a module kind; the table of
 * kinds (runtime/kind/kinds.h) has a row for each. */
#include "artifact/elf/era.h"
#include "runtime/abi/context.h"
#include "runtime/module/module.h"

struct msd_instance;
struct msd_node;
struct msd_plan;

/* Input of a kind when its node is opened. All borrowed for the life of the node. */
struct msd_node_context {
	int fd;               /* the library's file */
	struct msd_span file; /* its bytes */
	const struct msd_elf *elf;
	enum msd_era era;
	struct msd_span payload;
	const struct msd_load_options *options;
	/* The node was given with the library: options->graph is its content, and
	 * options->params are its own. */
	bool is_given;
};

struct msd_node_ops {
	/**
	 * Create the node from its payload. Imports are attached afterwards and are
	 * complete when @start is called. May set node->refusal instead of failing.
	 */
	msd_err (*open)(struct msd_node *node, const struct msd_node_context *ctx,
			struct msd_diag *d);
	/** Optional: called for every node when the whole tree exists, imports first.
	 */
	msd_err (*start)(struct msd_node *node, struct msd_diag *d);
	/**
	 * Optional: called once for every node when the module is placed on @device
	 * (msd_loaded_place()). Operations that need a driver happen here.
	 */
	msd_err (*place)(struct msd_node *node, struct msd_device device,
			 struct msd_diag *d);
	/**
	 * Optional: own function by name, not through imports; NULL if there is none.
	 * The pointer is valid until the node is closed. Several threads may look up
	 * at the same time.
	 */
	struct msd_function *(*find)(struct msd_node *node, const char *name);
	/**
	 * Optional: call @each for every own function that callers may use. Infos and
	 * the memory that they point to are valid until the node is closed.
	 */
	msd_err (*list)(struct msd_node *node,
			msd_err (*each)(void *ctx, const struct msd_func_info *info),
			void *ctx);
	/**
	 * Optional: hint about the replacement for @name, which TVM has in such a
	 * module; static, or NULL.
	 */
	const char *(*tell)(const struct msd_node *node, const char *name);
	/**
	 * Optional: probe the own functions for their signatures. Their places begin
	 * at *@place, which is advanced past the last.
	 */
	msd_err (*probe)(struct msd_node *node, const struct msd_probe_gate *gate,
			 size_t *place, struct msd_diag *d);
	/** Optional: create an object that keeps state (runtime/module/instance.h). */
	msd_err (*instance)(struct msd_node *node, struct msd_instance **ret,
			    struct msd_diag *d);
	/** Optional: the plan of a framework's model; borrowed. */
	struct msd_plan *(*plan)(const struct msd_node *node);
	void (*close)(struct msd_node *node); /* also partly built nodes */
};

struct msd_node {
	struct msd_abi_context context; /* first member: compiled code of the node looks
					   functions up here */
	const struct msd_node_ops *ops;
	uint32_t index; /* in the tree; 0 is its root. A given graph or program has the
			   next number */
	struct msd_span kind;  /* the tree's kind string */
	const char *kind_name; /* name in the table of kinds; "": no row */
	struct msd_node **imports;
	size_t n_imports;
	/*
	 * Compiled code sees the imports of this node after those of its own library.
	 * It is the root, because siblings of a library below the root are visible,
	 * too. NULL: none.
	 */
	struct msd_node *root;
	char *refusal; /* reason why functions of this node cannot run here, or NULL;
			  owned */
	void *state;   /* owned by the kind */
};

/**
 * The .params file with the modules' separate data; empty if there is none, or if it
 * belongs to a given graph or program and this node is not it.
 */
struct msd_span msd_node_params(const struct msd_node_context *ctx);
/** Search own functions, then imports depth-first. NULL if the name is not found. */
struct msd_function *msd_node_lookup(struct msd_node *node, const char *name);
/**
 * The same, starting with the imports: the lookup of compiled code through its
 * context. After them it searches those of node->root, then the packed functions of
 * the runtime itself (runtime/packed/global.h).
 */
struct msd_function *msd_node_lookup_from_imports(struct msd_node *node,
						  const char *name);
/** The registered function, or that of the runtime, called @name, if clients may call
 * it; NULL: none. */
struct msd_function *msd_node_lookup_for_client(const char *name);
/** Initialise a node: its context calls msd_node_lookup_from_imports(). */
void msd_node_init(struct msd_node *node);
/**
 * Append "module 1 (cuda) cannot run here: ..." for @node and every node below it
 * that cannot run, joined by "; ". Explains why a lookup may have failed.
 */
void msd_node_refusals(struct msd_node *node, struct msd_buf *out);

#endif
