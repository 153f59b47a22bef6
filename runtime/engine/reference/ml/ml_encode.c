/* Elementwise transformations of features: Binarizer, Imputer, LabelEncoder and
 * OneHotEncoder. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "graph/op/ml/params.h"
#include "runtime/kernel/kernels.h"
#include "runtime/value/element.h"

static bool is_float(const struct msd_kernel_call *c)
{
	return msd_number_kind(msd_kernel_in_dtype(c, 0)) == MSD_N_FLOAT;
}

static int64_t integer_at(const struct msd_kernel_call *c, size_t i)
{
	return msd_number_load(msd_kernel_in_dtype(c, 0), c->in[0], (int64_t)i).i;
}

/* NaN equals NaN here. */
static bool is_equal(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static msd_err run_binarizer(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const double threshold = (double)msd_params_binarizer(c->node).threshold;

	(void)d;
	for (size_t i = 0; i < msd_kernel_out_elements(c, 0); i++)
		msd_kernel_put(c, 0, i, msd_kernel_get(c, 0, i) > threshold ? 1 : 0);
	return MSD_OK;
}

static void impute_floats(const struct msd_kernel_call *c, size_t features)
{
	const double replaced = (double)msd_params_imputer(c->node).replaced_float;
	const struct msd_floats by = msd_params_imputer(c->node).floats;

	for (size_t i = 0; i < msd_kernel_out_elements(c, 0); i++) {
		const double x = msd_kernel_get(c, 0, i);
		const size_t k = by.n == 1 ? 0 : i % features;

		msd_kernel_put(c, 0, i, is_equal(x, replaced) ? (double)by.at[k] : x);
	}
}

static void impute_integers(const struct msd_kernel_call *c, size_t features)
{
	const struct msd_dtype dtype = msd_kernel_out_dtype(c, 0);
	const int64_t replaced = msd_params_imputer(c->node).replaced_int;
	const struct msd_ints by = msd_params_imputer(c->node).ints;

	for (size_t i = 0; i < msd_kernel_out_elements(c, 0); i++) {
		const int64_t x = integer_at(c, i);
		const size_t k = by.n == 1 ? 0 : i % features;

		msd_number_store(dtype, c->out[0], (int64_t)i,
				 x == replaced ? by.at[k] : x);
	}
}

static msd_err run_imputer(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t features = (size_t)msd_kernel_in_dims(c, 0)[ndim - 1];

	(void)d;
	if (is_float(c)) {
		impute_floats(c, features);
	} else {
		impute_integers(c, features);
	}
	return MSD_OK;
}

/* The index of element @i among the keys; the last of equal keys. @n if there is
 * none. */
static size_t find_key(const struct msd_kernel_call *c, size_t i, size_t *ret_n)
{
	const struct msd_params_label_encoder p = msd_params_label_encoder(c->node);

	*ret_n = is_float(c) ? p.keys_floats.n : p.keys_int64s.n;
	for (size_t k = *ret_n; k > 0; k--) {
		if (is_float(c) ? is_equal((double)p.keys_floats.at[k - 1],
					   msd_kernel_get(c, 0, i))
				: p.keys_int64s.at[k - 1] == integer_at(c, i))
			return k - 1;
	}
	return *ret_n;
}

static msd_err run_label(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_label_encoder p = msd_params_label_encoder(c->node);
	size_t n_keys;

	(void)d;
	for (size_t i = 0; i < msd_kernel_out_elements(c, 0); i++) {
		const size_t k = find_key(c, i, &n_keys);

		if (p.values_floats.n > 0) {
			msd_kernel_out(c, 0)[i] =
				k < n_keys ? p.values_floats.at[k] : p.default_float;
		} else {
			((int64_t *)c->out[0])[i] =
				k < n_keys ? p.values_int64s.at[k] : p.default_int64;
		}
	}
	return MSD_OK;
}

/* Floats are truncated. */
static msd_err run_hot(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_hot_encoder p = msd_params_hot_encoder(c->node);
	const size_t n = p.categories.n;
	float *y = c->out[0];

	for (size_t i = 0; i < msd_kernel_in_elements(c, 0); i++) {
		const double x = is_float(c) ? trunc(msd_kernel_get(c, 0, i))
					     : (double)integer_at(c, i);
		bool is_known = p.zeros != 0;

		for (size_t k = 0; k < n; k++) {
			const bool is_it = (double)p.categories.at[k] == x;

			y[i * n + k] = is_it ? 1 : 0;
			is_known = is_known || is_it;
		}
		if (!is_known) {
			return msd_diag_set(d, MSD_BAD_ARGUMENT,
					    "%g is none of its categories", x);
		}
	}
	return MSD_OK;
}

#define KERNEL(id, op, run)                                                            \
	const struct msd_kernel msd_kernel_##id = {op, run, MSD_TAKES_NUMBERS}

KERNEL(binarizer, "Binarizer", run_binarizer);
KERNEL(imputer, "Imputer", run_imputer);
KERNEL(label_encoder, "LabelEncoder", run_label);
KERNEL(hot_encoder, "OneHotEncoder", run_hot);
