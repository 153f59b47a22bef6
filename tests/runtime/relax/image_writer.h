#ifndef MSD_TEST_IMAGE_WRITER_H
#define MSD_TEST_IMAGE_WRITER_H
/*
 * Writes Relax VM images from the format document, independently of the reader.
 * Functions are written one after the other: begin, instructions, end. Memory must not
 * run out.
 */
#include "proto/base/bytes.h"
#include "proto/dtype.h"

#define VOID_REG ((int64_t)1 << 54)
#define VM_REG (((int64_t)1 << 54) + 1)

/* Which release's image: its magic and the numbers of its constants' kinds. */
enum image_era {
	IMAGE_023, /* second magic: 0.23 and later */
	IMAGE_022,
	IMAGE_021,
	IMAGE_CLASSIC, /* 0.16 - 0.20 */
};

struct image {
	enum image_era era; /* set before the first constant */
	struct msd_buf funcs;
	struct msd_buf consts;
	struct msd_buf words;
	struct msd_buf offsets;
	uint64_t n_funcs;
	uint64_t n_consts;
	uint64_t n_instrs;
	uint64_t n_words;
	size_t end_at; /* where the open function's end instruction stands in funcs */
};

/* Argument words: register, immediate, constant, function. */
int64_t arg_reg(int64_t reg);
int64_t arg_imm(int64_t v);
int64_t arg_const(int64_t i);
int64_t arg_func(int64_t i);

/* All return the new entry's index. @params: names separated by commas, "" for none. */
int64_t image_packed(struct image *img, const char *name);
int64_t image_vmtir(struct image *img, const char *name, int64_t n_args);
int64_t image_begin(struct image *img, const char *name, int64_t n_args,
		    const char *params, int64_t n_regs);
void image_end(struct image *img);
int64_t image_const_int(struct image *img, int64_t v);
int64_t image_const_str(struct image *img, const char *text);
int64_t image_const_dtype(struct image *img, struct msd_dtype t);
int64_t image_const_shape(struct image *img, const int64_t *dim, uint64_t n);
int64_t image_const_f32(struct image *img, const int64_t *dim, uint32_t ndim,
			const float *data, uint64_t n);

/* Instructions. image_call() takes @n argument words. */
void image_call(struct image *img, int64_t dst, int64_t func, int n, ...);
void image_ret(struct image *img, int64_t reg);
void image_goto(struct image *img, int64_t offset);
void image_if(struct image *img, int64_t cond, int64_t false_offset);

/** The whole image; the caller owns the buffer. @img is emptied. */
struct msd_buf image_finish(struct image *img);

#endif
