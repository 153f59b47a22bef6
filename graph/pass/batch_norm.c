/*
 * Fuse batch norm into convolution: if nothing else reads the convolution's output,
 * the convolution multiplies and adds for each channel of its sums itself
 * (ScaledConvolution).
 *
 * Weights stay unchanged: scaled ones would be a copy in each worker. Factors and
 * addends are float64, so the results differ from those of two nodes only by the
 * rounding between them.
 */
#include <math.h>
#include <stdlib.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/op/layer/params.h"
#include "graph/op/window/params.h"
#include "graph/pass/links.h"

#define MADE "ScaledConvolution"

enum { DATA, SCALE, SHIFT, MEAN, VARIANCE, INPUTS }; /* of BatchNormalization */
enum { WEIGHTS = 1, MOST_INPUTS = 3 };               /* of Convolution */

static bool is_single(const modser_sg_tensor *t)
{
	return t != NULL && t->type == MODSER_TENSOR_CONST && t->data != NULL &&
	       t->dtype.code == MSD_DT_FLOAT && t->dtype.bits == 32;
}

static double at(const modser_sg_node *norm, size_t input, size_t k)
{
	return (double)((const float *)norm->inputs[input]->data)[k];
}

/* The number of channels on which both agree; 0: no fusion. */
static size_t channels_of(const modser_sg_node *conv, const modser_sg_node *norm)
{
	const modser_sg_tensor *weights =
		conv->n_inputs > WEIGHTS ? conv->inputs[WEIGHTS] : NULL;

	if (!is_single(weights) || weights->ndim < 1 || norm->n_inputs != INPUTS ||
	    msd_params_convolution(conv).activation != -1 ||
	    msd_params_batch_normalization(norm).training_mode != 0)
		return 0;
	const size_t n = (size_t)weights->dims[0];
	for (size_t i = SCALE; i < INPUTS; i++) {
		if (!is_single(norm->inputs[i]) ||
		    norm->inputs[i]->bytes != n * sizeof(float))
			return 0;
	}
	return n;
}

/* Allocate factors, then addends, with malloc(). *@ret is NULL if one is not a
 * number: the two nodes stay. */
static int make_terms(const modser_sg_node *norm, size_t n, double **ret)
{
	const double rescale =
		(double)msd_params_batch_normalization(norm).rescale_factor;
	const double by = rescale != 0 ? 1 / rescale : 0;
	const double eps = (double)msd_params_batch_normalization(norm).eps;
	double *terms = calloc(2 * n, sizeof(*terms));

	*ret = NULL;
	if (terms == NULL)
		return msd_sg_no_memory(norm->graph);
	for (size_t k = 0; k < n; k++) {
		terms[k] = at(norm, SCALE, k) / sqrt(at(norm, VARIANCE, k) * by + eps);
		terms[n + k] = at(norm, SHIFT, k) - at(norm, MEAN, k) * by * terms[k];
		if (!isfinite(terms[k]) || !isfinite(terms[n + k])) {
			free(terms);
			return 0;
		}
	}
	*ret = terms;
	return 0;
}

/* Turn it into the convolution with one more input. */
static int rename_op(modser_sg_node *conv)
{
	modser_sg_op *op = modser_sg_op_create(conv->graph, MADE);

	if (op == NULL || msd_sg_copy_params(op, conv->op) != 0)
		return -1;
	msd_sg_node_take_op(conv, op);
	return 0;
}

static int join(modser_sg_node *conv, modser_sg_node *norm, size_t n, double *terms)
{
	const int64_t dims[] = {2, (int64_t)n};
	const struct msd_dtype f64 = {MSD_DT_FLOAT, 64, 1};
	modser_sg_tensor *t =
		msd_sg_add_const(conv->graph, norm->name, f64, dims, 2, terms);

	if (t == NULL) {
		free(terms);
		return -1;
	}
	for (size_t i = conv->n_inputs; i < MOST_INPUTS; i++) {
		if (modser_sg_node_add_input(conv, NULL) < 0)
			return -1;
	}
	if (modser_sg_node_add_input(conv, t) < 0 || rename_op(conv) != 0)
		return -1;
	modser_sg_tensor *y = norm->outputs[0];
	msd_sg_merge(norm, conv);
	msd_sg_give_output(conv, 0, y);
	return 0;
}

static bool may_make(const struct msd_pass_job *job, const modser_sg_node *node)
{
	return job->host.may_make == NULL || job->host.may_make(node, MADE);
}

static int visit(const struct msd_pass_job *job, const struct msd_links *links,
		 modser_sg_node *norm, size_t *ret_n)
{
	const modser_sg_tensor *between = norm->inputs[DATA];
	modser_sg_node *conv = between != NULL ? between->producer : NULL;
	double *terms;

	if (!msd_links_is_op(conv, "Convolution") ||
	    links->readers[between->index].n != 1)
		return 0;
	const size_t n = channels_of(conv, norm);
	if (n == 0 || !may_make(job, conv) || !may_make(job, norm))
		return 0;
	if (make_terms(norm, n, &terms) != 0)
		return -1;
	if (terms == NULL)
		return 0;
	++*ret_n;
	return join(conv, norm, n, terms);
}

static int run(const struct msd_pass_job *job, size_t *ret_n)
{
	modser_graph *g = job->g;
	const size_t n_nodes = g->n_nodes; /* new ones are constants */
	struct msd_links links;
	int result = msd_links_init(&links, job);

	for (size_t i = 0; result == 0 && i < n_nodes; i++) {
		if (msd_links_is_op(g->nodes[i], "BatchNormalization"))
			result = visit(job, &links, g->nodes[i], ret_n);
	}
	msd_links_finish(&links);
	return result;
}

const struct msd_pass msd_pass_batch_norm = {
	"batch norms put into convolutions", {MADE}, run};
