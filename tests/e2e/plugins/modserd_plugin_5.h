#ifndef MODSERD_PLUGIN_H
#define MODSERD_PLUGIN_H
/*
 * Plugins: shared objects that add model formats, operators and kernels to modserd's
 * workers and to modser: `modserd --plugin FILE`, `modser --plugin FILE`. A plugin adds
 * its entries to the same registries as the built-in ones.
 *
 * A plugin defines one object, modserd_plugin_entry, and calls modser_graph.h:
 *
 *	static int add(const modserd_host *host, char *ret_why, size_t why_bytes)
 *	{
 *		return modser_sg_op_register(&schema) != 0 ||
 *				       host->add_kernel(&kernel) != 0 ||
 *				       modser_onnx_add_row(&row) != 0
 *			       ? -1 : 0;
 *	}
 *	MODSERD_PLUGIN_EXPORT const modserd_plugin modserd_plugin_entry = {
 *		MODSERD_PLUGIN_ABI, sizeof(modserd_plugin), "mine", "1.0", add};
 *
 *	cc -shared -fPIC plugin.c -o plugin.so
 *
 * Do not link it with libmodser_graph: the program that opens it has these functions.
 * Opening a plugin executes its code. It stays open until the process exits, and
 * everything that it registers must live as long.
 */
#include <modser_graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MODSERD_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define MODSERD_PLUGIN_EXPORT
#endif

/*
 * The loader rejects a plugin of another version before it calls any of its functions.
 * Version 5: modser_sg_op_field and modser_sg_op_schema lost the columns of tmfiles; a
 * plugin adds a modser_tmfile_row instead.
 */
#define MODSERD_PLUGIN_ABI 5u

/* The arguments of a kernel: row-major tensors with the shapes and dtypes from the
 * operator's inference; read them with modser_sg_node_input() and _output(). */
typedef struct modserd_kernel_call {
	const modser_sg_node *node;
	const void *const *in; /* one for each input; NULL if the node omits it */
	void *const *out;      /* NULL if not requested */
} modserd_kernel_call;

typedef struct modserd_kernel {
	uint32_t size;  /* sizeof this struct */
	const char *op; /* the operator that it computes */
	/* Returns 0, or -1 with a NUL-terminated text in @ret_why. Several threads
	 * may call it at once, each with a call of its own. */
	int (*run)(const modserd_kernel_call *call, char *ret_why, size_t why_bytes);
} modserd_kernel;

/*
 * An engine computes nodes in place of the kernels, also for operators that have a
 * kernel: on another device, or faster. When a model is planned, each node is offered
 * to the engines after the passes, the engine added last first. A run calls the
 * engine that took the node. Tensors between nodes are row-major, in the host's
 * memory.
 *
 * A node is offered when its dtypes and shapes are known: when the model is loaded, or
 * in the first call if extents follow from the call. Passes offer nodes earlier, to
 * ask; they call leave() at once. `take` must not keep a pointer to the node or
 * allocate large memory.
 *
 * Passes may create operators that no file has (docs/internals/graph.md lists them). An
 * engine gets only those that it lists. A node that it takes as the file has it is
 * not transformed.
 */
typedef struct modserd_engine {
	uint32_t size;    /* sizeof this struct */
	const char *name; /* prefix of texts */
	/*
	 * Returns 1: this engine takes @node and may keep its state in *@ret_state.
	 * 0: another engine or a kernel computes it. -1 with a text in @ret_why: the
	 * model cannot be loaded, or the call fails. Constants have their bytes.
	 */
	int (*take)(const modser_sg_node *node, void **ret_state, char *ret_why,
		    size_t why_bytes);
	/* As a kernel's run. The node's tensors have the shapes of this call. */
	int (*run)(void *state, const modserd_kernel_call *call, char *ret_why,
		   size_t why_bytes);
	/* Free the state: the node is destroyed, or the offer was only a query. NULL:
	 * no state is kept. */
	void (*leave)(void *state);
	/* Names of the passes' operators that it supports, ended by NULL. NULL if
	 * none. */
	const char *const *made;
	/*
	 * After `take`, and for each new set of shapes of a node that it took: returns
	 * 1: run() supports the node with its current dtypes and shapes. 0: it does
	 * not, and the next engine or a kernel computes it. -1 as for `take`. NULL:
	 * run() supports all.
	 */
	int (*validate)(void *state, const modser_sg_node *node, char *ret_why,
			size_t why_bytes);
} modserd_engine;

/* A part of the work of a kernel or engine. It writes only what no other part does. */
typedef void modserd_chunk(const void *ctx, size_t i);

/* Functions of the program that opens the plugin, in addition to modser_graph.h.
 * Later versions append registries; `bytes` gives the size of this one. */
typedef struct modserd_host {
	uint32_t abi;        /* MODSERD_PLUGIN_ABI */
	uint32_t bytes;      /* of this struct */
	const char *program; /* "modserd-worker" or "modser" */
	const char *version; /* version of the project */
	/* -1: the operator is unknown or has a kernel, or memory is short. modser
	 * runs no models and drops the kernel. */
	int (*add_kernel)(const modserd_kernel *kernel);
	/* -1: an engine of that name exists, a required function is NULL, or memory
	 * is short. modser drops it, as it does kernels. */
	int (*add_engine)(const modserd_engine *engine);
	/*
	 * Call @chunk for 0 .. @n - 1 on the threads that the kernels share, in any
	 * order, and return when all are done. @chunk_ns is the estimated time of one
	 * chunk: no thread is woken for less than 20 microseconds of work. For kernels
	 * and engines, during their run().
	 */
	void (*parallel)(size_t n, size_t chunk_ns, modserd_chunk *chunk,
			 const void *ctx);
} modserd_host;

typedef struct modserd_plugin {
	uint32_t abi;  /* MODSERD_PLUGIN_ABI; first in every version */
	uint32_t size; /* sizeof this struct */
	const char *name;
	const char *version;
	/* Register everything. Returns 0, or -1 with a text in @ret_why, which
	 * rejects the plugin. */
	int (*add)(const modserd_host *host, char *ret_why, size_t why_bytes);
} modserd_plugin;

/** The only symbol that the loader looks up in a plugin. */
MODSERD_PLUGIN_EXPORT extern const modserd_plugin modserd_plugin_entry;

/* In C++ the declaration exports it; the attribute would be ignored at the definition,
 * with a warning. */
#ifdef __cplusplus
#undef MODSERD_PLUGIN_EXPORT
#define MODSERD_PLUGIN_EXPORT
#endif

#ifdef __cplusplus
}
#endif

#endif
