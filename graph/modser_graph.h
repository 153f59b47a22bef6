#ifndef MODSER_GRAPH_H
#define MODSER_GRAPH_H
/*
 * StaticGraph: what a framework's model file holds, in memory, and the serializers that
 * read and write such files. docs/static-graph.md tells how they play together. The
 * parts of a graph are called modser_sg_, which libmodser's names leave free.
 *
 * A graph owns its nodes, tensors, operators and all that they hold: nothing that a
 * _create function returns here is ever freed by its user. Nodes and tensors are known
 * by their indices, in the order of their creation; names may repeat. A graph belongs
 * to one thread at a time; two graphs are independent of each other. Serializers and
 * operator schemas may be used from all threads at once.
 *
 * Functions that return int give 0 on success and -1 on failure, those that return a
 * pointer NULL; modser_graph_error() of the graph concerned then says why. Texts are
 * NUL-terminated, are copied when they are given, and stay valid until the object that
 * gave them changes or ends.
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
#define MODSER_GRAPH_MAX_DEPTH 64u /* graphs within graphs */

/* A typed value: of attributes of graphs and operators, and of parameters. */
typedef enum modser_sg_attr_kind {
	MODSER_ATTR_INT,
	MODSER_ATTR_FLOAT,
	MODSER_ATTR_STR,
	MODSER_ATTR_INTS,
	MODSER_ATTR_FLOATS,
	MODSER_ATTR_GRAPH /* its own graph, for operators that branch and loop */
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

/* No function takes NULL for an object or a text that it needs: one that returns an int
 * gives -1, with the error of the graph where it gets one; others give NULL, "", 0 or
 * what else they have for nothing. */

/* ---- Graphs ---- */

/** An empty graph, to be destroyed by the caller. NULL: out of memory. */
MODSER_GRAPH_API modser_graph *modser_graph_create(const char *name);
MODSER_GRAPH_API void modser_graph_destroy(modser_graph *graph); /* NULL is fine */
/** Why the last function that failed on @graph did; "" when none did. */
MODSER_GRAPH_API const char *modser_graph_error(const modser_graph *graph);
/** The kind of that failure, as the protocol names it: "BAD_ARTIFACT", "OK". */
MODSER_GRAPH_API const char *modser_graph_error_name(const modser_graph *graph);
/** Say why a function of yours fails on @graph: the file is not as it should be.
 * Returns -1. */
MODSER_GRAPH_API int modser_graph_fail(modser_graph *graph, const char *text);

/* What is known of a graph beside its nodes. */
typedef enum modser_graph_fact {
	MODSER_GRAPH_NAME,   /* internal: given at creation */
	MODSER_GRAPH_DOMAIN, /* the three of the identity */
	MODSER_GRAPH_IDENTITY,
	MODSER_GRAPH_VERSION,
	MODSER_GRAPH_SOURCE,        /* the file or files it came from */
	MODSER_GRAPH_SOURCE_FORMAT, /* "tengine", "onnx", ... */
	MODSER_GRAPH_CONST_FILE,    /* which file holds the constants */
	MODSER_GRAPH_FACT_COUNT
} modser_graph_fact;

/** One of these texts; "" when it was never set. */
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
/** Add an attribute; -1, and nothing changed, when @name is taken. The value is copied,
 * but a graph in it becomes @graph's own. */
MODSER_GRAPH_API int modser_graph_add_attr(modser_graph *graph, const char *name,
					   const modser_sg_attr *value);
MODSER_GRAPH_API const modser_sg_attr *modser_graph_attr(const modser_graph *graph,
							 const char *name);
/** Say that @tensor is the next of the graph's inputs, or of its outputs. */
MODSER_GRAPH_API int modser_graph_add_input(modser_graph *graph,
					    modser_sg_tensor *tensor);
MODSER_GRAPH_API int modser_graph_add_output(modser_graph *graph,
					     modser_sg_tensor *tensor);

/** How many there are of each. */
MODSER_GRAPH_API size_t modser_graph_node_count(const modser_graph *graph);
MODSER_GRAPH_API size_t modser_graph_tensor_count(const modser_graph *graph);
MODSER_GRAPH_API size_t modser_graph_input_count(const modser_graph *graph);
MODSER_GRAPH_API size_t modser_graph_output_count(const modser_graph *graph);
/** The one of number @i, the graph's; NULL when there is none. */
MODSER_GRAPH_API modser_sg_node *modser_graph_node(const modser_graph *graph, size_t i);
MODSER_GRAPH_API modser_sg_tensor *modser_graph_tensor(const modser_graph *graph,
						       size_t i);
MODSER_GRAPH_API modser_sg_tensor *modser_graph_input(const modser_graph *graph,
						      size_t i);
MODSER_GRAPH_API modser_sg_tensor *modser_graph_output(const modser_graph *graph,
						       size_t i);

/**
 * Check that the graph holds together: each tensor has one producer, which comes from
 * no circle; nodes have operators and as many inputs and outputs as these take;
 * constants have as many bytes as their shapes say; inputs and outputs exist. The first
 * fault is named in the error.
 */
MODSER_GRAPH_API int modser_graph_check(modser_graph *graph);
/** Set the shape of every tensor, from those of inputs and constants. The error names
 * the node whose inputs do not fit, or whose operator has no inference. */
MODSER_GRAPH_API int modser_graph_infer(modser_graph *graph);
/**
 * Give inputs the shapes that @words say, "x=float32[1,3,224,224]", of several with ':'
 * between them; '?' leaves an extent as the model has it. Inputs and outputs that call
 * an extent by the same name get the same number, and shapes of other tensors follow as
 * far as they are known before a run. The error names the input that the model lacks,
 * or whose dtype, dimensions or extents are others; the graph can then only be
 * destroyed.
 */
MODSER_GRAPH_API int modser_graph_fix_inputs(modser_graph *graph, const char *words);
/** The whole graph as text, the same for equal graphs. The caller frees *@ret_text with
 * free(); it is unchanged on failure. */
MODSER_GRAPH_API int modser_graph_dump(modser_graph *graph, char **ret_text);
/** Do both hold the same nodes, tensors, parameters and constants, in the same order?
 * Where they came from does not count. The error of @a names the first difference. */
MODSER_GRAPH_API bool modser_graph_equal(modser_graph *a, const modser_graph *b);

/* ---- Nodes ----
 *
 * Constants and inputs are made by nodes, too: each constant tensor is the one output
 * of a node of operator "Const", each input, whose type is MODSER_TENSOR_INPUT, that of
 * one of "InputOp". */

/** A node without operator, inputs and outputs, the graph's; its number is the next.
 * NULL with the graph's error: memory is short, or @name is not UTF-8, as names of
 * tensors and dimensions must be, too. */
MODSER_GRAPH_API modser_sg_node *modser_sg_node_create(modser_graph *graph,
						       const char *name);
/** Let @node run @op, or, with NULL, none. -1: @op is another graph's, or another
 * node's already. */
MODSER_GRAPH_API int modser_sg_node_set_op(modser_sg_node *node, modser_sg_op *op);
/** Returns the number of the input or output, or -1. A NULL input is one that the
 * operator does without, a NULL output one that nobody asked for. */
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

/** An operator with the default of each parameter. The error names an operator that is
 * unknown. */
MODSER_GRAPH_API modser_sg_op *modser_sg_op_create(modser_graph *graph,
						   const char *name);
/** Set one parameter: of that name and kind. Lists and texts are copied. */
MODSER_GRAPH_API int modser_sg_op_set_param(modser_sg_op *op, const char *param,
					    const modser_sg_attr *value);
MODSER_GRAPH_API int modser_sg_op_set_int(modser_sg_op *op, const char *param,
					  int64_t value);
/** Add what the schema does not have; -1 when @name is taken. See
 * modser_graph_add_attr() for graphs. */
MODSER_GRAPH_API int modser_sg_op_add_attr(modser_sg_op *op, const char *name,
					   const modser_sg_attr *value);
MODSER_GRAPH_API const char *modser_sg_op_name(const modser_sg_op *op);
/* NULL when there is none of that name. */
MODSER_GRAPH_API const modser_sg_attr *modser_sg_op_param(const modser_sg_op *op,
							  const char *param);
MODSER_GRAPH_API const modser_sg_attr *modser_sg_op_attr(const modser_sg_op *op,
							 const char *name);
/** The value of a parameter that the operator's schema has as a number; else 0. */
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

/** A tensor of float32, type VAR and unknown shape. */
MODSER_GRAPH_API modser_sg_tensor *modser_sg_tensor_create(modser_graph *graph,
							   const char *name);
/** The same of type CONST. */
MODSER_GRAPH_API modser_sg_tensor *modser_sg_tensor_create_const(modser_graph *graph,
								 const char *name);
/** @n extents, 0 of them for a scalar; -1 is an extent that is not known. */
MODSER_GRAPH_API int modser_sg_tensor_set_dims(modser_sg_tensor *tensor,
					       const int64_t *dims, size_t n);
/** The name of extent @i, for one that is not known. */
MODSER_GRAPH_API int modser_sg_tensor_set_dim_name(modser_sg_tensor *tensor, size_t i,
						   const char *name);
/** "float32", "int8", "bool", ... as numpy names them. */
MODSER_GRAPH_API int modser_sg_tensor_set_dtype(modser_sg_tensor *tensor,
						const char *dtype);
/** "NCHW" or "NHWC". */
MODSER_GRAPH_API int modser_sg_tensor_set_layout(modser_sg_tensor *tensor,
						 const char *layout);
MODSER_GRAPH_API int modser_sg_tensor_set_type(modser_sg_tensor *tensor,
					       modser_sg_tensor_type type);
/** Bytes of a constant; for others they follow from shape and dtype. */
MODSER_GRAPH_API int modser_sg_tensor_set_size(modser_sg_tensor *tensor,
					       uint64_t bytes);
/** Add scale and zero point of a quantized tensor: one, or one for each channel. */
MODSER_GRAPH_API int modser_sg_tensor_add_quant(modser_sg_tensor *tensor, float scale,
						int32_t zero_point);
/**
 * Give a constant its bytes, as many as modser_sg_tensor_set_size() said. @release is
 * called with @buffer when the graph is done with it; NULL: it is not the graph's, and
 * outlives it. An earlier buffer is released.
 */
MODSER_GRAPH_API int modser_sg_tensor_set_buffer(modser_sg_tensor *tensor,
						 const void *buffer,
						 void (*release)(void *buffer));
/** Where a constant's bytes stand in the graph's file of constants. */
MODSER_GRAPH_API int modser_sg_tensor_set_location(modser_sg_tensor *tensor,
						   uint64_t offset, uint64_t bytes);
MODSER_GRAPH_API const char *modser_sg_tensor_name(const modser_sg_tensor *tensor);
MODSER_GRAPH_API size_t modser_sg_tensor_index(const modser_sg_tensor *tensor);
MODSER_GRAPH_API modser_sg_tensor_type
modser_sg_tensor_type_of(const modser_sg_tensor *tensor);
MODSER_GRAPH_API const char *modser_sg_tensor_dtype(const modser_sg_tensor *tensor);
/** Number of dimensions, or -1 while the shape is not known. */
MODSER_GRAPH_API int modser_sg_tensor_ndim(const modser_sg_tensor *tensor);
MODSER_GRAPH_API const int64_t *modser_sg_tensor_dims(const modser_sg_tensor *tensor);
/** The name of extent @i; "" when it has none. */
MODSER_GRAPH_API const char *modser_sg_tensor_dim_name(const modser_sg_tensor *tensor,
						       size_t i);
/** A constant's bytes in *@ret_bytes; NULL when it has no buffer. */
MODSER_GRAPH_API const void *modser_sg_tensor_data(const modser_sg_tensor *tensor,
						   uint64_t *ret_bytes);

/* ---- Operator schemas ---- */

/* Structs that are registered begin with their size, which tells one that was built
 * against another header, and are refused by the name of a field that is NULL. */

/** Why the last registration of this thread was refused: of an operator, a serializer,
 * a row, a kernel or an engine. "": by no fault of its struct. */
MODSER_GRAPH_API const char *modser_registration_error(void);

/* How a parameter stands in tmfiles. */
typedef enum modser_tm_encoding {
	MODSER_TM_NONE, /* it does not */
	MODSER_TM_I32,
	MODSER_TM_F32,
	MODSER_TM_U8,
	MODSER_TM_I32_VECTOR,
	MODSER_TM_F32_VECTOR,
	MODSER_TM_F32X4_VECTOR, /* four floats an element */
	MODSER_TM_STRING
} modser_tm_encoding;

typedef struct modser_sg_op_field {
	const char *name;
	modser_sg_attr def; /* the default, which says the kind, too */
	modser_tm_encoding tm_encoding;
	unsigned tm_offset; /* in the parameters of a tmfile */
} modser_sg_op_field;

#define MODSER_MANY 0xffffu /* as many as there are */
#define MODSER_NO_TM_TYPE 0xffffffffu

typedef struct modser_sg_op_schema {
	uint32_t size; /* sizeof this struct */
	const char *name;
	const modser_sg_op_field *fields;
	size_t n_fields;
	unsigned min_in, max_in;
	unsigned min_out, max_out;
	uint32_t tm_type;     /* in tmfiles, or MODSER_NO_TM_TYPE */
	unsigned tm_bytes;    /* of its parameters there */
	uint32_t optional_in; /* a bit for each input that may be NULL */
	/* Set the shapes of the node's outputs from those of its inputs, which are
	 * known; NULL: that is not known. Outputs have the dtype of input 0 unless it
	 * is set, too. 0, or -1 with the error of the node's graph
	 * (modser_graph_fail): these inputs cannot be. Nobody else looks at their
	 * shapes and dtypes before a kernel gets them. */
	int (*infer)(modser_sg_node *node);
} modser_sg_op_schema;

/** Add an operator; -1 when the name or the tmfile type is taken, or memory is short.
 * @schema must live as long as the process. */
MODSER_GRAPH_API int modser_sg_op_register(const modser_sg_op_schema *schema);
MODSER_GRAPH_API const modser_sg_op_schema *modser_sg_op_schema_find(const char *name);
/** The default of one parameter of operator @name; NULL: there is none such. */
MODSER_GRAPH_API const modser_sg_attr *modser_sg_op_default(const char *name,
							    const char *param);

/* ---- Serializers ---- */

/* The bytes of one file of a model. */
typedef struct modser_part {
	const void *data;
	size_t bytes;
} modser_part;

/* What constants become whose bytes were taken out of the file. */
typedef enum modser_fill {
	MODSER_FILL_REFUSE,
	MODSER_FILL_LEAVE, /* without bytes: to be looked at and stored, not to be run
			    */
	MODSER_FILL_ZERO,
	MODSER_FILL_SEEDED /* small numbers that look random, the same each time */
} modser_fill;

typedef struct modser_model_options {
	modser_fill fill;
} modser_model_options;

/* How an operator's load or store method is kept, whatever its format calls it with:
 * it is cast back to what that format's documentation says. */
typedef void modser_sg_op_method(void);

/* Gives the bytes of the file that a model calls @name, in *@ret; they stay until the
 * join has ended, or, of a load, as long as the graph. 0, or -1 with the error of
 * @graph (modser_graph_fail). */
typedef int modser_read_beside(void *ctx, modser_graph *graph, const char *name,
			       modser_part *ret);

/* What a format is. Its functions run on any number of threads at once; each has a
 * graph of its own. */
typedef struct modser_serializer_ops {
	uint32_t size;      /* sizeof this struct */
	const char *name;   /* of the serializer, one of perhaps several for a format */
	const char *format; /* "tengine", "onnx", ... */
	const char *version; /* of the serializer */
	unsigned n_files;    /* that hold one model */
	/* Do these, the first bytes of its first file, look like the format? */
	bool (*probe)(const void *head, size_t bytes);
	/* Fill the empty @graph from n_files parts, which outlive it. */
	int (*load)(const modser_serializer *s, const modser_part *parts,
		    const modser_model_options *options, modser_graph *graph);
	/* Write n_files parts, each of malloc(); NULL: the format is only read. */
	int (*store)(const modser_serializer *s, modser_graph *graph,
		     modser_part *ret_parts);
	/* See modser_serializer_join(). NULL: a model never names further files. */
	int (*join)(const modser_part *model, modser_read_beside *read, void *ctx,
		    modser_graph *graph, modser_part *ret);
	/* See modser_serializer_split(). NULL: a model is always one file. */
	int (*split)(const modser_part *model, const char *name, modser_graph *graph,
		     modser_part *ret_model, modser_part *ret_data);
} modser_serializer_ops;

/** A serializer, which the caller owns; @ops must outlive it. NULL: out of memory. */
MODSER_GRAPH_API modser_serializer *
modser_serializer_create(const modser_serializer_ops *ops);
/** Give a serializer back: what created or got it, once each. NULL is fine. */
MODSER_GRAPH_API void modser_serializer_unref(modser_serializer *s);
MODSER_GRAPH_API unsigned modser_serializer_file_count(const modser_serializer *s);
MODSER_GRAPH_API const char *modser_serializer_format(const modser_serializer *s);
MODSER_GRAPH_API const char *modser_serializer_name(const modser_serializer *s);
MODSER_GRAPH_API const char *modser_serializer_version(const modser_serializer *s);
MODSER_GRAPH_API bool modser_serializer_can_store(const modser_serializer *s);

/**
 * Load a model into @graph, which must be empty, and check it. @options may be NULL.
 * After a failure the graph holds what was read until then and can only be destroyed.
 * load_files() lets the graph keep the files' bytes; those of load_memory() stay the
 * caller's, who lets them outlive the graph.
 */
MODSER_GRAPH_API int modser_serializer_load_files(const modser_serializer *s,
						  const char *const *paths, size_t n,
						  const modser_model_options *options,
						  modser_graph *graph);
MODSER_GRAPH_API int modser_serializer_load_memory(const modser_serializer *s,
						   const modser_part *parts, size_t n,
						   const modser_model_options *options,
						   modser_graph *graph);
/** Let loads into @graph, and none but these, read the further files that a model names
 * by @read, in place where their bytes are aligned; without it such a model is refused.
 */
MODSER_GRAPH_API void modser_graph_set_beside(modser_graph *graph,
					      modser_read_beside *read, void *ctx);
/**
 * Put the bytes that @model names in further files (ONNX's external data) into one file
 * of the same format, each aligned: *@ret, whose data the caller frees with free().
 * NULL data: it names none, and its large constants are aligned as they are. @read is
 * called once or more for each file; the names are the model's, and whoever reads them
 * judges them. -1 with the error of
 * @graph, which stays empty.
 */
MODSER_GRAPH_API int modser_serializer_join(const modser_serializer *s,
					    const modser_part *model,
					    modser_read_beside *read, void *ctx,
					    modser_graph *graph, modser_part *ret);
/**
 * The other way: take the weights of @model, one whole file, out into a file that it
 * calls @name, and that is to lie beside it. The data of both are freed with free(). -1
 * with the error of @graph, which stays empty: the format has no such files.
 */
MODSER_GRAPH_API int modser_serializer_split(const modser_serializer *s,
					     const modser_part *model, const char *name,
					     modser_graph *graph,
					     modser_part *ret_model,
					     modser_part *ret_data);
/** Check @graph and write it. store_memory() writes @n parts, whose data the caller
 * frees with free(); on failure there are none. */
MODSER_GRAPH_API int modser_serializer_store_files(const modser_serializer *s,
						   modser_graph *graph,
						   const char *const *paths, size_t n);
MODSER_GRAPH_API int modser_serializer_store_memory(const modser_serializer *s,
						    modser_graph *graph,
						    modser_part *ret_parts, size_t n);
/** Read the bytes of one constant, found by its tensor's name, from the model's file
 * that holds constants; the graph owns them. */
MODSER_GRAPH_API int modser_serializer_load_const_file(const modser_serializer *s,
						       const char *path,
						       modser_sg_tensor *tensor);
MODSER_GRAPH_API int modser_serializer_load_const_fd(const modser_serializer *s, int fd,
						     modser_sg_tensor *tensor);

/** Load or store operators called @op by @method. -1: that name has one, or no memory.
 * The getters give NULL where none was registered. */
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

/* What the tengine serializer calls for the parameters of an operator, @bytes of them
 * at @param: to give @node its operator, and to write them. A type without a schema is
 * called "#" and its number, such as "#200". */
typedef int modser_tmfile_load_fn(modser_sg_node *node, const void *param,
				  size_t bytes);
/* *@ret_param is of malloc() and becomes the serializer's, with its number of bytes. */
typedef int modser_tmfile_store_fn(const modser_sg_node *node, uint32_t *ret_type,
				   void **ret_param, size_t *ret_bytes);

/* How one operator of ONNX's files, from one version of its domain on, is one of ours.
 * `params` are words, parted by spaces, that say what becomes of the attributes:
 *   alpha      attribute alpha is parameter alpha
 *   size=n     attribute size is parameter n
 *   size!      it must be there
 *   axis:-1    ONNX's value when it is not there, where ours is another
 *   -seed      it says nothing to us
 *   type:=3    no attribute: the parameter is always this */
typedef struct modser_onnx_row {
	uint32_t size;      /* sizeof this struct */
	const char *domain; /* "": ONNX's own */
	const char *name;
	int64_t since;  /* version of the domain */
	const char *op; /* of a schema that is registered */
	const char *params;
} modser_onnx_row;

/** Add a row, by which such nodes are read and the operator is written; it must live as
 * long as the process. -1: ONNX's operator of that domain, name and version has a row,
 * there is no such schema or parameter, or memory is short. */
MODSER_GRAPH_API int modser_onnx_add_row(const modser_onnx_row *row);

/* ---- The manager and the factory: serializers by a key ---- */

/** Keep @s under @key; the manager has a share of its own. -1: the key is taken, or no
 * memory. */
MODSER_GRAPH_API int modser_serializer_add(const char *key, modser_serializer *s);
/** The serializer of @key, to be given back with modser_serializer_unref(); it lives
 * until then, removed or not. NULL: none. */
MODSER_GRAPH_API modser_serializer *modser_serializer_get(const char *key);
/** The same by what people call the format: its key, or what the names of its files end
 * with ("tmfile"). */
MODSER_GRAPH_API modser_serializer *modser_serializer_named(const char *word);
/** -1: there is none of that key, and nothing has changed. */
MODSER_GRAPH_API int modser_serializer_replace(const char *key, modser_serializer *s);
MODSER_GRAPH_API int modser_serializer_remove(const char *key);
/** Number @i of those that are kept, to be given back, and its key in *@ret_key, which
 * the caller frees with free(). NULL: there are fewer, or no memory. */
MODSER_GRAPH_API modser_serializer *modser_serializer_at(size_t i, char **ret_key);
/** The first whose format these bytes look like, to be given back. NULL: none. */
MODSER_GRAPH_API modser_serializer *modser_serializer_probe(const void *head,
							    size_t bytes);

typedef modser_serializer *modser_serializer_make(void);
/** Remember how serializers for @key are made. -1: the key is taken, or no memory. */
MODSER_GRAPH_API int modser_factory_register(const char *key,
					     modser_serializer_make *make);
/** A new serializer, owned by the caller. NULL: no such key, or no memory. */
MODSER_GRAPH_API modser_serializer *modser_factory_create(const char *key);

#ifdef __cplusplus
}
#endif

#endif
