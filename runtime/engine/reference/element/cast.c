/* Cast and CastLike: conversion of elements to another type. */
#include <math.h>
#include <string.h>

#include "graph/op/element/params.h"
#include "proto/small.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/value/element.h"

/* One element of any type. */
struct cell {
	bool is_float;
	int64_t i; /* for integers, the bits */
	double real;
};

static struct cell read_small(struct msd_dtype dtype, const void *p, size_t i)
{
	const double v = msd_small_load(dtype, p, i);
	const bool is_float = !msd_small_is_integer(dtype);

	return (struct cell){is_float, is_float ? 0 : (int64_t)v, v};
}

static struct cell read_cell(struct msd_dtype dtype, const void *p, size_t i)
{
	const enum msd_number_kind kind = msd_number_kind(dtype);

	if (kind == MSD_N_NONE)
		return read_small(dtype, p, i);
	const union msd_number v = msd_number_load(dtype, p, (int64_t)i);
	return kind == MSD_N_FLOAT
		       ? (struct cell){true, 0, v.f}
		       : (struct cell){false, v.i,
				       kind == MSD_N_UINT64 ? (double)(uint64_t)v.i
							    : (double)v.i};
}

static void write_cell(struct msd_dtype dtype, void *p, size_t i, const struct cell *v,
		       bool saturates)
{
	if (msd_small_is_integer(dtype)) {
		const double whole = v->is_float && !isnan(v->real) ? v->real : 0;

		msd_small_store_bits(
			dtype, p, i,
			(uint64_t)(v->is_float ? msd_row_whole(MSD_N_INT, whole)
					       : v->i));
	} else if (msd_small_is(dtype)) {
		msd_small_store(dtype, p, i, v->real, saturates);
	} else if (msd_dtype_is_bool(dtype)) {
		msd_number_store(dtype, p, (int64_t)i,
				 v->is_float ? v->real != 0 : v->i != 0);
	} else if (msd_number_kind(dtype) == MSD_N_FLOAT) {
		msd_number_store_float(dtype, p, (int64_t)i, v->real);
	} else if (v->is_float && isnan(v->real)) {
		msd_number_store(dtype, p, (int64_t)i, 0);
	} else {
		msd_number_store(
			dtype, p, (int64_t)i,
			v->is_float ? msd_row_whole(msd_number_kind(dtype), v->real)
				    : v->i);
	}
}

/*
 * Numbers by blocks: a float is truncated to an integer, NaN to 0. False: one of the
 * types has no rows.
 */
static bool cast_rows(struct msd_dtype from, const void *x, struct msd_dtype to,
		      void *y, size_t count)
{
	const bool is_float = msd_number_kind(from) == MSD_N_FLOAT;
	const bool is_truth = msd_dtype_is_bool(to);
	const bool is_whole =
		!is_float && !is_truth && msd_number_kind(to) != MSD_N_FLOAT;
	int64_t whole[MSD_ROW_BLOCK];
	double v[MSD_ROW_BLOCK];

	if (msd_number_kind(from) == MSD_N_NONE || msd_number_kind(to) == MSD_N_NONE)
		return false;
	for (size_t at = 0, n; at < count; at += n) {
		n = count - at < MSD_ROW_BLOCK ? count - at : MSD_ROW_BLOCK;
		if (is_whole) {
			msd_row_load_whole(from, x, (int64_t)at, 1, n, whole);
			msd_row_store_whole(to, y, at, n, whole);
			continue;
		}
		msd_row_load(from, x, (int64_t)at, 1, n, v);
		for (size_t i = 0; is_truth && i < n; i++)
			v[i] = v[i] != 0 ? 1 : 0;
		for (size_t i = 0; msd_number_kind(to) != MSD_N_FLOAT && i < n; i++)
			v[i] = isnan(v[i]) ? 0 : v[i];
		msd_row_store(to, y, at, n, v);
	}
	return true;
}

/* Round to a power of two as @how says, if it is not up. */
static double power_of(double v, const char *how)
{
	int exponent;

	if (strcmp(how, "up") == 0 || v == 0 || !isfinite(v))
		return v;
	const double part = frexp(fabs(v), &exponent);
	/* The part is in [0.5, 1). */
	return ldexp(1, strcmp(how, "nearest") == 0 && part >= 0.75 ? exponent
								    : exponent - 1);
}

static msd_err cast(const struct msd_kernel_call *c, bool saturates, const char *how,
		    struct msd_diag *d)
{
	const struct msd_dtype from = msd_kernel_in_dtype(c, 0);
	const struct msd_dtype to = msd_kernel_out_dtype(c, 0);
	const size_t n = msd_kernel_out_elements(c, 0);

	if (msd_number_kind(to) == MSD_N_NONE && !msd_small_is(to)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "no kernel makes such elements");
	}
	if (to.bits < 8) /* the last byte may have room left */
		memset(c->out[0], 0, (n * to.bits + 7) / 8);
	if (cast_rows(from, c->in[0], to, c->out[0], n))
		return MSD_OK;
	for (size_t i = 0; i < n; i++) {
		struct cell v = read_cell(from, c->in[0], i);

		if (to.code == MSD_DT_F8_E8M0FNU)
			v.real = power_of(v.real, how);
		write_cell(to, c->out[0], i, &v, saturates);
	}
	return MSD_OK;
}

static msd_err run_cast(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_cast p = msd_params_cast(c->node);

	return cast(c, p.saturate != 0, p.round_mode, d);
}

static msd_err run_cast_like(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_cast_like p = msd_params_cast_like(c->node);

	return cast(c, p.saturate != 0, p.round_mode, d);
}

const struct msd_kernel msd_kernel_cast = {"Cast", run_cast, MSD_TAKES_SMALL};
const struct msd_kernel msd_kernel_cast_like = {"CastLike", run_cast_like,
						MSD_TAKES_SMALL};
