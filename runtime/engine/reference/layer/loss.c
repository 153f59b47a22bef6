/* NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. */
#include "graph/op/layer/loss.h"

#include <math.h>
#include <string.h>

#include "graph/op/layer/params.h"
#include "runtime/kernel/kernels.h"
#include "runtime/value/element.h"

struct scores {
	const struct msd_kernel_call *c;
	size_t classes;
	size_t inner;  /* positions after the class axis */
	bool has_logs; /* the second output is requested */
};

/* Value to subtract from each score of classification @k to get logarithms. */
static double log_of_sum(const struct scores *s, size_t k)
{
	const size_t first = k / s->inner * s->classes * s->inner + k % s->inner;
	double most = -INFINITY;
	double sum = 0;

	for (size_t i = 0; i < s->classes; i++)
		most = fmax(most, msd_kernel_get(s->c, 0, first + i * s->inner));
	for (size_t i = 0; i < s->classes; i++)
		sum += exp(msd_kernel_get(s->c, 0, first + i * s->inner) - most);
	const double off = most + log(sum);
	for (size_t i = 0; s->has_logs && i < s->classes; i++) {
		const size_t at = first + i * s->inner;

		msd_kernel_put(s->c, 1, at, msd_kernel_get(s->c, 0, at) - off);
	}
	return off;
}

/* The loss of classification @k, and its weight: 0 if its label is ignored. */
static msd_err loss_of(const struct scores *s, size_t k, double off, double *ret,
		       double *ret_weight, struct msd_diag *d)
{
	const int64_t own =
		msd_number_load(msd_kernel_in_dtype(s->c, 1), s->c->in[1], (int64_t)k)
			.i;
	int64_t label;

	*ret = 0;
	*ret_weight = 0;
	if (own == msd_params_loss(s->c->node).ignore_index)
		return MSD_OK;
	const msd_err err =
		msd_kernel_index(s->c, 1, (int64_t)k, (int64_t)s->classes, &label, d);
	if (err != MSD_OK)
		return err;
	const size_t at =
		(k / s->inner * s->classes + (size_t)label) * s->inner + k % s->inner;
	*ret_weight =
		msd_kernel_has(s->c, 2) ? msd_kernel_get(s->c, 2, (size_t)label) : 1;
	*ret = (off - msd_kernel_get(s->c, 0, at)) * *ret_weight;
	return MSD_OK;
}

static msd_err run(const struct msd_kernel_call *c, bool is_softmax, struct msd_diag *d)
{
	const struct scores s = {
		.c = c,
		.classes = (size_t)msd_kernel_in_dims(c, 0)[1],
		.inner = msd_kernel_inner(msd_kernel_in_dims(c, 0),
					  msd_kernel_in_ndim(c, 0), 1),
		.has_logs =
			modser_sg_node_output_count(c->node) > 1 && c->out[1] != NULL,
	};
	const char *how = msd_params_loss(c->node).reduction;
	double sum = 0;
	double weights = 0;

	for (size_t k = 0; k < msd_kernel_in_elements(c, 1); k++) {
		double loss;
		double weight;
		const msd_err err = loss_of(&s, k, is_softmax ? log_of_sum(&s, k) : 0,
					    &loss, &weight, d);

		if (err != MSD_OK)
			return err;
		if (strcmp(how, "none") == 0)
			msd_kernel_put(c, 0, k, loss);
		sum += loss;
		weights += weight;
	}
	if (strcmp(how, "none") != 0)
		msd_kernel_put(c, 0, 0, strcmp(how, "sum") == 0 ? sum : sum / weights);
	return MSD_OK;
}

static msd_err run_nll(const struct msd_kernel_call *c, struct msd_diag *d)
{
	return run(c, false, d);
}

static msd_err run_softmax(const struct msd_kernel_call *c, struct msd_diag *d)
{
	return run(c, true, d);
}

const struct msd_kernel msd_kernel_nll_loss = {"NegativeLogLikelihoodLoss", run_nll,
					       MSD_TAKES_FLOATS};
const struct msd_kernel msd_kernel_softmax_loss = {"SoftmaxCrossEntropyLoss",
						   run_softmax, MSD_TAKES_FLOATS};
