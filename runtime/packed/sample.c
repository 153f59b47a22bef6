/*
 * vm.builtin.* that choose a token: sampling from logits or probabilities by a uniform
 * number, and penalties, which change logits in place. The arithmetic is TVM's, in the
 * same types and order, so that the same number chooses the same token. Equal values
 * are taken in the order of their positions. NaN is refused with its position.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "artifact/provides/packed.h"
#include "runtime/packed/args.h"
#include "runtime/packed/descend.h"
#include "runtime/packed/global.h"

static const struct msd_dtype float32 = {MSD_DT_FLOAT, 32, 1};
static const struct msd_dtype int32 = {MSD_DT_INT, 32, 1};

/* The numbers of a tensor. */
struct numbers {
	float *v;
	int64_t n;     /* of its last axis */
	int64_t lead;  /* product of the other axes */
	int64_t first; /* extent of the first axis */
};

static bool compact_of(struct msd_args a, int32_t i, struct msd_dtype dtype,
		       const char *expected, struct msd_dltensor **ret)
{
	if (!msd_args_host_compact_tensor(a, i, ret))
		return false;
	if (msd_dtype_eq((*ret)->dtype, dtype) && (*ret)->ndim > 0)
		return true;
	(void)msd_abi_raise("TypeError", "argument %d: expected %s", (int)i, expected);
	return false;
}

static bool numbers_at(struct msd_args a, int32_t i, struct numbers *ret)
{
	struct msd_dltensor *t;

	if (!compact_of(a, i, float32, "a float32 tensor of one or more axes", &t))
		return false;
	*ret = (struct numbers){.v = msd_dltensor_at(t),
				.n = t->shape[t->ndim - 1],
				.lead = 1,
				.first = t->shape[0]};
	for (int32_t j = 0; j < t->ndim - 1; j++)
		ret->lead *= t->shape[j];
	if (ret->n > 0 && ret->lead > 0)
		return true;
	(void)msd_abi_raise("ValueError", "argument %d: the tensor is empty", (int)i);
	return false;
}

static bool has_no_nan(int32_t i, const float *v, int64_t n)
{
	for (int64_t j = 0; j < n; j++) {
		if (isnan(v[j])) {
			(void)msd_abi_raise("ValueError",
					    "argument %d: NaN at position %" PRId64,
					    (int)i, j);
			return false;
		}
	}
	return true;
}

/* One distribution. */
static bool distribution_at(struct msd_args a, int32_t i, struct numbers *ret)
{
	if (!numbers_at(a, i, ret) || !has_no_nan(i, ret->v, ret->n))
		return false;
	if (ret->lead == 1 && ret->n <= INT32_MAX)
		return true;
	(void)msd_abi_raise(
		"ValueError",
		"argument %d: expected the extent 1 in all axes but the last", (int)i);
	return false;
}

/* A uniform number, or another parameter. */
static bool real_at(struct msd_args a, int32_t i, double *ret)
{
	if (!msd_args_float(a, i, ret))
		return false;
	if (!isnan(*ret))
		return true;
	(void)msd_abi_raise("ValueError", "argument %d is NaN", (int)i);
	return false;
}

/* The numbers that are at least @least, the largest first. NULL: short memory. */
static struct msd_candidate *candidates_new(const struct numbers *x, float least,
					    int64_t *ret_n)
{
	struct msd_candidate *all;
	int64_t n = 0;

	for (int64_t i = 0; i < x->n; i++)
		n += x->v[i] >= least;
	all = calloc((size_t)n + 1, sizeof(*all));
	*ret_n = 0;
	for (int64_t i = 0; all != NULL && i < x->n; i++) {
		if (x->v[i] >= least)
			all[(*ret_n)++] = (struct msd_candidate){x->v[i], (int32_t)i};
	}
	if (all != NULL)
		msd_descend(all, (size_t)n);
	return all;
}

/* The first candidate whose cumulated probability exceeds @uniform, or -1. */
static int64_t choose(const struct msd_candidate *all, int64_t n, float total,
		      double uniform)
{
	for (int64_t i = 0; i < n; i++) {
		if (uniform < all[i].p / total)
			return all[i].token;
	}
	return -1;
}

static int64_t sample_logits(struct msd_candidate *all, int64_t n, double temperature,
			     double top_p, double uniform)
{
	const float scale = (float)(1.0F / temperature);
	const float max = all[0].p;
	float sum = 0;
	float cumulated = 0;
	float total = 0;

	for (int64_t i = 0; i < n; i++) {
		all[i].p = expf((all[i].p - max) * scale);
		sum += all[i].p;
	}
	for (int64_t i = 0; i < n; i++) {
		const float p = all[i].p / sum;

		if (cumulated < top_p)
			total += p;
		cumulated += p;
		all[i].p = cumulated;
	}
	const int64_t token = choose(all, n, total, uniform);
	return token < 0 && uniform <= all[0].p ? all[0].token : token;
}

static int return_token(int64_t token, struct msd_any *ret)
{
	if (token < 0) {
		return msd_abi_raise("ValueError",
				     "the distribution does not choose a token");
	}
	*ret = msd_int(token);
	return 0;
}

/* (logits, temperature, top p, uniform number) -> token */
static int top_p_from_logits(void *self, const struct msd_any *args, int32_t n,
			     struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_candidate *all;
	struct numbers x;
	double temperature;
	double top_p;
	double uniform;
	int64_t n_all;

	(void)self;
	if (!msd_args_count(a, 4, 4) || !distribution_at(a, 0, &x) ||
	    !real_at(a, 1, &temperature) || !real_at(a, 2, &top_p) ||
	    !real_at(a, 3, &uniform))
		return -1;
	all = candidates_new(&x, -INFINITY, &n_all);
	if (all == NULL)
		return msd_abi_no_memory();
	const int64_t token =
		temperature < 1e-6F
			? all[0].token
			: sample_logits(all, n_all, temperature, top_p, uniform);
	free(all);
	return return_token(token, ret);
}

/* Among the candidates, if they are enough for @top_p; -1: they are not. */
static int64_t sample_sorted(struct msd_candidate *all, int64_t n, double top_p,
			     double uniform, bool is_all)
{
	float cumulated = 0;
	float total = 0;

	if (n == 0)
		return -1;
	if (uniform < all[0].p / top_p)
		return all[0].token;
	for (int64_t i = 0; i < n && cumulated < top_p; i++) {
		total += all[i].p;
		cumulated += all[i].p;
		all[i].p = cumulated;
	}
	if (cumulated < top_p && !is_all)
		return -1;
	const int64_t token = choose(all, n, total, uniform);
	return token < 0 ? all[n - 1].token : token;
}

/* (probabilities, top p, uniform number) -> token. First only those that matter. */
static int top_p_from_prob(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct numbers x;
	double top_p;
	double uniform;
	int64_t token = -1;

	(void)self;
	if (!msd_args_count(a, 3, 3) || !distribution_at(a, 0, &x) ||
	    !real_at(a, 1, &top_p) || !real_at(a, 2, &uniform))
		return -1;
	for (int turn = top_p < 1 ? 0 : 1; token < 0 && turn < 2; turn++) {
		const float least = turn == 0 ? (float)(top_p / 1024) : 0;
		int64_t n_all;
		struct msd_candidate *all = candidates_new(&x, least, &n_all);

		if (all == NULL)
			return msd_abi_no_memory();
		token = sample_sorted(all, n_all, top_p, uniform, least == 0);
		free(all);
	}
	return return_token(token, ret);
}

/* (probabilities[batch, vocabulary], uniform numbers) -> int64[batch, 1] */
static int multinomial(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	const struct msd_dtype int64 = {MSD_DT_INT, 64, 1};
	struct msd_args a = {args, n};
	struct numbers x;
	struct numbers u;

	(void)self;
	if (!msd_args_count(a, 2, 2) || !numbers_at(a, 0, &x) ||
	    !numbers_at(a, 1, &u) || !has_no_nan(0, x.v, x.lead * x.n) ||
	    !has_no_nan(1, u.v, u.lead * u.n))
		return -1;
	if (x.first > x.lead || x.first > u.lead * u.n) {
		return msd_abi_raise("ValueError",
				     "expected a uniform number for each of %" PRId64
				     " rows",
				     x.first);
	}
	struct msd_tensor *t = msd_tensor_new(int64, (const int64_t[]){x.first, 1}, 2);
	if (t == NULL)
		return msd_return_obj(NULL, ret);
	for (int64_t i = 0; i < x.first; i++) {
		float cumulated = 0;
		int64_t j = 0;

		for (; j < x.n; j++) {
			cumulated += x.v[i * x.n + j];
			if (cumulated > u.v[i])
				break;
		}
		((int64_t *)t->dl.data)[i] = j < x.n ? j : x.n - 1;
	}
	return msd_return_obj(&t->obj, ret);
}

/* The int32 numbers of a tensor's last axis. */
static bool ints_at(struct msd_args a, int32_t i, const int32_t **ret, int64_t *ret_n)
{
	struct msd_dltensor *t;
	uint64_t n;

	if (!compact_of(a, i, int32, "an int32 tensor of one or more axes", &t))
		return false;
	*ret = msd_dltensor_at(t);
	*ret_n = t->shape[t->ndim - 1];
	if (msd_shape_elements(t->shape, (size_t)t->ndim, &n) && (uint64_t)*ret_n <= n)
		return true;
	*ret_n = 0;
	return true;
}

/* Logits and the tokens whose logits change. */
static bool penalty_open(struct msd_args a, struct numbers *x, const int32_t **ret_ids,
			 int64_t *ret_n)
{
	if (!numbers_at(a, 0, x) || !ints_at(a, 1, ret_ids, ret_n))
		return false;
	for (int64_t i = 0; i < *ret_n; i++) {
		const int32_t id = (*ret_ids)[i];

		if (id < 0 || id >= x->n) {
			(void)msd_abi_raise("ValueError",
					    "argument 1: token %d at position %" PRId64
					    " is not in the vocabulary of %" PRId64,
					    (int)id, i, x->n);
			return false;
		}
		if (isnan(x->v[id])) {
			(void)msd_abi_raise("ValueError",
					    "argument 0: NaN at position %d", (int)id);
			return false;
		}
	}
	return true;
}

/* (logits, tokens, penalty) */
static int repetition_penalty(void *self, const struct msd_any *args, int32_t n,
			      struct msd_any *ret)
{
	struct msd_args a = {args, n};
	const int32_t *ids;
	struct numbers x;
	double penalty;
	int64_t n_ids;

	(void)self, (void)ret;
	if (!msd_args_count(a, 3, 3) || !real_at(a, 2, &penalty) ||
	    !penalty_open(a, &x, &ids, &n_ids))
		return -1;
	for (int64_t i = 0; i < n_ids; i++) {
		float *v = &x.v[ids[i]];

		*v = (float)(*v <= 0 ? *v * penalty : *v / penalty);
	}
	return 0;
}

/* (logits, tokens, how often each came, presence penalty, frequency penalty) */
static int presence_penalty(void *self, const struct msd_any *args, int32_t n,
			    struct msd_any *ret)
{
	struct msd_args a = {args, n};
	const int32_t *ids;
	const int32_t *counts;
	struct numbers x;
	double presence;
	double frequency;
	int64_t n_ids;
	int64_t n_counts;

	(void)self, (void)ret;
	if (!msd_args_count(a, 5, 5) || !real_at(a, 3, &presence) ||
	    !real_at(a, 4, &frequency) || !penalty_open(a, &x, &ids, &n_ids) ||
	    !ints_at(a, 2, &counts, &n_counts))
		return -1;
	if (n_counts < n_ids) {
		return msd_abi_raise("ValueError",
				     "argument 2: %" PRId64 " numbers for %" PRId64
				     " tokens",
				     n_counts, n_ids);
	}
	for (int64_t i = 0; i < n_ids; i++) {
		float *v = &x.v[ids[i]];

		*v = (float)(*v - (counts[i] * frequency + presence));
	}
	return 0;
}

/* (logits, temperature): the logits of the first row become probabilities. As in TVM
 * the maximum is not below the smallest positive number. */
static int softmax(void *self, const struct msd_any *args, int32_t n,
		   struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct numbers x;
	double temperature;
	float max = FLT_MIN;
	double sum = 0;

	(void)self, (void)ret;
	if (!msd_args_count(a, 2, 2) || !numbers_at(a, 0, &x) ||
	    !has_no_nan(0, x.v, x.n) || !real_at(a, 1, &temperature))
		return -1;
	const float scale = (float)(1.0F / temperature);
	for (int64_t i = 0; i < x.n; i++) {
		const float v = x.v[i] * scale;
		const float before = max;

		max = max < v ? v : max;
		sum = sum * expf(before - max) + expf(v - max);
	}
	for (int64_t i = 0; i < x.n; i++)
		x.v[i] = (float)(expf(x.v[i] * scale - max) / sum);
	return 0;
}

const struct msd_global msd_globals_sample[] = MSD_GLOBAL_TABLE(MSD_PACKED_SAMPLE);
