#ifndef MSD_TEST_RELAY_WRITER_H
#define MSD_TEST_RELAY_WRITER_H
/*
 * Relay VM executables for tests, written from the format document without any code of
 * the project's readers. One program: constants, packed names, functions, in this
 * order.
 */
#include "tests/artifact/byte_writer.h"

struct relay_code { /* of the function that is written */
	struct bw b;
	unsigned n;
};

/* Head up to the constants; @minor: 8, 9 or 14. */
void relay_begin(struct bw *b, int minor, size_t n_consts);
void relay_const_i64(struct bw *b, int minor, int64_t v);
/** Devices of @n constants, packed functions (NULL ends), number of functions. */
void relay_middle(struct bw *b, size_t n_consts, const char *const *packed,
		  size_t n_funcs);
/** One instruction: operation and operands, with its hash. */
void relay_ins(struct relay_code *c, int64_t op, size_t n, const int64_t *fields);
#define INS(c, op, ...)                                                                \
	relay_ins(c, op, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t),     \
		  (const int64_t[]){__VA_ARGS__})
/** A function made of @code, which is freed. @params: names, NULL ends. */
void relay_func(struct bw *b, const char *name, unsigned n_regs,
		const char *const *params, struct relay_code *code);
/** The payload: @image as a string. Frees it. */
struct bw relay_payload(struct bw *image);

#endif
