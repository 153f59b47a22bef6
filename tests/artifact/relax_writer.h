#ifndef MSD_TESTS_RELAX_WRITER_H
#define MSD_TESTS_RELAX_WRITER_H
/* VM images, written from the format documents. */
#include <stdbool.h>

#include "tests/artifact/byte_writer.h"

enum rw_tags { RW_CLASSIC, RW_021, RW_022 };

struct rw_func {
	uint32_t kind;
	const char *name;
	int64_t start, end, n_args, n_regs;
	const char *params[4];
};

/* A small program that tests change before it is written. */
struct rw_image {
	bool is_v2;
	const char *version;
	enum rw_tags tags;
	struct rw_func funcs[8];
	size_t n_funcs;
	int64_t scope_of; /* V2: give this constant a memory scope; -1: none */
	int64_t offsets[16];
	size_t n_instrs;
	int64_t words[64];
	size_t n_words;
};

#define RW_VOID ((int64_t)1 << 54)
#define RW_VM (RW_VOID + 1)
#define RW_IMM(v) (((int64_t)1 << 56) | ((int64_t)(v) & (((int64_t)1 << 56) - 1)))
#define RW_CONST(i) (((int64_t)2 << 56) | (i))
#define RW_FUNC(i) (((int64_t)3 << 56) | (i))

/**
 * functions: 0 packed add, 1 main(x, y) with 4 registers, 2 helper(x), 3 compiled(x)
 * constants: 0 tensor, 1 shape [2, 3], 2 "ctx", 3 int -4, 4 float 2.5, 5 dtype float32
 *     0 call add(r0, c0, -7, vm, &helper) -> r2     words 0..8
 *     1 if r2 else +2                               words 9..11
 *     2 goto +2                                     words 12..13
 *     3 call helper(r2) -> void                     words 14..18
 *     4 ret r2                                      words 19..20
 *     5 ret r0                                      words 21..22
 */
struct rw_image rw_program(enum rw_tags tags);
/** Append the image alone, without the length that inline layouts put before it. */
void rw_write(struct bw *b, const struct rw_image *img);

#endif
