#ifndef MSD_RUNTIME_ENGINE_NATIVE_KERNELS_H
#define MSD_RUNTIME_ENGINE_NATIVE_KERNELS_H
/*
 * The kernels of the native engine: pure functions on float32 arrays. The caller gives
 * extents, strides, packed weights and scratch memory, and divides the work into parts
 * for threads. Each element is computed in one fixed order, so results do not depend
 * on the division, nor on the level, except for base, which has no fused
 * multiply-add.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msd_native_integer_kernels;

enum msd_native_unary {
	MSD_NATIVE_RELU,
	MSD_NATIVE_LEAKY,
	MSD_NATIVE_CLIP,
	MSD_NATIVE_ABS,
	MSD_NATIVE_NEG,
	MSD_NATIVE_SQRT,
	MSD_NATIVE_RECIPROCAL,
	MSD_NATIVE_EXP,
	MSD_NATIVE_LOG,
	MSD_NATIVE_SIGMOID,
	MSD_NATIVE_TANH,
	MSD_NATIVE_ERF,
	MSD_NATIVE_GELU,
	MSD_NATIVE_GELU_TANH,
	MSD_NATIVE_HARD_SIGMOID,
	MSD_NATIVE_HARD_SWISH,
	MSD_NATIVE_ELU,
	MSD_NATIVE_SOFTPLUS,
	MSD_NATIVE_SILU, /* x * sigmoid(x) */
	MSD_NATIVE_CUBE,
	MSD_NATIVE_COPY
};

/* Applied to a complete sum: bounds, then a function. */
struct msd_native_finish {
	bool is_bounded;
	float low, high; /* a value that is not a number stays */
	bool has_function;
	enum msd_native_unary function;
	float a, b; /* its parameters */
};

/* Fill panels with columns @n0 .. @n0 + @nc - 1 of rows @k0 .. @k0 + @kc - 1: @kc
 * rows of a panel's width for each panel. Columns beyond are 0. */
struct msd_native_product;
typedef void msd_native_bring(const struct msd_native_product *p, size_t k0, size_t kc,
			      size_t n0, size_t nc, float *ret);

/* y = finish(start + a b + residual), @m rows and @n columns. */
struct msd_native_product {
	size_t m, n, k;
	const float *a; /* element (m, k) at m * a_row + k * a_step */
	size_t a_row, a_step;
	const float *packed_a; /* by pack_a(), instead of a; or NULL */
	const float *packed_b; /* by pack_b(), or NULL: bring */
	size_t packed_k;       /* rows of packed_b, if there are more than k; or 0 */
	msd_native_bring *bring;
	const float *b; /* for a bring: element (k, n) at k * b_row + n * b_step */
	size_t b_row, b_step;
	const struct msd_native_window *window; /* for bring_window */
	float *y;
	size_t y_row;
	const float *start;    /* or NULL: 0 */
	size_t start_row;      /* a step per row */
	bool start_columns;    /* an element per column; else one for the row */
	const float *residual; /* shaped as y, or NULL */
	struct msd_native_finish finish;
};

#define MSD_NATIVE_TAPS 128u /* the most of a depthwise kernel */
#define MSD_NATIVE_ROOM 64u  /* floats that vectors may read behind a plane */

/* The windows of a convolution, on planes that pad_plane() made: rows by their phases,
 * then columns by theirs, so that neighbours of the output are neighbours in memory. */
struct msd_native_window {
	size_t out[3], kernel[3], stride[3], dilation[3];
	size_t in[3], before[3];
	size_t rows[2]; /* padded extents of depth and height */
	size_t lines;   /* rows of one phase */
	size_t columns; /* of one phase */
	size_t plane;   /* elements of a padded plane */
	float fill;     /* of the padding */
	size_t n_taps;  /* elements of a window */
	/* Where they lie in a padded plane, from the first one on. */
	size_t taps[MSD_NATIVE_TAPS];
	const float *x; /* padded planes, or the input itself if is_direct */
	bool is_direct; /* a kernel of one element without strides and padding */
};

#define MSD_NATIVE_WINOGRAD 16u       /* values of a tile */
#define MSD_NATIVE_WINOGRAD_TILES 96u /* the most that are computed at once */
#define MSD_NATIVE_TAME 1e15f         /* the largest element that is not wild */

/* A convolution with kernels of 3 x 3 and strides of 1, in tiles of 2 x 2 outputs. */
struct msd_native_winograd {
	size_t rows, columns; /* tiles */
	size_t out[2];
	size_t row;   /* floats of a row of even columns, and of one of odd columns */
	size_t phase; /* floats of all even columns of the even rows: a plane has
		       * these, the odd columns, then both of the odd rows */
};

/* Tiles of one channel of the output; value v of tile i is at sums[v * size + i], with
 * room up to the end of a panel. */
struct msd_native_winograd_out {
	const float *sums;
	size_t size;
	size_t tile, n; /* the first one, and how many */
	float start;
	const float *residual; /* planes of the channel; NULL: none */
	struct msd_native_finish finish;
	float *y;
};

/* A transposed convolution, after its products: outputs @from .. @to - 1 of each axis
 * are summed. Products of tap t with input element i lie at t * pitch + i - skipped. */
struct msd_native_spread {
	size_t in[3], out[3], kernel[3], stride[3], dilation[3], before[3];
	size_t from[3], to[3];
	size_t pitch, skipped;
};

/* Floats for @n sums of a phase: whole vectors of any level. */
#define MSD_NATIVE_SPREAD_ROOM(n) (((n) + 15) / 16 * 16)

/* Output i of a resized row is the sum of weight[i * n + k] * x[at[i * n + k]]. */
struct msd_native_taps {
	size_t n;
	const int32_t *at;
	const float *weight;
	bool is_moved;   /* one tap of weight 1 each */
	bool is_doubled; /* output i is element i / 2 */
};

enum msd_native_binary {
	MSD_NATIVE_ADD,
	MSD_NATIVE_SUB,
	MSD_NATIVE_MUL,
	MSD_NATIVE_DIV,
	MSD_NATIVE_MAX,
	MSD_NATIVE_MIN,
	MSD_NATIVE_SQUARED_DIFFERENCE,
	MSD_NATIVE_SLOPE /* a, times b where it is negative */
};

/* Which reduction a row gets. */
enum msd_native_reduce {
	MSD_NATIVE_SUM,
	MSD_NATIVE_SQUARES,
	MSD_NATIVE_HIGHEST,
	MSD_NATIVE_LOWEST,
	MSD_NATIVE_ABS_SUM
};

/* Normalization of a row: (x - mean) / sqrt(variance + eps) * scale + shift. */
struct msd_native_norm {
	size_t n;
	float eps;
	const float *scale, *shift; /* NULL: 1 and 0 */
};

/* Scores of attention before their softmax: they are scaled and bounded by a cap; flags
 * select those that stay; then a mask is added. */
struct msd_native_scores {
	float scale;
	float cap;            /* 0: none */
	const uint8_t *flags; /* NULL: none */
	bool flags_hide;      /* a score with a flag becomes fill, else one without */
	float fill;
	const float *mask; /* NULL: none */
	bool mask_hides;   /* its -infinity hides any score; else it is added */
	/* 1, or 0: one for all scores. */
	size_t flags_step, mask_step;
};

struct msd_native_kernels {
	const char *name;
	size_t lanes, rows, panel;
	const size_t *product_scratch; /* floats that a part of a product needs */
	size_t (*pack_a_floats)(size_t m, size_t k);
	size_t (*pack_b_floats)(size_t k, size_t n);
	void (*pack_a)(const float *a, size_t row, size_t step, size_t m, size_t k,
		       const float *factors, float *ret);
	void (*pack_b)(const float *b, size_t row, size_t step, size_t k, size_t n,
		       float *ret);
	/* Rows @m0 .. @m1 - 1, columns @n0 .. @n1 - 1; @m0 is a multiple of rows, @n0
	 * of panel. */
	void (*product)(const struct msd_native_product *p, size_t m0, size_t m1,
			size_t n0, size_t n1, float *scratch);
	/* The same of windows, which are read in place: lines @first .. @end - 1 of all
	 * outputs. A line has at least as many outputs as a vector. */
	void (*convolve)(const struct msd_native_product *p, size_t m0, size_t m1,
			 size_t first, size_t end);
	msd_native_bring *bring_matrix;
	msd_native_bring *bring_window;
	/* @is_padded: @ret has the padding already, by a call before. */
	void (*pad_plane)(const struct msd_native_window *w, const float *x,
			  bool is_padded, float *ret);
	void (*depthwise)(const struct msd_native_window *w, const float *x,
			  const float *weights, float start, const float *residual,
			  struct msd_native_finish finish, float *y);
	/* The same of a plane without padding. False: the level has no way for such
	 * windows. */
	bool (*direct)(const struct msd_native_window *w, const float *x,
		       const float *weights, float start, const float *residual,
		       struct msd_native_finish finish, float *y);
	/* The values of @n tiles of all planes, and @n tiles of a plane of the output.
	 */
	void (*winograd_bring)(const struct msd_native_winograd *w, const float *planes,
			       size_t n_planes, size_t tile, size_t n, size_t size,
			       float *ret);
	void (*winograd_put)(const struct msd_native_winograd *w,
			     const struct msd_native_winograd_out *o);
	/* False: an element is not a number, or beyond MSD_NATIVE_TAME. */
	bool (*is_tame)(const float *x, size_t n);
	/* One channel of the output, @y its whole plane. @rows has room for the
	 * kernel's rows of all depths, @room for the sums of each phase of a row. 16
	 * floats behind @x may be read.
	 */
	void (*spread)(const struct msd_native_spread *s, const float *x, float start,
		       const float **rows, float *room, float *y);
	void (*resample)(const struct msd_native_taps *t, const float *x, size_t n,
			 float *y);
	/* A weighted sum of @n_rows rows. Row 0 may be @y. */
	void (*weigh)(const float *const *rows, const float *weights, size_t n_rows,
		      size_t n, float *y);
	/* y[i] is the product of @a with row i of @n_rows, which lie @row apart; and
	 * the sum of these rows, times @a[i] each. */
	void (*dots)(const float *a, const float *rows, size_t row, size_t n_rows,
		     size_t n, float *y);
	void (*mix)(const float *a, const float *rows, size_t row, size_t n_rows,
		    size_t n, float *y);
	void (*unary)(enum msd_native_unary op, const float *x, size_t n, float a,
		      float b, float *y);
	/* A step is 1 or 0. */
	void (*binary)(enum msd_native_binary op, const float *a, size_t a_step,
		       const float *b, size_t b_step, size_t n, float *y);
	void (*softmax)(const float *x, size_t n, bool is_log, float *y);
	/* Shares of scores, in place. False: the largest is -infinity. */
	bool (*soften)(const struct msd_native_scores *s, size_t n, float *x);
	void (*norm)(const struct msd_native_norm *p, const float *x, float *y,
		     float *ret_mean, float *ret_inverse);
	double (*reduce)(enum msd_native_reduce kind, const float *x, size_t n);
	/* The same of each column. */
	void (*reduce_columns)(enum msd_native_reduce kind, const float *x, size_t n,
			       size_t inner, float *y);
	/* y = x * factor + addend */
	void (*affine)(const float *x, size_t n, float factor, float addend, float *y);
	/* Windows of one padded plane with room behind it: the largest elements or,
	 * with @counts, sums divided by one count per position. */
	void (*pool)(const struct msd_native_window *w, const float *x,
		     const float *counts, float *y);
	/* @sums: those of the gates i, o, f and c, @n each. */
	void (*lstm)(const float *sums, size_t n, float *cell, float *state);
	/* state = (1 - update) * tanh(sums) + update * state */
	void (*gru)(const float *update, const float *sums, size_t n, float *state);
	/* float16, or bfloat16, to float32 and back, rounded to the nearest. */
	void (*widen)(bool is_bfloat, const uint16_t *x, size_t n, float *y);
	void (*narrow)(bool is_bfloat, const float *x, size_t n, uint16_t *y);
	const struct msd_native_integer_kernels *integers; /* integers.h */
};

#endif
