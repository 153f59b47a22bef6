#ifndef MODSER_GRAPH_H
#define MODSER_GRAPH_H
/*
 * StaticGraph: what a framework's model file holds, in memory, and the serializers that
 * read and write such files. docs/static-graph.md tells how they play together.
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
typedef struct modser_node modser_node;
typedef struct modser_tensor modser_tensor;
typedef struct modser_op modser_op;
typedef struct modser_serializer modser_serializer;

#define MODSER_GRAPH_MAX_NDIM 32u  /* dimensions of a tensor */
#define MODSER_GRAPH_MAX_DEPTH 64u /* graphs within graphs */

/* A typed value: of attributes of graphs and operators, and of parameters. */
typedef enum modser_attr_kind {
	MODSER_ATTR_INT,
	MODSER_ATTR_FLOAT,
	MODSER_ATTR_STR,
	MODSER_ATTR_INTS,
	MODSER_ATTR_FLOATS,
	MODSER_ATTR_GRAPH /* its own graph, for operators that branch and loop */
} modser_attr_kind;

typedef struct modser_attr {
	modser_attr_kind kind;
	size_t n; /* elements of a list */
	union {
		int64_t i;
		float f;
		const char *s;
		const int64_t *ints;
		const float *floats;
		modser_graph *graph;
	} as;
} modser_attr;

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
					   const modser_attr *value);
MODSER_GRAPH_API const modser_attr *modser_graph_attr(const modser_graph *graph,
						      const char *name);
/** Say that @tensor is the next of the graph's inputs, or of its outputs. */
MODSER_GRAPH_API int modser_graph_add_input(modser_graph *graph, modser_tensor *tensor);
MODSER_GRAPH_API int modser_graph_add_output(modser_graph *graph,
					     modser_tensor *tensor);

MODSER_GRAPH_API size_t modser_graph_node_count(const modser_graph *graph);
MODSER_GRAPH_API size_t modser_graph_tensor_count(const modser_graph *graph);
MODSER_GRAPH_API size_t modser_graph_input_count(const modser_graph *graph);
MODSER_GRAPH_API size_t modser_graph_output_count(const modser_graph *graph);
/* NULL when there is none of that number. */
MODSER_GRAPH_API modser_node *modser_graph_node(const modser_graph *graph, size_t i);
MODSER_GRAPH_API modser_tensor *modser_graph_tensor(const modser_graph *graph,
						    size_t i);
MODSER_GRAPH_API modser_tensor *modser_graph_input(const modser_graph *graph, size_t i);
MODSER_GRAPH_API modser_tensor *modser_graph_output(const modser_graph *graph,
						    size_t i);

/**
 * Check that the graph holds together: each tensor has one producer, which comes from
 * no circle; nodes have operators and as many inputs and outputs as these take;
 * constants have as many bytes as their shapes say; inputs and outputs exist. The first
 * fault is named in the error.
 */
MODSER_GRAPH_API int modser_graph_check(modser_graph *graph);
/** The whole graph as text, the same for equal graphs. The caller frees *@ret_text with
 * free(); it is unchanged on failure. */
MODSER_GRAPH_API int modser_graph_dump(modser_graph *graph, char **ret_text);
/** Do both hold the same nodes, tensors, parameters and constants, in the same order?
 * Where they came from does not count. The error of @a names the first difference. */
MODSER_GRAPH_API bool modser_graph_equal(modser_graph *a, const modser_graph *b);

/* ---- Nodes ---- */

MODSER_GRAPH_API modser_node *modser_node_create(modser_graph *graph, const char *name);
MODSER_GRAPH_API void modser_node_set_op(modser_node *node, modser_op *op);
/** Returns the number of the input or output, or -1. A NULL input is one that the
 * operator does without, a NULL output one that nobody asked for. */
MODSER_GRAPH_API int modser_node_add_input(modser_node *node, modser_tensor *tensor);
MODSER_GRAPH_API int modser_node_add_output(modser_node *node, modser_tensor *tensor);
MODSER_GRAPH_API const char *modser_node_name(const modser_node *node);
MODSER_GRAPH_API size_t modser_node_index(const modser_node *node);
MODSER_GRAPH_API modser_op *modser_node_op(const modser_node *node);
MODSER_GRAPH_API size_t modser_node_input_count(const modser_node *node);
MODSER_GRAPH_API size_t modser_node_output_count(const modser_node *node);
MODSER_GRAPH_API modser_tensor *modser_node_input(const modser_node *node, size_t i);
MODSER_GRAPH_API modser_tensor *modser_node_output(const modser_node *node, size_t i);

/* ---- Operators ---- */

/** An operator with the default of each parameter. The error names an operator that is
 * unknown. */
MODSER_GRAPH_API modser_op *modser_op_create(modser_graph *graph, const char *name);
/** Set one parameter: of that name and kind. Lists and texts are copied. */
MODSER_GRAPH_API int modser_op_set_param(modser_op *op, const char *param,
					 const modser_attr *value);
MODSER_GRAPH_API int modser_op_set_int(modser_op *op, const char *param, int64_t value);
/** Add what the schema does not have; -1 when @name is taken. See
 * modser_graph_add_attr() for graphs. */
MODSER_GRAPH_API int modser_op_add_attr(modser_op *op, const char *name,
					const modser_attr *value);
MODSER_GRAPH_API const char *modser_op_name(const modser_op *op);
/* NULL when there is none of that name. */
MODSER_GRAPH_API const modser_attr *modser_op_param(const modser_op *op,
						    const char *param);
MODSER_GRAPH_API const modser_attr *modser_op_attr(const modser_op *op,
						   const char *name);
/** The value of a parameter that the operator's schema has as a number; else 0. */
MODSER_GRAPH_API int64_t modser_op_int(const modser_op *op, const char *param);
MODSER_GRAPH_API float modser_op_float(const modser_op *op, const char *param);

/* ---- Tensors ---- */

typedef enum modser_tensor_type {
	MODSER_TENSOR_UNKNOWN,
	MODSER_TENSOR_VAR,
	MODSER_TENSOR_CONST,
	MODSER_TENSOR_INPUT,
	MODSER_TENSOR_DEP,
	MODSER_TENSOR_TYPE_COUNT
} modser_tensor_type;

/** A tensor of float32, type VAR and unknown shape. */
MODSER_GRAPH_API modser_tensor *modser_tensor_create(modser_graph *graph,
						     const char *name);
/** The same of type CONST. */
MODSER_GRAPH_API modser_tensor *modser_tensor_create_const(modser_graph *graph,
							   const char *name);
/** @n extents, 0 of them for a scalar; -1 is an extent that is not known. */
MODSER_GRAPH_API int modser_tensor_set_dims(modser_tensor *tensor, const int64_t *dims,
					    size_t n);
/** The name of extent @i, for one that is not known. */
MODSER_GRAPH_API int modser_tensor_set_dim_name(modser_tensor *tensor, size_t i,
						const char *name);
/** "float32", "int8", "bool", ... as numpy names them. */
MODSER_GRAPH_API int modser_tensor_set_dtype(modser_tensor *tensor, const char *dtype);
/** "NCHW" or "NHWC". */
MODSER_GRAPH_API int modser_tensor_set_layout(modser_tensor *tensor,
					      const char *layout);
MODSER_GRAPH_API int modser_tensor_set_type(modser_tensor *tensor,
					    modser_tensor_type type);
/** Bytes of a constant; for others they follow from shape and dtype. */
MODSER_GRAPH_API int modser_tensor_set_size(modser_tensor *tensor, uint64_t bytes);
/** Add scale and zero point of a quantized tensor: one, or one for each channel. */
MODSER_GRAPH_API int modser_tensor_add_quant(modser_tensor *tensor, float scale,
					     int32_t zero_point);
/**
 * Give a constant its bytes, as many as modser_tensor_set_size() said. @release is
 * called with @buffer when the graph is done with it; NULL: it is not the graph's, and
 * outlives it. An earlier buffer is released.
 */
MODSER_GRAPH_API int modser_tensor_set_buffer(modser_tensor *tensor, const void *buffer,
					      void (*release)(void *buffer));
/** Where a constant's bytes stand in the graph's file of constants. */
MODSER_GRAPH_API int modser_tensor_set_location(modser_tensor *tensor, uint64_t offset,
						uint64_t bytes);
MODSER_GRAPH_API const char *modser_tensor_name(const modser_tensor *tensor);
MODSER_GRAPH_API size_t modser_tensor_index(const modser_tensor *tensor);
MODSER_GRAPH_API modser_tensor_type modser_tensor_type_of(const modser_tensor *tensor);
MODSER_GRAPH_API const char *modser_tensor_dtype(const modser_tensor *tensor);
/** Number of dimensions, or -1 while the shape is not known. */
MODSER_GRAPH_API int modser_tensor_ndim(const modser_tensor *tensor);
MODSER_GRAPH_API const int64_t *modser_tensor_dims(const modser_tensor *tensor);
/** The name of extent @i; "" when it has none. */
MODSER_GRAPH_API const char *modser_tensor_dim_name(const modser_tensor *tensor,
						    size_t i);
/** A constant's bytes in *@ret_bytes; NULL when it has no buffer. */
MODSER_GRAPH_API const void *modser_tensor_data(const modser_tensor *tensor,
						uint64_t *ret_bytes);

/* ---- Operator schemas ---- */

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

typedef struct modser_op_field {
	const char *name;
	modser_attr def; /* the default, which says the kind, too */
	modser_tm_encoding tm_encoding;
	unsigned tm_offset; /* in the parameters of a tmfile */
} modser_op_field;

#define MODSER_MANY 0xffffu /* as many as there are */
#define MODSER_NO_TM_TYPE 0xffffffffu

typedef struct modser_op_schema {
	const char *name;
	const modser_op_field *fields;
	size_t n_fields;
	unsigned min_in, max_in;
	unsigned min_out, max_out;
	uint32_t tm_type;  /* in tmfiles, or MODSER_NO_TM_TYPE */
	unsigned tm_bytes; /* of its parameters there */
} modser_op_schema;

/** Add an operator; -1 when the name or the tmfile type is taken, or memory is short.
 * @schema must live as long as the process. */
MODSER_GRAPH_API int modser_op_register(const modser_op_schema *schema);
MODSER_GRAPH_API const modser_op_schema *modser_op_schema_find(const char *name);
/** The default of one parameter of operator @name; NULL: there is none such. */
MODSER_GRAPH_API const modser_attr *modser_op_default(const char *name,
						      const char *param);

#ifdef __cplusplus
}
#endif

#endif
