#ifndef MODSERD_PLUGIN_H
#define MODSERD_PLUGIN_H
/*
 * Plugins: shared objects that add model formats, operators, kernels, engines, packed
 * functions, module kinds and context symbols to modserd's workers and to modser:
 * `modserd --plugin FILE`, `modser --plugin FILE`. A plugin adds its entries to the
 * same registries as the built-in ones.
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

typedef struct modserd_layout modserd_layout;

/* The arguments of a kernel: row-major tensors with the shapes and dtypes from the
 * operator's inference; read them with modser_sg_node_input() and _output(). */
typedef struct modserd_kernel_call {
	const modser_sg_node *node;
	const void *const *in; /* one for each input; NULL if the node omits it */
	void *const *out;      /* NULL if not requested */
	/* Only for an engine with `lay_out`: the layouts that it has set for this set
	 * of shapes, one for each input and output; an entry is NULL if the tensor is
	 * row-major, the list is NULL if all are. */
	const modserd_layout *const *in_layouts;
	const modserd_layout *const *out_layouts;
} modserd_kernel_call;

typedef struct modserd_kernel {
	uint32_t size;  /* sizeof this struct */
	const char *op; /* the operator that it computes */
	/* Returns 0, or -1 with a NUL-terminated text in @ret_why. Several threads
	 * may call it at once, each with a call of its own. */
	int (*run)(const modserd_kernel_call *call, char *ret_why, size_t why_bytes);
} modserd_kernel;

/*
 * An order of a tensor's elements that an engine uses between its own nodes, such as
 * channels in blocks of 8. The plan converts tensors to it and back, allocates its
 * bytes, and compares layouts by their address. A tensor in a layout lies in the
 * host's memory, aligned to 64 bytes; from_rows() and run() must write all bytes of it
 * that run() and to_rows() read, padding as well.
 *
 * Kernels for devices come onto this interface next: a layout will get functions,
 * appended here, that allocate and free its memory on the device. from_rows() is then
 * the copy to the device, to_rows() the copy back, and run() gets the addresses of that
 * memory. Nodes of other engines keep reading rows.
 */
struct modserd_layout {
	uint32_t size;    /* sizeof this struct */
	const char *name; /* for people: "NCHW8c" */
	/* Bytes of @tensor, whose shape and dtype are known. 0: the layout cannot hold
	 * it, and the node that asked for it runs with row-major tensors. */
	size_t (*bytes)(const modser_sg_tensor *tensor);
	/* Convert @tensor from row-major at @rows to this layout at @ret, and back.
	 * @ret does not overlap the source. Returns 0, or -1 with a text in @ret_why:
	 * the call fails; for a constant, the model cannot be loaded. May use
	 * host->parallel(). */
	int (*from_rows)(const modser_sg_tensor *tensor, const void *rows, void *ret,
			 char *ret_why, size_t why_bytes);
	int (*to_rows)(const modser_sg_tensor *tensor, const void *from, void *ret_rows,
		       char *ret_why, size_t why_bytes);
};

/*
 * Nodes that an engine took and may run as one. No path from one of them to another
 * leads through a node outside. The group, its lists, nodes and tensors stay valid
 * until leave_group(). All shapes and dtypes are known. A constant is not among the
 * inputs: its tensor has the bytes. A tensor between two nodes that is no output has
 * no memory: the engine makes its own.
 */
typedef struct modserd_group {
	uint32_t size; /* of this struct; later versions append members */
	size_t n_nodes;
	const modser_sg_node *const *nodes; /* each after the nodes that it reads */
	size_t n_inputs;
	/* Tensors that other engines, or the call, compute; each once. */
	const modser_sg_tensor *const *inputs;
	size_t n_outputs;
	/* Tensors that nodes outside read, and outputs of the graph; each once. */
	const modser_sg_tensor *const *outputs;
} modserd_group;

/*
 * An engine computes nodes in place of the kernels, also for operators that have a
 * kernel: on another device, or faster. When a model is planned, each node is offered
 * to the engines after the passes, the engine added last first. A run calls the
 * engine that took the node. Tensors between nodes lie in the host's memory, row-major
 * unless the engine has `lay_out`.
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
	/*
	 * Appended in 0.1.0; an engine with the `size` of the struct up to here has
	 * none of the following, which may be NULL, too.
	 *
	 * Choose the layouts of @node's tensors. The plan asks once for each set of
	 * shapes, in the order of a run. @in has for each input a layout of this engine
	 * in which the tensor exists already, because a node before writes or reads it
	 * so; NULL: it has only rows, as what other engines compute. @out is all NULL.
	 * The engine sets the layouts that run() reads and writes for this node with
	 * these shapes; the plan inserts conversions where they differ. An elementwise
	 * node passes on what is there.
	 *
	 * Returns 1: they are set. 0: all are row-major. run() must support row-major
	 * tensors in any case: layout.bytes() may return 0, and models whose shapes
	 * depend on computed values have only rows, without this question. Layouts live
	 * as long as the plugin. A constant is converted once, not in each run. Outputs
	 * of the model are always converted to rows.
	 */
	int (*lay_out)(void *state, const modser_sg_node *node,
		       const modserd_layout **in, const modserd_layout **out);
	/*
	 * Run nodes as one: `take` says which nodes the engine supports, and the plan
	 * makes as few groups of them as the nodes between allow. @states has for each
	 * node what take() returned. Returns 1: run_group() runs the group, and its
	 * state is in *@ret_state. 0: the nodes run one by one. -1 as for `take`. A
	 * group has at least two nodes. Each set of shapes of a model has groups of its
	 * own. If shapes depend on computed values, nodes run one by one.
	 */
	int (*join)(const modserd_group *group, void *const *states, void **ret_state,
		    char *ret_why, size_t why_bytes);
	/*
	 * Compute all outputs of the group: @in and @out have the addresses of its
	 * inputs and outputs, row-major in the host's memory. @out does not overlap
	 * @in. Returns as a kernel's run. Required with `join`.
	 */
	int (*run_group)(void *state, const void *const *in, void *const *out,
			 char *ret_why, size_t why_bytes);
	/* Free the state: the shapes or the model are dropped. Its nodes are left
	 * later. NULL: no state is kept. */
	void (*leave_group)(void *state);
} modserd_engine;

/* Size of the first version of the struct; an engine that has it is accepted, too. */
#define MODSERD_ENGINE_LEAST                                                           \
	(offsetof(modserd_engine, validate) + sizeof(((modserd_engine *)0)->validate))

/* A part of the work of a kernel or engine. It writes only what no other part does. */
typedef void modserd_chunk(const void *ctx, size_t i);

/*
 * Values of packed functions. A value has the layout of tvm-ffi's TVMFFIAny, a tensor
 * that of DLTensor, and a function the convention of TVMFFISafeCallType. Therefore a
 * plugin may use the headers of tvm-ffi in place of these types.
 */
enum modserd_type {
	MODSERD_NONE = 0,
	MODSERD_INT = 1,  /* as.i */
	MODSERD_BOOL = 2, /* as.i */
	MODSERD_FLOAT = 3 /* as.f */
	/* The functions of the host read and write text and tensors; all other types
	 * may be passed on. */
};

typedef struct modserd_any {
	int32_t type;
	uint32_t reserved; /* 0 for the four types above */
	union {
		int64_t i;
		double f;
		void *p;
	} as;
} modserd_any;

typedef struct modserd_tensor {
	void *data;
	int32_t device; /* 1: the host's memory */
	int32_t device_id;
	int32_t n_dims;
	uint8_t code; /* element: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool */
	uint8_t bits;
	uint16_t lanes;
	int64_t *shape;
	int64_t *strides;     /* in elements, or NULL: row-major */
	uint64_t byte_offset; /* from data to the first element */
} modserd_tensor;

/*
 * Computes one call. The arguments are borrowed for the call. *@ret is None; the
 * caller owns what is stored there. Returns 0, or what raise() returns. Several
 * threads may call it at once.
 */
typedef int modserd_call(void *self, const modserd_any *args, int32_t n_args,
			 modserd_any *ret);

/*
 * A packed function. Compiled code finds it by its name, after the functions of its
 * own module: TVMFFIFunctionGetGlobal(), TVMFuncGetGlobal(),
 * TVMBackendGetFuncFromEnv().
 */
typedef struct modserd_function {
	uint32_t size; /* sizeof this struct */
	const char *name;
	modserd_call *call;
	void *self; /* the first argument of `call` */
	/* Not 0: clients may call it, too, by the name of any module
	 * (`modser call MODULE:NAME`). It gets all kinds of values. */
	int for_clients;
} modserd_function;

/*
 * A kind of modules in the import tree of a library, for kinds that modserd does not
 * run: TVM's loaders "runtime.module.loadbinary_KIND" and
 * "ffi.Module.load_from_bytes.KIND".
 */
typedef struct modserd_module_kind {
	uint32_t size; /* sizeof this struct */
	const char *kind;
	/* Restore a module from its @bytes, which stay valid until unload(). Returns
	 * 0, or -1 with a text in @ret_why. */
	int (*load)(const void *bytes, size_t n_bytes, void **ret_state, char *ret_why,
		    size_t why_bytes);
	/* The functions of a loaded module: number @i, NULL after the last. Called
	 * after load(); the structs stay valid until unload(). */
	const modserd_function *(*function)(void *state, size_t i);
	/* The last call for @state. NULL: nothing is freed. */
	void (*unload)(void *state);
	/*
	 * Libraries of TVM up to 0.21 do not store the length of a module. Returns how
	 * many of the @n_bytes belong to the module that begins there, or -1: they are
	 * damaged. modser calls it, too. NULL: such libraries are refused.
	 */
	int64_t (*measure)(const void *bytes, size_t n_bytes);
} modserd_module_kind;

/* Functions of the program that opens the plugin, in addition to modser_graph.h.
 * Later versions append functions; `bytes` gives the size of this one. */
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

	/*
	 * From here on: absent in programs before 0.1.0. These three add what
	 * MODSERD_PLUGIN_BRINGS lists. -1: the list lacks it, the name is taken, a
	 * required member is NULL, or memory is short. modser drops functions and
	 * symbols, for it runs no modules.
	 */
	int (*add_function)(const modserd_function *function);
	int (*add_module_kind)(const modserd_module_kind *kind);
	/* Libraries that export a pointer variable called @name get @address in it
	 * when they are opened, as by TVMFFIEnvModRegisterContextSymbol(). */
	int (*add_symbol)(const char *name, void *address);

	/* For packed functions during a call, NULL in modser. Each that fails returns
	 * -1 or NULL and has raised the reason, which the caller passes on. */

	/* Fail with an error "@kind: @message"; @kind is as in Python: "ValueError". */
	int (*raise)(const char *kind, const char *message);
	/* The text or bytes of @v, borrowed from it; NULL: it is neither. */
	const char *(*text)(const modserd_any *v, size_t *ret_bytes);
	/* The tensor in @v, borrowed: row-major in the host's memory. NULL: it is
	 * none, or another one. */
	const modserd_tensor *(*tensor)(const modserd_any *v);
	/* Store a copy of the UTF-8 text, or of bytes if @is_bytes, in *@ret. */
	int (*set_text)(const char *p, size_t bytes, int is_bytes, modserd_any *ret);
	/* Store a new row-major tensor of the host in *@ret, and return it to be
	 * filled. Of @like only shape and element type are read. */
	modserd_tensor *(*set_tensor)(const modserd_tensor *like, modserd_any *ret);
	/* Store a function in *@ret. finish(self), if not NULL, is called when its
	 * last owner releases it. */
	int (*set_function)(modserd_call *call, void *self, void (*finish)(void *self),
			    modserd_any *ret);
	/* Store the packed function called @name in *@ret. */
	int (*find)(const char *name, modserd_any *ret);
	/* Call the function in @function; the caller owns *@ret, which need not be
	 * set before. */
	int (*call)(const modserd_any *function, const modserd_any *args,
		    int32_t n_args, modserd_any *ret);
	/* Store a copy of @v that the caller owns, for use after the call. */
	int (*keep)(const modserd_any *v, modserd_any *ret);
	/* Release a value that the plugin owns. */
	void (*release)(modserd_any *v);
} modserd_host;

/* True if the host has @member: programs before it have a shorter struct. */
#define MODSERD_HOST_HAS(host, member)                                                 \
	((host)->bytes >= offsetof(modserd_host, member) + sizeof((host)->member))

typedef struct modserd_plugin {
	uint32_t abi;  /* MODSERD_PLUGIN_ABI; first in every version */
	uint32_t size; /* sizeof this struct */
	const char *name;
	const char *version;
	/* Register everything. Returns 0, or -1 with a text in @ret_why, which
	 * rejects the plugin. */
	int (*add)(const modserd_host *host, char *ret_why, size_t why_bytes);
} modserd_plugin;

/** The entry that the loader looks up in a plugin. */
MODSERD_PLUGIN_EXPORT extern const modserd_plugin modserd_plugin_entry;

/*
 * The list of what a plugin brings, readable without opening it (`modser inspect
 * plugin.so`): text with a line "WORD NAME" for each entry, where WORD is function,
 * kind, symbol, format, operator, kernel or engine.
 *
 *	MODSERD_PLUGIN_BRINGS("function mine.scale\n"
 *			      "kind mine_json\n"
 *			      "symbol __TVMMineScale\n");
 *
 * The loader compares functions, kinds and symbols with what the plugin adds, and
 * rejects a plugin whose list differs. A plugin without these needs no list.
 */
MODSERD_PLUGIN_EXPORT extern const char modserd_plugin_brings[];
#define MODSERD_PLUGIN_BRINGS(list)                                                    \
	MODSERD_PLUGIN_EXPORT const char modserd_plugin_brings[] = list

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
