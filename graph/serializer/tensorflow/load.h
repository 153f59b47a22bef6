#ifndef MSD_TENSORFLOW_LOAD_H
#define MSD_TENSORFLOW_LOAD_H
/*
 * State of reading a model. A body is a list of nodes: the graph, or a function. A
 * frame is one evaluation of a body: it has a value for each output of each node that
 * was needed. A scope is the graph that an evaluation adds nodes to: the model's, or a
 * subgraph of an If or a Loop. Calls of functions are frames of the same scope.
 */
#include <tensorflow.pb-c.h>

#include "graph/modser_graph.h"
#include "graph/serializer/names.h"
#include "graph/serializer/tensorflow/bundle.h"
#include "proto/base/bytes.h"

typedef Tensorflow__NodeDef tf_node;

/* The output of a node that an input reads, or an argument of the function. */
struct tf_link {
	bool is_arg;
	size_t at; /* index, node or argument */
	size_t out;
};

struct tf_body {
	const char *name; /* of the function; "": the graph */
	tf_node *const *nodes;
	size_t n;
	const Tensorflow__FunctionDef *function; /* NULL: the graph */
	struct msd_names names;                  /* nodes, by their index + 1 */
	struct msd_names args;                   /* the same of arguments */
	size_t *uses;                            /* by node: inputs that name it */
	bool has_switch;
};

/* TF_DEAD: its side of a condition is never taken. */
enum tf_kind { TF_TENSOR, TF_LIST, TF_HANDLE, TF_TEXT, TF_DEAD };
#define TF_UNKNOWN INT64_MIN
#define TF_MAX_INTS 64u

/* The side of a v1 condition that a value is computed on. */
struct tf_branch {
	const struct tf_value *pred;
	bool side;
	const struct tf_branch *outer;
};

struct tf_value {
	struct tf_value *next; /* the list that the load frees */
	enum tf_kind kind;
	modser_sg_tensor *t; /* of a list: its elements, one after another, or NULL */
	modser_sg_tensor *planes;
	int64_t *ints; /* numbers as far as they are known; NULL: none */
	size_t n_ints;
	const struct tf_branch *branch; /* NULL: none */
	/* A loop's counter: its state @counter, @plus added; counter 0: none. */
	size_t counter;
	int64_t plus;
	/* TF_HANDLE: its node, of the graph. TF_TEXT: a constant of texts. */
	const tf_node *from;
	/* TF_LIST */
	struct tf_value *size;       /* number of elements; NULL: extent 0 of t */
	bool is_slot;                /* a loop collects what is written to it */
	const struct tf_value *base; /* the list that one element was written to */
	const struct tf_value *index;
	modser_sg_tensor *item;
	const int64_t *element; /* extents of an element, -1 if open */
	int element_ndim;       /* -1: not known */
	const char *element_dtype;
};

struct tf_scope {
	modser_graph *g;
	struct tf_capture {
		modser_sg_tensor *outer, *inner;
		bool is_input; /* else a constant of its own */
	} * captures;
	size_t n_captures;
};

struct tf_cell {
	struct tf_value **out;
	size_t n_out;
	enum { TF_NEW, TF_OPEN, TF_DONE } state;
};

struct tf_load {
	modser_graph *g;
	struct msd_span file;
	Tensorflow__GraphDef *frozen; /* one of both */
	Tensorflow__SavedModel *saved;
	const Tensorflow__MetaGraphDef *meta; /* NULL: a GraphDef */
	const Tensorflow__GraphDef *graph;
	const modser_model_options *options;
	struct tf_body top;
	struct tf_body *functions; /* the library; each is filled when it is called */
	size_t n_functions;
	struct msd_names function_names;
	const struct tf_body *active[64]; /* functions that are being evaluated */
	size_t n_active;
	size_t left; /* nodes that may still be visited */
	struct tf_value *values;
	struct tf_block *blocks; /* other memory of values */
	struct tf_bundle bundle;
	bool has_bundle;
	struct msd_names restored;  /* keys of the bundle, by variable */
	struct msd_names aliases;   /* variables that another one initializes */
	struct msd_names variables; /* values of variables in the model's graph */
	bool counts;                /* nodes are counted for inspect */
};

struct tf_frame {
	struct tf_load *l;
	const struct tf_body *body;
	struct tf_scope *scope;
	const struct tf_frame *caller; /* of a function; NULL: the graph */
	const tf_node *call;
	struct tf_value *const *args;
	size_t n_args;
	struct tf_cell *cells; /* one a node */
};

/** Record why the model cannot be read. Returns -1. */
int tf_load_fail(const struct tf_load *l, msd_err code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** A new value, zeroed; NULL with the error of the graph. */
struct tf_value *tf_value_new(struct tf_load *l);
/** @bytes of zeroed memory that live as long as the load; NULL with the error. */
void *tf_alloc(struct tf_load *l, size_t n, size_t bytes);
/** A value of tensor @t; NULL if @t is. */
struct tf_value *tf_value_of(struct tf_load *l, modser_sg_tensor *t);
void tf_values_finish(struct tf_load *l);
/** The attribute @name of @node, as the callers of @f give it; NULL: none. */
const Tensorflow__AttrValue *tf_attr_of(const struct tf_frame *f, const tf_node *node,
					const char *name);

/* Bodies (body.c). */
MSD_MUST_CHECK int tf_body_init(struct tf_load *l, struct tf_body *b);
void tf_body_finish(struct tf_body *b);
/** The function called @name, ready; NULL without an error: there is none. */
MSD_MUST_CHECK int tf_body_find(struct tf_load *l, const char *name,
				struct tf_body **ret);
/** Resolve @text of a node of @b. False: it is a control input, or there is no such
 * node; *@ret_control tells them apart. */
MSD_MUST_CHECK bool tf_link_read(const struct tf_body *b, const char *text,
				 struct tf_link *ret, bool *ret_control);
/** Node @i's data input @k; false: it has fewer. Inputs were checked. */
MSD_MUST_CHECK bool tf_input_of(const struct tf_body *b, size_t i, size_t k,
				struct tf_link *ret);

/* Frames (frame.c). */
MSD_MUST_CHECK int tf_frame_init(struct tf_frame *f);
void tf_frame_finish(struct tf_frame *f);
/** Evaluate @link and all that it needs. NULL with the error of the load's graph. */
struct tf_value *tf_frame_get(struct tf_frame *f, const struct tf_link *link);
/** Call @function in the scope of @f with @args; its results go to @ret. */
MSD_MUST_CHECK int tf_call(const struct tf_frame *f, const tf_node *call,
			   struct tf_scope *scope, const char *function,
			   struct tf_value *const *args, size_t n,
			   struct tf_value **ret, size_t n_ret);

/** Choose inputs and outputs of the model, and evaluate the outputs (choose.c). */
MSD_MUST_CHECK int tf_frame_read(struct tf_frame *f);

/* Variables of a SavedModel (variables.c). */
MSD_MUST_CHECK int tf_variables_init(struct tf_load *l);
/** The value of the variable of @handle, in the graph of @f. */
struct tf_value *tf_variable_read(const struct tf_frame *f, const tf_node *handle);

/** The load function of the serializer, and the join of a SavedModel's files. */
int tf_model_load(const modser_serializer *s, const modser_part *parts,
		  const modser_model_options *options, modser_graph *graph);
int tf_model_join(const modser_part *model, modser_read_beside *read, void *ctx,
		  modser_graph *graph, modser_part *ret);

#endif
