#ifndef MODSERD_PLUGIN_H
#define MODSERD_PLUGIN_H
/*
 * Plugins: shared objects that teach modserd's workers and modser further formats of
 * models, operators and kernels. `modserd --plugin FILE`, `modser --plugin FILE`; what
 *a plugin brings goes into the registries that the project's own rows stand in.
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
 * It is not linked with libmodser_graph: the program that opens it has these functions.
 * Opening a plugin is executing its code. It stays open until the process ends, and
 *what it registers must live as long.
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

/* A plugin of another version is refused before any function of it is called. */
#define MODSERD_PLUGIN_ABI 3u

/* What a kernel gets: row-major tensors, whose shapes and dtypes are those that the
 * operator's inference gave them; modser_sg_node_input() and _output() tell them. */
typedef struct modserd_kernel_call {
	const modser_sg_node *node;
	const void *const *in; /* one for each input; NULL: the node has none there */
	void *const *out;      /* NULL: nobody asked for it */
} modserd_kernel_call;

typedef struct modserd_kernel {
	uint32_t size;  /* sizeof this struct */
	const char *op; /* the operator that it computes */
	/* 0, or -1 with a text in @ret_why, a NUL at its end. Several threads may be in
	 * it at once, each with a call of its own. */
	int (*run)(const modserd_kernel_call *call, char *ret_why, size_t why_bytes);
} modserd_kernel;

/* An engine computes nodes in place of the kernels, of operators that have one, too: on
 * another device, or faster. When a model is planned each node is offered to the
 * engines, the last that was added first, as the passes left it; a run calls who took
 * it. Tensors between nodes are row-major, in the host's memory.
 *
 * Passes may make operators that no file has (docs/static-graph.md names them). An
 * engine gets those that it lists, and no others; what it takes as the file has it is
 * not made another. */
typedef struct modserd_engine {
	uint32_t size;    /* sizeof this struct */
	const char *name; /* texts begin with it */
	/* 1: @node is this engine's from now on, which keeps what it likes in
	 * *@ret_state. 0: somebody else computes it. -1 with a text in @ret_why: the
	 * model cannot be loaded. Constants have their bytes; extents that follow from
	 * the file are known, those of a call are -1 or what the file claims. */
	int (*take)(const modser_sg_node *node, void **ret_state, char *ret_why,
		    size_t why_bytes);
	/* As a kernel's; the node's tensors have the shapes of this call, which its
	 * engine compares with what it can. */
	int (*run)(void *state, const modserd_kernel_call *call, char *ret_why,
		   size_t why_bytes);
	/* The node goes, or was offered only to ask. NULL: nothing is kept. */
	void (*leave)(void *state);
	/* Names of operators of passes that it knows, ended by NULL. NULL: none. */
	const char *const *made;
} modserd_engine;

/* What the program that opens the plugin has beside modser_graph.h. Later ones have
 * more registries at the end; `bytes` says how far this one goes. */
typedef struct modserd_host {
	uint32_t abi;        /* MODSERD_PLUGIN_ABI */
	uint32_t bytes;      /* of this struct */
	const char *program; /* "modserd-worker" or "modser" */
	const char *version; /* of the project */
	/* -1: the operator is unknown or has a kernel, or memory is short. modser,
	 * which runs nothing, forgets the kernel. */
	int (*add_kernel)(const modserd_kernel *kernel);
	/* -1: an engine of that name is there, a function that it needs is not, or
	 * memory is short. modser forgets it, as it does kernels. */
	int (*add_engine)(const modserd_engine *engine);
} modserd_host;

typedef struct modserd_plugin {
	uint32_t abi;  /* MODSERD_PLUGIN_ABI; first in every version */
	uint32_t size; /* sizeof this struct */
	const char *name;
	const char *version;
	/* Register all; 0, or -1, which refuses the plugin, with a text in @ret_why. */
	int (*add)(const modserd_host *host, char *ret_why, size_t why_bytes);
} modserd_plugin;

/** The one name that is looked for in a plugin. */
MODSERD_PLUGIN_EXPORT extern const modserd_plugin modserd_plugin_entry;

#ifdef __cplusplus
}
#endif

#endif
