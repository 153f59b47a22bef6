#ifndef MSD_RUNTIME_ENGINE_NATIVE_ATTEND_H
#define MSD_RUNTIME_ENGINE_NATIVE_ATTEND_H
/*
 * Attention of a stack of heads: softmax(queries x keys) x values. Blocks of queries
 * are computed one after the other, so that no matrix of all scores exists.
 */
#include "proto/base/diag.h"
#include "proto/dtype.h"
#include "runtime/engine/native/kernels.h"
#include "runtime/kernel/walk.h"

/* A matrix of head 0: element (row, column) at row * row_step + column * step. */
struct msd_native_matrix {
	const float *p;
	size_t row, step;
};

/* The operands of the walk over heads. */
enum { MSD_ATTEND_Q, MSD_ATTEND_K, MSD_ATTEND_V, MSD_ATTEND_Y };

/* The keys that a query sees, besides the mask. */
struct msd_native_sight {
	bool is_limited; /* else it sees all */
	bool is_causal;
	int64_t left, right; /* keys around the query; -1: all */
	int64_t past;        /* place of query 0 among the keys */
	int64_t mask_keys;   /* keys that the mask has; the others are hidden */
	const void *lengths; /* keys of each batch entry; NULL: all */
	struct msd_dtype lengths_dtype;
	size_t per_length; /* heads of a batch entry */
};

struct msd_native_attention {
	size_t queries, keys, size, v_size;
	struct msd_native_matrix q, k, v; /* rows: queries, keys, keys */
	float *y;
	size_t y_row;
	struct msd_walk heads;           /* where the others lie, in elements */
	struct msd_walk masks;           /* the same of their masks, then flags */
	struct msd_native_scores scores; /* masks of query 0 */
	size_t mask_row, flags_row;      /* elements between queries */
	/* A hidden key has no influence, also if its value is infinite; a query that
	 * sees no key gets zeros. Else a hidden key has the share 0, as in a product.
	 */
	bool hides;
	bool is_safe; /* a row that is not a number gets shares of 0 */
	struct msd_native_sight sight;
};

/** Compute all heads. */
msd_err msd_native_attend(const struct msd_native_attention *a, struct msd_diag *d);

#endif
