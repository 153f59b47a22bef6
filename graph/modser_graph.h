#ifndef MODSER_GRAPH_H
#define MODSER_GRAPH_H
/*
 * StaticGraph: a framework's model file in memory, and the serializers that read and
 * write such files. docs/internals/graph.md describes how they work together.
 * The parts of a graph have the prefix modser_sg_, which libmodser does not use.
 *
 * A graph owns its nodes, tensors, operators and everything in them: the user never
 * frees an object that a _create function of these returns. Nodes and tensors are
 * identified by their indices, in the order of their creation; names may repeat. Only
 * one thread may use a graph at a time; two graphs are independent of each other. All
 * threads may use serializers and operator schemas at once.
 *
 * Functions that return int return 0 on success and -1 on failure; functions that
 * return a pointer return NULL on failure. modser_graph_error() of the graph then
 * gives the reason. Texts are NUL-terminated. Functions copy the texts that they
 * receive. A returned text stays valid until its object changes or is destroyed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MODSER_GRAPH_API __attribute__((visibility("default")))
#else
#define MODSER_GRAPH_API
#endif

typedef struct modser_graph modser_graph;
typedef struct modser_sg_node modser_sg_node;
typedef struct modser_sg_tensor modser_sg_tensor;
typedef struct modser_sg_op modser_sg_op;
typedef struct modser_serializer modser_serializer;

#define MODSER_GRAPH_MAX_NDIM 32u  /* dimensions of a tensor */
#define MODSER_GRAPH_MAX_DEPTH 64u /* nested subgraphs */

/* A typed value: an attribute of a graph or operator, or a parameter. */
typedef enum modser_sg_attr_kind {
	MODSER_ATTR_INT,
	MODSER_ATTR_FLOAT,
	MODSER_ATTR_STR,
	MODSER_ATTR_INTS,
	MODSER_ATTR_FLOATS,
	MODSER_ATTR_GRAPH /* a subgraph, for operators that branch and loop */
} modser_sg_attr_kind;

typedef struct modser_sg_attr {
	modser_sg_attr_kind kind;
	size_t n; /* elements of a list */
	union {
		int64_t i;
		float f;
		const char *s;
		const int64_t *ints;
		const float *floats;
		modser_graph *graph;
	} as;
} modser_sg_attr;

/*
 * No function accepts NULL for an object or a text that it needs. A function that
 * returns an int then returns -1, with the error of the graph if it gets one. Other
 * functions return NULL, "", 0 or their other empty value.
 */

/* ---- Graphs ---- */

/** Create an empty graph; the caller destroys it. NULL: out of memory. */
MODSER_GRAPH_API modser_graph *modser_graph_create(const char *name);
MODSER_GRAPH_API void modser_graph_destroy(modser_graph *graph); /* NULL is allowed */
/** The error text of the last function that failed on @graph; "" if none failed. */
MODSER_GRAPH_API const char *modser_graph_error(const modser_graph *graph);
/** The kind of that failure, with the protocol's name: "BAD_ARTIFACT", "OK". */
MODSER_GRAPH_API const char *modser_graph_error_name(const modser_graph *graph);
/** Report that the file is invalid, from a function of yours on @graph. Returns -1. */
MODSER_GRAPH_API int modser_graph_fail(modser_graph *graph, const char *text);

/* Facts of a graph apart from its nodes. */
typedef enum modser_graph_fact {
	MODSER_GRAPH_NAME,   /* internal: set at creation */
	MODSER_GRAPH_DOMAIN, /* first of the three parts of the identity */
	MODSER_GRAPH_IDENTITY,
	MODSER_GRAPH_VERSION,
	MODSER_GRAPH_SOURCE,        /* the file or files of origin */
	MODSER_GRAPH_SOURCE_FORMAT, /* "tengine", "onnx", ... */
	MODSER_GRAPH_CONST_FILE,    /* the file with the constants */
	MODSER_GRAPH_FACT_COUNT
} modser_graph_fact;

/** One of these texts; "" if it was never set. */
MODSER_GRAPH_API const char *modser_graph_text(const modser_graph *graph,
					       modser_graph_fact fact);
MODSER_GRAPH_API int modser_graph_set_internal_name(modser_graph *graph,
						    const char *name);
MODSER_GRAPH_API int modser_graph_set_identity(modser_graph *graph, const char *domain,
					       const char *name, const char *version);
MODSER_GRAPH_API int modser_graph_set_source(modser_graph *graph, const char *source);
MODSER_GRAPH_API int modser_graph_set_source_format(modser_graph *graph,
						    const char *format);
MODSER_GRAPH_API int modser_graph_set_const_file(modser_graph *graph, const char *path);
/**
 * Add an attribute. -1 if @name is in use; nothing has changed. The value is copied,
 * but @graph takes ownership of a graph in it.
 */
MODSER_GRAPH_API int modser_graph_add_attr(modser_graph *graph, const char *name,
					   const modser_sg_attr *value);
MODSER_GRAPH_API const modser_sg_attr *modser_graph_attr(const modser_graph *graph,
							 const char *name);
/** Attribute @i, with its name in *@ret_name; NULL if there are fewer. */
MODSER_GRAPH_API const modser_sg_attr *
modser_graph_attr_at(const modser_graph *graph, size_t i, const char **ret_name);
/**
 * Add an input: a tensor of type INPUT with its dtype and @n extents, the InputOp node
 * that produces it, and its place among the graph's inputs. NULL with the graph's
 * error.
 */
MODSER_GRAPH_API modser_sg_tensor *
modser_graph_create_input(modser_graph *graph, const char *name, const char *dtype,
			  const int64_t *dims, size_t n);
/** Append @tensor to the graph's inputs, or to its outputs. */
MODSER_GRAPH_API int modser_graph_add_input(modser_graph *graph,
					    modser_sg_tensor *tensor);
MODSER_GRAPH_API int modser_graph_add_output(modser_graph *graph,
					     modser_sg_tensor *tensor);

/** The number of each. */
MODSER_GRAPH_API size_t modser_graph_node_count(const modser_graph *graph);
MODSER_GRAPH_API size_t modser_graph_tensor_count(const modser_graph *graph);
MODSER_GRAPH_API size_t modser_graph_input_count(const modser_graph *graph);
MODSER_GRAPH_API size_t modser_graph_output_count(const modser_graph *graph);
/** Element @i, owned by the graph; NULL if absent. */
MODSER_GRAPH_API modser_sg_node *modser_graph_node(const modser_graph *graph, size_t i);
MODSER_GRAPH_API modser_sg_tensor *modser_graph_tensor(const modser_graph *graph,
						       size_t i);
MODSER_GRAPH_API modser_sg_tensor *modser_graph_input(const modser_graph *graph,
						      size_t i);
MODSER_GRAPH_API modser_sg_tensor *modser_graph_output(const modser_graph *graph,
						       size_t i);

/**
 * Check that the graph is consistent. Each tensor has one producer, and there are no
 * cycles. Nodes have operators and the right number of inputs and outputs. Constants
 * have as many bytes as their shapes require. Inputs and outputs exist. The error
 * names the first fault.
 */
MODSER_GRAPH_API int modser_graph_check(modser_graph *graph);
/**
 * Infer the shape of every tensor from the shapes of inputs and constants. The error
 * names the node whose inputs do not fit, or whose operator has no inference.
 */
MODSER_GRAPH_API int modser_graph_infer(modser_graph *graph);
/**
 * Give inputs the shapes in @words, "x=float32[1,3,224,224]"; ':' separates several.
 * '?' leaves an extent as the model has it. Inputs and outputs with the same extent
 * name get the same number. Shapes of other tensors are inferred as far as they are
 * known before a run. The error names the input that the model lacks, or whose dtype,
 * dimensions or extents differ; the graph can then only be destroyed.
 */
MODSER_GRAPH_API int modser_graph_fix_inputs(modser_graph *graph, const char *words);
/**
 * Dump the whole graph as text; equal graphs have equal texts. The caller frees
 * *@ret_text with free(); it is unchanged on failure.
 */
MODSER_GRAPH_API int modser_graph_dump(modser_graph *graph, char **ret_text);
/**
 * True if both graphs have the same nodes, tensors, parameters and constants in the
 * same order. Their origin does not count. The error of @a names the first
 * difference.
 */
MODSER_GRAPH_API bool modser_graph_equal(modser_graph *a, const modser_graph *b);

/*
 * ---- Nodes ----
 *
 * Nodes produce constants and inputs, too. Each constant tensor is the only output of
 * a node with operator "Const". Each input, of type MODSER_TENSOR_INPUT, is the only
 * output of a node with operator "InputOp".
 */

/**
 * Create a node without operator, inputs and outputs, owned by the graph; it gets the
 * next index. NULL with the graph's error: memory is short, or @name is not UTF-8.
 * Names of tensors and dimensions must be UTF-8, too.
 */
MODSER_GRAPH_API modser_sg_node *modser_sg_node_create(modser_graph *graph,
						       const char *name);
/**
 * Let @node run @op; NULL removes its operator. -1: @op belongs to another graph or
 * another node.
 */
MODSER_GRAPH_API int modser_sg_node_set_op(modser_sg_node *node, modser_sg_op *op);
/**
 * Return the index of the input or output, or -1. A NULL input is omitted, a NULL
 * output is not requested. The operator's first min_in inputs and min_out outputs are
 * not NULL; without a limit of outputs, each may be.
 */
MODSER_GRAPH_API int modser_sg_node_add_input(modser_sg_node *node,
					      modser_sg_tensor *tensor);
MODSER_GRAPH_API int modser_sg_node_add_output(modser_sg_node *node,
					       modser_sg_tensor *tensor);
MODSER_GRAPH_API const char *modser_sg_node_name(const modser_sg_node *node);
MODSER_GRAPH_API modser_graph *modser_sg_node_graph(const modser_sg_node *node);
MODSER_GRAPH_API size_t modser_sg_node_index(const modser_sg_node *node);
MODSER_GRAPH_API modser_sg_op *modser_sg_node_op(const modser_sg_node *node);
MODSER_GRAPH_API size_t modser_sg_node_input_count(const modser_sg_node *node);
MODSER_GRAPH_API size_t modser_sg_node_output_count(const modser_sg_node *node);
MODSER_GRAPH_API modser_sg_tensor *modser_sg_node_input(const modser_sg_node *node,
							size_t i);
MODSER_GRAPH_API modser_sg_tensor *modser_sg_node_output(const modser_sg_node *node,
							 size_t i);

/* ---- Operators ---- */

/**
 * Create an operator with the default of each parameter. The error names an unknown
 * operator.
 */
MODSER_GRAPH_API modser_sg_op *modser_sg_op_create(modser_graph *graph,
						   const char *name);
/** Set the parameter with that name and kind. Lists and texts are copied. */
MODSER_GRAPH_API int modser_sg_op_set_param(modser_sg_op *op, const char *param,
					    const modser_sg_attr *value);
MODSER_GRAPH_API int modser_sg_op_set_int(modser_sg_op *op, const char *param,
					  int64_t value);
/**
 * Add an attribute that the schema does not have. -1 if @name is in use. See
 * modser_graph_add_attr() for graphs.
 */
MODSER_GRAPH_API int modser_sg_op_add_attr(modser_sg_op *op, const char *name,
					   const modser_sg_attr *value);
MODSER_GRAPH_API const char *modser_sg_op_name(const modser_sg_op *op);
/* NULL if absent. */
MODSER_GRAPH_API const modser_sg_attr *modser_sg_op_param(const modser_sg_op *op,
							  const char *param);
MODSER_GRAPH_API const modser_sg_attr *modser_sg_op_attr(const modser_sg_op *op,
							 const char *name);
/** Attribute @i, with its name in *@ret_name; NULL if there are fewer. */
MODSER_GRAPH_API const modser_sg_attr *
modser_sg_op_attr_at(const modser_sg_op *op, size_t i, const char **ret_name);
/** The value of a parameter that the operator's schema declares as a number; else 0. */
MODSER_GRAPH_API int64_t modser_sg_op_int(const modser_sg_op *op, const char *param);
MODSER_GRAPH_API float modser_sg_op_float(const modser_sg_op *op, const char *param);

/* ---- Tensors ---- */

typedef enum modser_sg_tensor_type {
	MODSER_TENSOR_UNKNOWN,
	MODSER_TENSOR_VAR,
	MODSER_TENSOR_CONST,
	MODSER_TENSOR_INPUT,
	MODSER_TENSOR_DEP,
	MODSER_TENSOR_TYPE_COUNT
} modser_sg_tensor_type;

/** Create a tensor of float32, type VAR and unknown shape. */
MODSER_GRAPH_API modser_sg_tensor *modser_sg_tensor_create(modser_graph *graph,
							   const char *name);
/** The same with type CONST. */
MODSER_GRAPH_API modser_sg_tensor *modser_sg_tensor_create_const(modser_graph *graph,
								 const char *name);
/** Set @n extents; 0 extents make a scalar; -1 is an unknown extent. */
MODSER_GRAPH_API int modser_sg_tensor_set_dims(modser_sg_tensor *tensor,
					       const int64_t *dims, size_t n);
/** Set the name of extent @i, for an unknown extent. */
MODSER_GRAPH_API int modser_sg_tensor_set_dim_name(modser_sg_tensor *tensor, size_t i,
						   const char *name);
/** "float32", "int8", "bool", ...: numpy's names. */
MODSER_GRAPH_API int modser_sg_tensor_set_dtype(modser_sg_tensor *tensor,
						const char *dtype);
/** "NCHW" or "NHWC". */
MODSER_GRAPH_API int modser_sg_tensor_set_layout(modser_sg_tensor *tensor,
						 const char *layout);
MODSER_GRAPH_API int modser_sg_tensor_set_type(modser_sg_tensor *tensor,
					       modser_sg_tensor_type type);
/**
 * Set the number of bytes of a constant; for other tensors it follows from shape and
 * dtype.
 */
MODSER_GRAPH_API int modser_sg_tensor_set_size(modser_sg_tensor *tensor,
					       uint64_t bytes);
/** Add scale and zero point of a quantized tensor: one pair, or one for each channel.
 */
MODSER_GRAPH_API int modser_sg_tensor_add_quant(modser_sg_tensor *tensor, float scale,
						int32_t zero_point);
/**
 * Set the bytes of a constant, as many as modser_sg_tensor_set_size() declared. The
 * graph calls @release with @buffer when it no longer needs it. With NULL the graph
 * does not own @buffer, which must outlive it. An earlier buffer is released.
 */
MODSER_GRAPH_API int modser_sg_tensor_set_buffer(modser_sg_tensor *tensor,
						 const void *buffer,
						 void (*release)(void *buffer));
/** Set the offset and size of a constant in the graph's file of constants. */
MODSER_GRAPH_API int modser_sg_tensor_set_location(modser_sg_tensor *tensor,
						   uint64_t offset, uint64_t bytes);
/** "NCHW" or "NHWC". */
MODSER_GRAPH_API const char *modser_sg_tensor_layout(const modser_sg_tensor *tensor);
/** Pair @i of scale and zero point; false if there are fewer. */
MODSER_GRAPH_API bool modser_sg_tensor_quant(const modser_sg_tensor *tensor, size_t i,
					     float *ret_scale, int32_t *ret_zero_point);
/** True if it has a location; offset and size are then set. Each may be NULL. */
MODSER_GRAPH_API bool modser_sg_tensor_location(const modser_sg_tensor *tensor,
						uint64_t *ret_offset,
						uint64_t *ret_bytes);
MODSER_GRAPH_API const char *modser_sg_tensor_name(const modser_sg_tensor *tensor);
MODSER_GRAPH_API size_t modser_sg_tensor_index(const modser_sg_tensor *tensor);
MODSER_GRAPH_API modser_sg_tensor_type
modser_sg_tensor_type_of(const modser_sg_tensor *tensor);
MODSER_GRAPH_API const char *modser_sg_tensor_dtype(const modser_sg_tensor *tensor);
/** Number of dimensions, or -1 while the shape is not known. */
MODSER_GRAPH_API int modser_sg_tensor_ndim(const modser_sg_tensor *tensor);
MODSER_GRAPH_API const int64_t *modser_sg_tensor_dims(const modser_sg_tensor *tensor);
/** The name of extent @i; "" if it has none. */
MODSER_GRAPH_API const char *modser_sg_tensor_dim_name(const modser_sg_tensor *tensor,
						       size_t i);
/** The data of a constant, with its size in *@ret_bytes; NULL if it has no buffer. */
MODSER_GRAPH_API const void *modser_sg_tensor_data(const modser_sg_tensor *tensor,
						   uint64_t *ret_bytes);

/* ---- Operator schemas ---- */

/*
 * Registered structs begin with their size, which identifies the header that they
 * were built against. A struct with a required field that is NULL is rejected; the
 * error names the field.
 */

/**
 * The reason why the last registration of this thread was rejected (operator,
 * serializer, row, kernel or engine). "" if its struct was not the cause.
 */
MODSER_GRAPH_API const char *modser_registration_error(void);

typedef struct modser_sg_op_field {
	const char *name;
	modser_sg_attr def; /* the default, which also sets the kind */
	bool is_rare;       /* a dump leaves it out if it has its default */
} modser_sg_op_field;

#define MODSER_MANY 0xffffu /* no limit */

typedef struct modser_sg_op_schema {
	uint32_t size; /* sizeof this struct */
	const char *name;
	const modser_sg_op_field *fields;
	size_t n_fields;
	unsigned min_in, max_in;
	unsigned min_out, max_out;
	uint32_t optional_in; /* one bit for each input that may be NULL */
	/*
	 * Set the shapes of the node's outputs from the known shapes of its inputs;
	 * NULL if the operator has no inference. Outputs have the dtype of input 0
	 * unless the function sets it, too. Returns 0, or -1 with the error of the
	 * node's graph (modser_graph_fail): the inputs are invalid. No other code
	 * checks their shapes and dtypes before a kernel gets them.
	 */
	int (*infer)(modser_sg_node *node);
} modser_sg_op_schema;

/**
 * Add an operator. -1 if the name is in use, or memory is short. @schema must live as
 * long as the process.
 */
MODSER_GRAPH_API int modser_sg_op_register(const modser_sg_op_schema *schema);
MODSER_GRAPH_API const modser_sg_op_schema *modser_sg_op_schema_find(const char *name);
/** Operator @i of all; NULL if there are fewer. */
MODSER_GRAPH_API const modser_sg_op_schema *modser_sg_op_schema_at(size_t i);
/** The default of one parameter of operator @name; NULL if absent. */
MODSER_GRAPH_API const modser_sg_attr *modser_sg_op_default(const char *name,
							    const char *param);

/* ---- Serializers ---- */

/* The bytes of one file of a model. */
typedef struct modser_part {
	const void *data;
	size_t bytes;
} modser_part;

/* Replacement for constants whose bytes were stripped from the file. */
typedef enum modser_fill {
	MODSER_FILL_REFUSE,
	MODSER_FILL_LEAVE, /* no bytes: for inspection and storing, not for running */
	MODSER_FILL_ZERO,
	MODSER_FILL_SEEDED /* small pseudo-random numbers, the same each time */
} modser_fill;

typedef struct modser_model_options {
	modser_fill fill;
	/* Constants with a location keep it and drop their bytes until
	 * modser_serializer_load_const_file() or a store reads them. */
	bool is_lazy;
	/* TensorFlow: names of the outputs, between commas; NULL or "": those of the
	 * signature, or the tensors that no node reads. */
	const char *outputs;
	/* TensorFlow: the signature of a SavedModel; NULL or "": serving_default. */
	const char *signature;
	/* MXNet, whose symbols have no shapes: shapes of inputs, as
	 * modser_graph_fix_inputs() takes them, which also checks them afterwards. */
	const char *inputs;
} modser_model_options;

/* The stored type of an operator's load or store method, independent of the format's
 * signature. Cast it back to the type in that format's documentation. */
typedef void modser_sg_op_method(void);

/*
 * Return the bytes of the file that a model calls @name, in *@ret. They must stay
 * valid until the join returns or, for a load, as long as the graph. Returns 0, or -1
 * with the error of @graph (modser_graph_fail).
 */
typedef int modser_read_beside(void *ctx, modser_graph *graph, const char *name,
			       modser_part *ret);

/* One of the files of a model. */
typedef struct modser_file_kind {
	const char *name; /* in texts: "the network, as text (.prototxt)" */
	/* True if these bytes look like it. */
	bool (*probe)(const void *head, size_t bytes);
} modser_file_kind;

/* A format. Any number of threads may call its functions at once, each with a graph
 * of its own. */
typedef struct modser_serializer_ops {
	uint32_t size;      /* sizeof this struct */
	const char *name;   /* serializer name; a format may have several serializers */
	const char *format; /* "tengine", "onnx", ... */
	const char *version; /* serializer version */
	unsigned n_files;    /* files of one model */
	/* True if these first bytes of the first file look like the format. */
	bool (*probe)(const void *head, size_t bytes);
	/* Fill the empty @graph from n_files parts, which outlive it. */
	int (*load)(const modser_serializer *s, const modser_part *parts,
		    const modser_model_options *options, modser_graph *graph);
	/* Write n_files parts, each allocated with malloc(); NULL: the format is
	 * read-only. */
	int (*store)(const modser_serializer *s, modser_graph *graph,
		     modser_part *ret_parts);
	/* See modser_serializer_join(). NULL: a model never names more files. */
	int (*join)(const modser_part *model, modser_read_beside *read, void *ctx,
		    modser_graph *graph, modser_part *ret);
	/* See modser_serializer_split(). NULL: a model is always one file. */
	int (*split)(const modser_part *model, const char *name, modser_graph *graph,
		     modser_part *ret_model, modser_part *ret_data);
	/*
	 * n_files kinds: loads then take the files in any order, and load() gets them
	 * in this one. NULL: in the order that they are given. The last file has the
	 * constants.
	 */
	const modser_file_kind *files;
	/*
	 * Set the bytes of the constant @tensor, whose name and shape are known, from
	 * @file, the file of constants (modser_sg_tensor_set_size() and _set_buffer()).
	 * @file is valid until the function returns. NULL: they are at the location of
	 * the tensor; without a location, the file is the whole model, and has a
	 * constant of that name.
	 */
	int (*load_const)(const modser_serializer *s, const modser_part *file,
			  modser_sg_tensor *tensor);
	/* The file itself says which tensors are outputs: the options `outputs` and
	 * `signature` of a load are refused. */
	bool has_fixed_outputs;
} modser_serializer_ops;

/**
 * Create a serializer, owned by the caller; @ops must outlive it. NULL: out of
 * memory.
 */
MODSER_GRAPH_API modser_serializer *
modser_serializer_create(const modser_serializer_ops *ops);
/**
 * Release one reference to a serializer, once for each create or get. NULL is
 * allowed.
 */
MODSER_GRAPH_API void modser_serializer_unref(modser_serializer *s);
MODSER_GRAPH_API unsigned modser_serializer_file_count(const modser_serializer *s);
MODSER_GRAPH_API const char *modser_serializer_format(const modser_serializer *s);
MODSER_GRAPH_API const char *modser_serializer_name(const modser_serializer *s);
MODSER_GRAPH_API const char *modser_serializer_version(const modser_serializer *s);
MODSER_GRAPH_API bool modser_serializer_can_store(const modser_serializer *s);

/**
 * Load a model into @graph, which must be empty, and check it. @options may be NULL.
 * After a failure the graph holds a partial model and can only be destroyed.
 * load_files() lets the graph own the files' bytes. With load_memory() the caller
 * keeps them, and they must outlive the graph.
 */
MODSER_GRAPH_API int modser_serializer_load_files(const modser_serializer *s,
						  const char *const *paths, size_t n,
						  const modser_model_options *options,
						  modser_graph *graph);
MODSER_GRAPH_API int modser_serializer_load_memory(const modser_serializer *s,
						   const modser_part *parts, size_t n,
						   const modser_model_options *options,
						   modser_graph *graph);
/**
 * Let loads into @graph, and only these, read the other files of a model through
 * @read, in place if their bytes are aligned. Without it such a model is rejected.
 */
MODSER_GRAPH_API void modser_graph_set_beside(modser_graph *graph,
					      modser_read_beside *read, void *ctx);
/**
 * Merge the bytes of the other files that @model names (ONNX's external data) into
 * one aligned file of the same format: *@ret, whose data the caller frees with
 * free(). NULL data: the model names no other files, and its large constants are
 * aligned already. @read is called at least once for each file; names are taken from
 * the model, and @read must validate them. -1 with the error of @graph, which stays
 * empty.
 */
MODSER_GRAPH_API int modser_serializer_join(const modser_serializer *s,
					    const modser_part *model,
					    modser_read_beside *read, void *ctx,
					    modser_graph *graph, modser_part *ret);
/**
 * The inverse: move the weights of @model, one whole file, into a second file @name
 * in the same directory. The caller frees the data of both with free(). -1 with the
 * error of @graph, which stays empty: the format has no such files.
 */
MODSER_GRAPH_API int modser_serializer_split(const modser_serializer *s,
					     const modser_part *model, const char *name,
					     modser_graph *graph,
					     modser_part *ret_model,
					     modser_part *ret_data);
/**
 * Check @graph and write it. store_memory() writes @n parts, whose data the caller
 * frees with free(); on failure it writes none.
 */
MODSER_GRAPH_API int modser_serializer_store_files(const modser_serializer *s,
						   modser_graph *graph,
						   const char *const *paths, size_t n);
MODSER_GRAPH_API int modser_serializer_store_memory(const modser_serializer *s,
						    modser_graph *graph,
						    modser_part *ret_parts, size_t n);
/**
 * Read the bytes of one constant from the model's file of constants, with the
 * serializer's load_const() or from the tensor's location; if it has neither, the
 * constant of its name. The graph owns them.
 */
MODSER_GRAPH_API int modser_serializer_load_const_file(const modser_serializer *s,
						       const char *path,
						       modser_sg_tensor *tensor);
MODSER_GRAPH_API int modser_serializer_load_const_fd(const modser_serializer *s, int fd,
						     modser_sg_tensor *tensor);

/**
 * Load or store operators called @op with @method, which a format calls for an operator
 * that it does not know. -1: that name has a method, registered or built-in, or memory
 * is short. modser_serializer_op_load() also returns the built-in methods of tengine
 * and onnx, which read the operator that @node's record in the file names; Caffe's
 * layers have none, because a layer may become several nodes.
 */
MODSER_GRAPH_API int modser_serializer_register_op_load(modser_serializer *s,
							const char *op,
							modser_sg_op_method *method);
MODSER_GRAPH_API modser_sg_op_method *
modser_serializer_op_load(const modser_serializer *s, const char *op);
MODSER_GRAPH_API int modser_serializer_register_op_store(modser_serializer *s,
							 const char *op,
							 modser_sg_op_method *method);
MODSER_GRAPH_API modser_sg_op_method *
modser_serializer_op_store(const modser_serializer *s, const char *op);

/*
 * Called by the tengine serializer for the @bytes parameters of an operator at
 * @param: one function gives @node its operator, the other writes them. A type
 * without a row is called "#" and its number, such as "#200"; an operator without a
 * row is stored by its own name. The built-in load method reads the parameters of
 * the operator that @node has already.
 */
typedef int modser_tmfile_load_fn(modser_sg_node *node, const void *param,
				  size_t bytes);
/* *@ret_param is allocated with malloc(); the serializer takes ownership. *@ret_bytes
 * is its size. */
typedef int modser_tmfile_store_fn(const modser_sg_node *node, uint32_t *ret_type,
				   void **ret_param, size_t *ret_bytes);

/*
 * An operator of this library in tmfiles: its number, and its parameters in the order
 * of the file's structure. `params` is a list of words, separated by spaces. A word is
 * a kind, a colon and the name of a parameter:
 *   i:axis       an integer of 32 bits
 *   f:eps        a float of 32 bits
 *   b:is_onnx    a byte, 0 or 1
 *   I:axes       the offset of a list of integers
 *   F:ratios     the offset of a list of floats
 *   Q:anchors    the offset of a list whose elements are four floats each
 *   s:op_name    the offset of a text
 * An operator with other parameters is written if these have their defaults.
 */
typedef struct modser_tmfile_row {
	uint32_t size; /* sizeof this struct */
	uint32_t type;
	const char *op; /* name of a registered schema */
	const char *params;
} modser_tmfile_row;

/**
 * Add a row, used to read such nodes and to write the operator; it must live as long
 * as the process. -1: the number or the operator has a row, the schema or a parameter
 * of that kind does not exist, or memory is short.
 */
MODSER_GRAPH_API int modser_tmfile_add_row(const modser_tmfile_row *row);

/*
 * Called by the onnx serializer for a node whose operator has neither a row nor a
 * function: "MyOp", or "my.domain.MyOp". @node has its inputs and outputs and gets its
 * operator. modser_onnx_node_param() sets parameter @param of that operator from an
 * attribute; it stays unchanged if the attribute is absent. -1: it is of another kind.
 */
typedef struct modser_onnx_node modser_onnx_node;
typedef int modser_onnx_load_fn(modser_sg_node *node, const modser_onnx_node *from);
MODSER_GRAPH_API int modser_onnx_node_param(const modser_onnx_node *from,
					    modser_sg_node *node, const char *attr,
					    const char *param);

/*
 * Called by the caffe serializers for a layer of a type that they do not know. The
 * inputs of @node are those of the layer, then its weights as @n_weights constants. It
 * has one output for each of the layer and gets its operator.
 */
typedef int modser_caffe_load_fn(modser_sg_node *node, const char *type,
				 size_t n_weights);

/*
 * Mapping of an ONNX operator, from one version of its domain on, to an operator of
 * this library. `params` is a list of rules for the attributes, separated by spaces:
 *   alpha      attribute alpha is parameter alpha
 *   size=n     attribute size is parameter n
 *   size!      the attribute is required
 *   axis:-1    ONNX's default, where this library's differs
 *   -seed      the attribute is ignored
 *   type:=3    no attribute: the parameter always has this value
 */
typedef struct modser_onnx_row {
	uint32_t size;      /* sizeof this struct */
	const char *domain; /* "": ONNX's own */
	const char *name;
	int64_t since;  /* version of the domain */
	const char *op; /* name of a registered schema */
	const char *params;
} modser_onnx_row;

/**
 * Add a row, used to read such nodes and to write the operator; it must live as long
 * as the process. -1: ONNX's operator of that domain, name and version has a row, the
 * schema or parameter does not exist, or memory is short.
 */
MODSER_GRAPH_API int modser_onnx_add_row(const modser_onnx_row *row);

/* ---- The manager and the factory: serializers by a key ---- */

/**
 * Store @s under @key; the manager holds a reference of its own. -1: the key is in
 * use, or memory is short.
 */
MODSER_GRAPH_API int modser_serializer_add(const char *key, modser_serializer *s);
/**
 * The serializer of @key, released by the caller with modser_serializer_unref(). It
 * stays valid until that call, even if it is removed. NULL if absent.
 */
MODSER_GRAPH_API modser_serializer *modser_serializer_get(const char *key);
/**
 * The same by the common name of the format: its key, or the file name extension
 * ("tmfile").
 */
MODSER_GRAPH_API modser_serializer *modser_serializer_named(const char *word);
/** -1: no serializer has that key, and nothing has changed. */
MODSER_GRAPH_API int modser_serializer_replace(const char *key, modser_serializer *s);
MODSER_GRAPH_API int modser_serializer_remove(const char *key);
/**
 * Serializer @i of the stored ones, released by the caller, with its key in
 * *@ret_key, which the caller frees with free(). NULL: there are fewer, or memory is
 * short.
 */
MODSER_GRAPH_API modser_serializer *modser_serializer_at(size_t i, char **ret_key);
/**
 * The first serializer whose format matches these bytes, released by the caller. NULL
 * if absent.
 */
MODSER_GRAPH_API modser_serializer *modser_serializer_probe(const void *head,
							    size_t bytes);

typedef modser_serializer *modser_serializer_make(void);
/**
 * Register the constructor of serializers for @key. -1: the key is in use, or memory
 * is short.
 */
MODSER_GRAPH_API int modser_factory_register(const char *key,
					     modser_serializer_make *make);
/**
 * Create a serializer, owned by the caller. NULL: the key is unknown, or memory is
 * short.
 */
MODSER_GRAPH_API modser_serializer *modser_factory_create(const char *key);

#ifdef __cplusplus
}
#endif

#endif
