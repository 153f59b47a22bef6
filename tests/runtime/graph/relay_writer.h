#ifndef MSD_TEST_RELAY_WRITER_H
#define MSD_TEST_RELAY_WRITER_H
/*
 * Relay VM executables for tests, written from the format document without any code of
 * the project's readers. One program: constants, packed names, functions, in this
 * order.
 */
#include "tests/artifact/byte_writer.h"

/* Operations, from the format document. */
enum {
	MOVE,
	RET,
	INVOKE,
	INVOKE_CLOSURE,
	INVOKE_PACKED,
	ALLOC_TENSOR,
	ALLOC_TENSOR_REG,
	ALLOC_ADT,
	ALLOC_CLOSURE,
	GET_FIELD,
	IF,
	LOAD_CONST,
	GOTO,
	GET_TAG,
	LOAD_CONSTI,
	FATAL,
	ALLOC_STORAGE,
	SHAPE_OF,
	RESHAPE,
	DEVICE_COPY,
	KILL
};

struct relay_code { /* of the function that is written */
	struct bw b;
	unsigned n;
};

/* Head up to the constants; @minor: 8, 9 or 14. */
void relay_begin(struct bw *b, int minor, size_t n_consts);
/** The same with virtual devices of these @types (0.9 on); the last is the host. */
void relay_begin_on(struct bw *b, int minor, const int *types, size_t n_types,
		    size_t n_consts);
void relay_const_i64(struct bw *b, int minor, int64_t v);
/** A matrix of float32. */
void relay_const_f32(struct bw *b, int minor, const int64_t shape[2], const float *v);
/** Devices of @n constants, packed functions (NULL ends), number of functions. */
void relay_middle(struct bw *b, size_t n_consts, const char *const *packed,
		  size_t n_funcs);
/** The same; @devices has each constant's, as the file numbers them. */
void relay_middle_on(struct bw *b, size_t n_consts, const int *devices,
		     const char *const *packed, size_t n_funcs);
/** One instruction: operation and operands, with its hash. */
void relay_ins(struct relay_code *c, int64_t op, size_t n, const int64_t *fields);
#define INS(c, op, ...)                                                                \
	relay_ins(c, op, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t),     \
		  (const int64_t[]){__VA_ARGS__})
/** A function made of @code, which is freed. @params: names, NULL ends. */
void relay_func(struct bw *b, const char *name, unsigned n_regs,
		const char *const *params, struct relay_code *code);
/** The same; @device is the parameters'. */
void relay_func_on(struct bw *b, const char *name, unsigned n_regs,
		   const char *const *params, int device, struct relay_code *code);
/** The payload: @image as a string. Frees it. */
struct bw relay_payload(struct bw *image);

#endif
