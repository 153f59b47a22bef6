#ifndef MSD_TFLITE_LAYER_H
#define MSD_TFLITE_LAYER_H
/*
 * One operator of a TFLite model while it is read: its options, its inputs, its
 * outputs.
 *
 * Operators compute on values: the numbers that quantized tensors stand for, in
 * float32, and other tensors as they are. read.c dequantizes inputs and quantizes
 * outputs. Tensors keep the layout of the file, channels last; operators on windows
 * read and make planes (channels first) between two transposes, of which those that
 * meet cancel each other.
 */
#include "graph/modser_graph.h"
#include "graph/serializer/build/build.h"
#include "graph/serializer/tflite/flat.h"

/* A constant with its axes in another order is made once for each order. */
enum tflite_turn {
	TFLITE_TURN_OIHW, /* [O, H, W, I] to [O, I, H, W] */
	TFLITE_TURN_IOHW, /* [O, H, W, I] to [I, O, H, W] */
	TFLITE_TURN_MATRIX,
	TFLITE_N_TURNS
};

struct tflite_tensor {
	char *name;
	uint8_t type; /* of TFLite */
	struct flat_vector shape;
	struct flat_vector open;   /* the same with -1 for open extents; may be empty */
	struct flat_vector scales; /* empty: not quantized */
	struct flat_vector zeros;
	int32_t axis; /* for several scales: their axis */
	bool is_variable;
	bool is_constant;
	struct msd_span data;    /* of a constant */
	modser_sg_tensor *raw;   /* as the file has it; NULL: nothing made it yet */
	modser_sg_tensor *value; /* in float32, if quantized */
	modser_sg_tensor *planes;
	modser_sg_tensor *turned[TFLITE_N_TURNS];
};

struct tflite_layer {
	struct msd_build b;
	struct flat *f;
	struct flat_table options;
	struct tflite_tensor *tensors; /* all of the model */
	size_t n_tensors;
	struct flat_vector in; /* indices; -1: left out */
	struct flat_vector out;
	const struct tflite_row *row;
};

/* How a builtin operator is read. */
struct tflite_row {
	int32_t code;
	const char *name; /* of TFLite */
	unsigned min_in, max_in;
	/* Returns the value of the only output, or NULL with the error of the graph. */
	modser_sg_tensor *(*one)(const struct tflite_layer *x);
	/* Sets the values of all outputs, instead. */
	int (*many)(const struct tflite_layer *x, modser_sg_tensor **ret);
	const char *op; /* for functions of several rows */
	int64_t type;
};
#define TFLITE_MANY 0xffffu

/* Tables of rows, each ended by a row without a name. */
extern const struct tflite_row tflite_rows_element[];
extern const struct tflite_row tflite_rows_window[];
extern const struct tflite_row tflite_rows_move[];
extern const struct tflite_row tflite_rows_slice[];
extern const struct tflite_row tflite_rows_reduce[];
extern const struct tflite_row tflite_rows_detect[];
/** Row @i of all; NULL if there are fewer. */
const struct tflite_row *tflite_row_at(size_t i);

/** The name of builtin operator @code; NULL: none is known. */
const char *tflite_builtin_name(int32_t code);

/** Record why the operator cannot be read. Returns NULL. */
modser_sg_tensor *tflite_fail(const struct tflite_layer *x, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** True if input @i is there. */
bool tflite_has(const struct tflite_layer *x, size_t i);
/** Dimensions of input @i, which is there; 0 if the file does not have them. */
size_t tflite_ndim(const struct tflite_layer *x, size_t i);
/** Extent @axis of input @i; -1 if it is open. */
int64_t tflite_extent(const struct tflite_layer *x, size_t i, size_t axis);
/** The value of input @i; NULL with the error of the graph. */
modser_sg_tensor *tflite_value(const struct tflite_layer *x, size_t i);
/** Input @i, of four dimensions, with its channels first. */
modser_sg_tensor *tflite_planes(const struct tflite_layer *x, size_t i);
/** Weights at input @i with their axes in another order. */
modser_sg_tensor *tflite_turned(const struct tflite_layer *x, size_t i,
				enum tflite_turn turn);
/**
 * The constant input @i as an operand of planes, if its elements stay in their order:
 * one element, one for each channel, or four extents. NULL: it is no such constant.
 */
modser_sg_tensor *tflite_constant_planes(const struct tflite_layer *x, size_t i);
/** Transpose planes back. */
modser_sg_tensor *tflite_unplane(const struct msd_build *b, modser_sg_tensor *planes);
/** The planes that tflite_unplane() got to make @t; NULL: @t is not of them. */
modser_sg_tensor *tflite_planes_of(const modser_sg_tensor *t);
/** Axis @axis of input @i; a negative one counts from the end. */
MSD_MUST_CHECK bool tflite_axis(const struct tflite_layer *x, size_t i, int64_t axis,
				size_t *ret);
/**
 * The integers of the constant input @i, at most @max. False with the error of the
 * graph: it is no constant, or has more.
 */
MSD_MUST_CHECK bool tflite_ints(const struct tflite_layer *x, size_t i, int64_t *ret,
				size_t max, size_t *ret_n);
/** True if input @i is a constant. */
bool tflite_is_constant(const struct tflite_layer *x, size_t i);
/** The element type of output @k, as numpy calls it. */
const char *tflite_out_dtype(const struct tflite_layer *x, size_t k);
/** @t with the element type @dtype. */
modser_sg_tensor *tflite_cast(const struct tflite_layer *x, modser_sg_tensor *t,
			      const char *dtype);
/** Apply the fused activation that field @i of the options has. */
modser_sg_tensor *tflite_activate(const struct tflite_layer *x, modser_sg_tensor *t,
				  unsigned i);
/** Limit @t to a range. */
modser_sg_tensor *tflite_clip(const struct tflite_layer *x, modser_sg_tensor *t,
			      float min, float max);

/** Element types of TFLite by their numbers; NULL: none that can be read. */
const char *tflite_dtype(uint8_t type);

/* Constants and quantized numbers (value.c). */
/** Make the constant of the file that @t is. */
modser_sg_tensor *tflite_constant(const struct tflite_layer *x,
				  struct tflite_tensor *t);
/** The numbers that the quantized tensor @t stands for. */
modser_sg_tensor *tflite_dequantize(const struct tflite_layer *x,
				    struct tflite_tensor *t);
/** @value in the quantized form that @t has. */
modser_sg_tensor *tflite_quantize(const struct tflite_layer *x,
				  const struct tflite_tensor *t,
				  modser_sg_tensor *value);
/** True if the numbers of @t stand for others. */
bool tflite_is_quantized(const struct tflite_tensor *t);

#endif
