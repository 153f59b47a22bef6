#ifndef MSD_RUNTIME_ENGINE_NATIVE_INTEGERS_H
#define MSD_RUNTIME_ENGINE_NATIVE_INTEGERS_H
/*
 * The integer kernels of the native engine. A product multiplies units and adds in 32
 * bits, so sums are equal on every level. A unit is as large as a float, and the
 * kernels that pack and bring floats move units, too. There are two kinds:
 *   pairs  two neighbours in k, without their zero points, in 16 bits each;
 *   quads  four neighbours in k, in bytes: signed in one operand, without their zero
 *          points, which must fit; unsigned in the other one, with their zero point.
 *          The caller subtracts it, times the sum of the signed ones.
 */
#include <stdint.h>

#include "runtime/engine/native/kernels.h"

/* The most terms of a sum of products of 9-bit integers that fits into 31 bits. */
#define MSD_NATIVE_TERMS 33000u

/* Integers of 8 bits. The value of byte b is (b ^ flip) - zero; for signed bytes flip
 * is 128, and zero is 128 more than the zero point. */
struct msd_native_bytes {
	const uint8_t *p;
	uint8_t flip;
	int32_t zero;
	float scale;
};

/* Rows of two operands. A row with a step of 0 has one element, which stands for all.
 */
struct msd_native_pair {
	struct msd_native_bytes a, b;
	size_t a_step, b_step; /* 0 or 1 */
};

/* Elements become bytes: rounded, limited, and plus zero. The bytes are of a signed
 * type if low + zero is negative. */
struct msd_native_rounding {
	float low, high; /* limits before zero is added */
	int32_t zero;
};

/* How the sums of a row or column become elements: (sum + start) * scale + offset,
 * limited. Arrays by column have room for a panel behind them. */
struct msd_native_sums {
	bool by_column;       /* the arrays have an element per column, else per row */
	bool is_float;        /* elements are float32, else bytes */
	const int32_t *start; /* NULL: 0 */
	const float *scales;  /* NULL: the elements are the int32 sums */
	const float *offsets; /* NULL: 0 */
	struct msd_native_rounding rounding; /* of floats only the limits */
};

/* y = finish(a b), @m rows and @n columns, @k units deep. */
struct msd_native_integers {
	size_t m, n, k;
	const float *packed_a;                  /* units by pack_a() */
	const float *packed_b;                  /* units by pack_b(), or NULL: window */
	const struct msd_native_window *window; /* of planes of units */
	bool is_a_signed;                       /* of quads: a, else b */
	struct msd_native_sums sums;
	void *y;
	size_t y_row; /* elements */
};

enum msd_native_quantized {
	MSD_NATIVE_QUANTIZED_ADD,
	MSD_NATIVE_QUANTIZED_SUB,
	MSD_NATIVE_QUANTIZED_MUL
};

/* One kind of units. A byte is (b ^ flip) - zero. */
struct msd_native_units {
	size_t width; /* neighbours in k */
	/* The padded plane of units of @n channels, at most width, which follow each
	 * other at @x. Quads are unsigned. */
	void (*plane)(const struct msd_native_window *w,
		      const struct msd_native_bytes *x, size_t n, float *ret);
	/* Units of @n neighbours; the last one is filled with 0. */
	void (*row)(const struct msd_native_bytes *x, size_t n, float *ret);
	/* Units of @n_rows rows of @n bytes, which lie @row apart; missing rows are 0.
	 * @zeros: one per column, or NULL. */
	void (*rows)(const struct msd_native_bytes *x, size_t n_rows, size_t row,
		     const int32_t *zeros, size_t n, float *ret);
	/* Rows @m0 .. @m1 - 1, columns @n0 .. @n1 - 1; @m0 is a multiple of rows, @n0
	 * of panel. */
	void (*product)(const struct msd_native_integers *p, size_t m0, size_t m1,
			size_t n0, size_t n1, float *scratch);
};

struct msd_native_integer_kernels {
	const struct msd_native_units *pairs;
	const struct msd_native_units *quads; /* NULL: the level has no products */
	/* Floats of scratch that a part of a product @k units deep needs. */
	size_t (*scratch)(size_t k);
	/* A depthwise convolution of a plane without depth, NULL: the level has none. A
	 * channel has so many units of weights: each row of the kernel, four columns a
	 * unit. 0: it cannot have such a kernel. */
	size_t (*depthwise_units)(const struct msd_native_window *w);
	size_t (*depthwise_scratch)(const struct msd_native_window *w); /* floats */
	void (*depthwise)(const struct msd_native_window *w,
			  const struct msd_native_bytes *x, const int32_t *weights,
			  const struct msd_native_sums *s, size_t channel,
			  float *scratch, void *y);
	/* A row of sums that floats represent exactly. */
	void (*put)(const struct msd_native_sums *s, const float *sums, size_t row,
		    size_t n, void *y);
	void (*quantize)(const float *x, size_t n, float scale,
			 struct msd_native_rounding r, uint8_t *y);
	void (*dequantize)(const struct msd_native_bytes *x, size_t n, float *y);
	/* Bytes of the result, divided by @scale. */
	void (*binary)(enum msd_native_quantized op, const struct msd_native_pair *in,
		       size_t n, float scale, struct msd_native_rounding r, uint8_t *y);
	void (*table)(const uint8_t *x, size_t n, const uint8_t *table, uint8_t *y);
	/* Widen *@least and *@most to the elements that are numbers. */
	void (*range)(const float *x, size_t n, float *least, float *most);
};

#endif
