#ifndef MSD_TENSORFLOW_LAYER_H
#define MSD_TENSORFLOW_LAYER_H
/*
 * One node while it is read: its attributes, its inputs, its outputs.
 *
 * Tensors keep the layout of the file. Operators on windows read and make planes
 * (channels first) between two transposes where the file has channels last; transposes
 * that meet cancel each other. Small integers that follow from shapes are known while
 * the model is read, as far as extents are: so shapes that TensorFlow computes become
 * constants.
 */
#include "graph/serializer/build/build.h"
#include "graph/serializer/tensorflow/load.h"

struct tf_layer {
	struct msd_build b;
	struct tf_frame *f;
	const tf_node *node;
	size_t at; /* index of the node */
	const struct tf_row *row;
	struct tf_value **in;
	size_t n_in;
	const struct tf_branch *branch; /* of its outputs */
};

/* How an operator is read. */
struct tf_row {
	const char *name; /* of TensorFlow */
	unsigned min_in, max_in;
	/* Returns the tensor of the only output, or NULL with the error of the graph.
	 */
	modser_sg_tensor *(*one)(struct tf_layer *x);
	/* Sets the values of all outputs (tf_outs()), instead. */
	int (*run)(struct tf_layer *x);
	const char *op; /* for functions of several rows */
	int64_t type;
	bool keeps_branch; /* it sets the branches of its outputs */
};
#define TF_MANY 0xffffu

/* Tables of rows, each ended by a row without a name. */
extern const struct tf_row tf_rows_element[];
extern const struct tf_row tf_rows_window[];
extern const struct tf_row tf_rows_make[];
extern const struct tf_row tf_rows_move[];
extern const struct tf_row tf_rows_slice[];
extern const struct tf_row tf_rows_reduce[];
extern const struct tf_row tf_rows_flow[];
extern const struct tf_row tf_rows_list[];
extern const struct tf_row tf_rows_detect[];
extern const struct tf_row tf_rows_volume[];
extern const struct tf_row tf_rows_scatter[];
/* The row for a node whose operator is a function. */
extern const struct tf_row tf_row_call;
/** The row of operator @name; NULL if there is none. */
const struct tf_row *tf_row_find(const char *name);
/** Row @i of all; NULL if there are fewer. */
const struct tf_row *tf_row_at(size_t i);

/** Record why the node cannot be read. Returns NULL. */
modser_sg_tensor *tf_fail(const struct tf_layer *x, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** Record that no row has its operator, and what would help. Returns -1. */
int tf_refuse(const struct tf_layer *x);

/* Attributes; @otherwise if the node has none. */
const Tensorflow__AttrValue *tf_attr(const struct tf_layer *x, const char *name);
int64_t tf_int(const struct tf_layer *x, const char *name, int64_t otherwise);
float tf_float(const struct tf_layer *x, const char *name, float otherwise);
bool tf_bool(const struct tf_layer *x, const char *name, bool otherwise);
/** True if text attribute @name is @text. */
bool tf_is(const struct tf_layer *x, const char *name, const char *text);
/** The integers of list @name, at most @max; their number. */
size_t tf_list(const struct tf_layer *x, const char *name, int64_t *ret, size_t max);
/** numpy's name of the type in attribute @name; NULL with the error of the graph. */
const char *tf_type(const struct tf_layer *x, const char *name);
/** The function in attribute @name; NULL with the error of the graph. */
const char *tf_function(const struct tf_layer *x, const char *name);
/** numpy's name of TensorFlow's element type @type; NULL: none that can be read. */
const char *tf_dtype(int32_t type);

/** Make room for @n outputs; false with the error of the graph. */
MSD_MUST_CHECK bool tf_outs(struct tf_layer *x, size_t n);
/** Set output @k, which has room. -1: @t is NULL, and the error is set. */
MSD_MUST_CHECK int tf_out(struct tf_layer *x, size_t k, modser_sg_tensor *t);
/** The tensor of input @i; NULL with the error of the graph: it is none. */
modser_sg_tensor *tf_in(const struct tf_layer *x, size_t i);
/** Dimensions of @t; false with the error of the graph: they are not known. */
MSD_MUST_CHECK bool tf_ndim(const struct tf_layer *x, const modser_sg_tensor *t,
			    size_t *ret);
bool tf_is_const(const modser_sg_tensor *t);
/** Axis @axis of @t; a negative one counts from the end. */
MSD_MUST_CHECK bool tf_axis(const struct tf_layer *x, const modser_sg_tensor *t,
			    int64_t axis, size_t *ret);

/* Nodes. Each infers the shape as far as the file determines it; NULL as build.h. */
modser_sg_tensor *tf_done(modser_sg_tensor *t);
modser_sg_tensor *tf_one(const struct tf_layer *x, const char *op, modser_sg_tensor *t);
modser_sg_tensor *tf_two(const struct tf_layer *x, const char *op, modser_sg_tensor *a,
			 modser_sg_tensor *b);
modser_sg_tensor *tf_cast(const struct tf_layer *x, modser_sg_tensor *t,
			  const char *dtype);
modser_sg_tensor *tf_reshape(const struct tf_layer *x, modser_sg_tensor *t,
			     const int64_t *dims, size_t n);
modser_sg_tensor *tf_transpose(const struct tf_layer *x, modser_sg_tensor *t,
			       const int64_t *perm, size_t n);
/** Squeeze or Unsqueeze; a Squeeze without axes removes all that have one place. */
modser_sg_tensor *tf_with_axes(const struct tf_layer *x, const char *op,
			       modser_sg_tensor *t, const int64_t *axes, size_t n);
modser_sg_tensor *tf_concat(const struct tf_layer *x, modser_sg_tensor *const *parts,
			    size_t n, int64_t axis);
modser_sg_tensor *tf_clip(const struct tf_layer *x, modser_sg_tensor *t, float min,
			  float max);
/** A number of the element type @dtype. */
modser_sg_tensor *tf_number(const struct tf_layer *x, float v, const char *dtype);
/** Ranges of axes of @t; all lists have @n elements. */
modser_sg_tensor *tf_slice(const struct tf_layer *x, modser_sg_tensor *t,
			   const int64_t *begin, const int64_t *end,
			   const int64_t *axes, const int64_t *steps, size_t n);
/** Infer the outputs of the node of @t, some of whose inputs have open extents. */
void tf_infer_open(modser_sg_tensor *t);

/* Planes. */
/** True if the node's tensors have their channels last. */
bool tf_is_nhwc(const struct tf_layer *x);
/** Tensor @t, of four dimensions, with its channels first. */
modser_sg_tensor *tf_to_planes(const struct tf_layer *x, modser_sg_tensor *t);
/** Input @i with its channels first, as attribute data_format says. */
modser_sg_tensor *tf_planes(const struct tf_layer *x, size_t i);
/** The result of an operator on planes in the layout of the node. */
modser_sg_tensor *tf_unplane(const struct tf_layer *x, modser_sg_tensor *planes);
/** Transpose planes to channels last. */
modser_sg_tensor *tf_to_nhwc(const struct tf_layer *x, modser_sg_tensor *planes);
/** The planes whose channels were moved last to make @t; NULL: @t is not of them. */
modser_sg_tensor *tf_planes_of(const modser_sg_tensor *t);
/** A constant with its @n axes in another order, or a transpose. */
modser_sg_tensor *tf_turned(const struct tf_layer *x, modser_sg_tensor *t,
			    const int64_t *perm, size_t n);

/* Constants and known numbers (value.c, fold.c). */
modser_sg_tensor *tf_constant(struct tf_load *l, const struct msd_build *b,
			      const Tensorflow__TensorProto *p);
/** The bytes of a constant in the file, shared if they are aligned. */
modser_sg_tensor *tf_stored(struct tf_load *l, const struct msd_build *b,
			    const char *dtype, const int64_t *dims, size_t n,
			    struct msd_span bytes, bool has_location);
/** Numbers of value @v as far as they are known; NULL: none are. */
const int64_t *tf_ints(struct tf_load *l, struct tf_value *v, size_t *ret_n);
/** All integers of input @i, at most @max. False with the error of the graph. */
MSD_MUST_CHECK bool tf_known(const struct tf_layer *x, size_t i, int64_t *ret,
			     size_t max, size_t *ret_n);
/** The one integer of input @i. False with the error of the graph. */
MSD_MUST_CHECK bool tf_known_one(const struct tf_layer *x, size_t i, int64_t *ret);
/** 1: the node's output is a constant of known numbers; 0: no; -1: an error. */
int tf_fold(struct tf_layer *x);
/** Attach the numbers that are known of output 0, @v. */
MSD_MUST_CHECK int tf_keep_ints(struct tf_layer *x, struct tf_value *v);

/* Loops and lists (loop.c, old_loop.c, branch.c, scope.c). */
struct tf_value *tf_link_value(const struct tf_frame *f, const struct tf_link *link);
/** The @k-th Enter of the loop that Exit @i leaves. */
MSD_MUST_CHECK bool tf_loop_enter(struct tf_frame *f, size_t i, size_t k,
				  struct tf_link *ret);
/** Read the loop of version 1 that the node, an Exit, leaves. */
MSD_MUST_CHECK int tf_exit_read(struct tf_layer *x);
/** @v of an enclosing scope in @scope. NULL with the error of the load's graph. */
struct tf_value *tf_import(struct tf_load *l, struct tf_scope *scope, const char *name,
			   struct tf_value *v);

/* A loop: while cond(states), states = body(states). */
struct tf_loop {
	size_t n;
	struct tf_value **init;
	/* Evaluate in @scope; -1 with the error of the load's graph. */
	int (*cond)(struct tf_layer *x, void *ctx, struct tf_scope *scope,
		    struct tf_value *const *args, struct tf_value **ret);
	int (*body)(struct tf_layer *x, void *ctx, struct tf_scope *scope,
		    struct tf_value *const *args, struct tf_value **ret);
	void *ctx;
};
/** Build the loop; *@ret has a value for each state. */
MSD_MUST_CHECK int tf_loop_build(struct tf_layer *x, const struct tf_loop *loop,
				 struct tf_value **ret);
/** Build the two branches of a condition. */
MSD_MUST_CHECK int tf_branches_build(struct tf_layer *x, const char *then_function,
				     const char *else_function,
				     struct tf_value *const *args, size_t n,
				     struct tf_value **ret, size_t n_ret);

#endif
