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
 *		MODSERD_PLUGIN_ABI, "mine", "1.0", add};
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
#define MODSERD_PLUGIN_ABI 1u

/* What a kernel gets: row-major tensors, whose shapes and dtypes are those that the
 * operator's inference gave them; modser_sg_node_input() and _output() tell them. */
typedef struct modserd_kernel_call {
	const modser_sg_node *node;
	const void *const *in; /* one for each input; NULL: the node has none there */
	void *const *out;      /* NULL: nobody asked for it */
} modserd_kernel_call;

typedef struct modserd_kernel {
	const char *op; /* the operator that it computes */
	/* 0, or -1 with a text in @ret_why, a NUL at its end. Several threads may be in
	 * it at once, each with a call of its own. */
	int (*run)(const modserd_kernel_call *call, char *ret_why, size_t why_bytes);
} modserd_kernel;

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
} modserd_host;

typedef struct modserd_plugin {
	uint32_t abi; /* MODSERD_PLUGIN_ABI; first in every version */
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
