/*
 * Support vector machines of ai.onnx.ml, computed as in LIBSVM.
 *
 * A classifier has a sum for each pair of classes; each sum votes for one class. With
 * prob_a and prob_b a sum becomes the probability of the first class of the pair. An
 * iteration computes the class probabilities from those of all pairs (Wu, Lin and
 * Weng, 2004).
 */
#include "graph/op/ml/ml_vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op/ml/params.h"
#include "runtime/engine/reference/ml/ml_score.h"
#include "runtime/kernel/kernels.h"

struct machine {
	const struct msd_kernel_call *c;
	enum msd_ml_likeness likeness;
	double gamma, coef0, degree;
	const float *vectors, *coefficients, *rho;
	size_t n_vectors, n_features;
	double *row;   /* features */
	double *alike; /* kernel value for each vector */
};

static void machine_finish(struct machine *m)
{
	free(m->row);
	free(m->alike);
}

static msd_err machine_init(struct machine *m, const struct msd_kernel_call *c,
			    struct msd_diag *d)
{
	const struct msd_params_vector p = msd_params_vector(c->node);

	*m = (struct machine){.c = c, .likeness = msd_ml_likeness_of(c->node)};
	if (p.kernel_params.n == 3) {
		m->gamma = (double)p.kernel_params.at[0];
		m->coef0 = (double)p.kernel_params.at[1];
		m->degree = (double)p.kernel_params.at[2];
	}
	m->n_features = (size_t)msd_kernel_in_dims(c, 0)[1];
	m->vectors = p.support_vectors.at;
	m->n_vectors = m->n_features > 0 ? p.support_vectors.n / m->n_features : 0;
	m->coefficients = p.coefficients.at;
	m->rho = p.rho.at;
	m->row = calloc(m->n_features + 1, sizeof(*m->row));
	m->alike = calloc(m->n_vectors + 1, sizeof(*m->alike));
	return m->row != NULL && m->alike != NULL ? MSD_OK : msd_diag_no_memory(d);
}

static double likeness(const struct machine *m, const float *v)
{
	double sum = 0;

	for (size_t i = 0; i < m->n_features; i++) {
		const double x = m->row[i], y = (double)v[i];

		sum += m->likeness == MSD_ML_RBF ? (x - y) * (x - y) : x * y;
	}
	switch (m->likeness) {
	case MSD_ML_POLY:
		return pow(m->gamma * sum + m->coef0, m->degree);
	case MSD_ML_RBF:
		return exp(-m->gamma * sum);
	case MSD_ML_SIGMOID:
		return tanh(m->gamma * sum + m->coef0);
	case MSD_ML_LINEAR:
	case MSD_ML_LIKENESS_COUNT:
		break;
	}
	return sum;
}

static void read_row(struct machine *m, size_t row)
{
	for (size_t i = 0; i < m->n_features; i++)
		m->row[i] = msd_kernel_get(m->c, 0, row * m->n_features + i);
	for (size_t k = 0; k < m->n_vectors; k++)
		m->alike[k] = likeness(m, m->vectors + k * m->n_features);
}

static double regress(const struct machine *m)
{
	double sum = (double)m->rho[0];

	if (m->n_vectors == 0)
		return sum + likeness(m, m->coefficients);
	for (size_t k = 0; k < m->n_vectors; k++)
		sum += (double)m->coefficients[k] * m->alike[k];
	return sum;
}

static msd_err run_regressor(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_vector_regressor p =
		msd_params_vector_regressor(c->node);
	const bool is_one_class = p.one_class != 0;
	struct machine m;
	const msd_err err = machine_init(&m, c, d);

	for (size_t row = 0; err == MSD_OK && row < (size_t)msd_kernel_in_dims(c, 0)[0];
	     row++) {
		read_row(&m, row);
		double y = regress(&m);
		if (is_one_class) {
			y = y > 0 ? 1 : -1;
		} else {
			msd_ml_transform(msd_ml_transform_of(p.post_transform), &y, 1);
		}
		msd_ml_put(c, 0, row, &y, 1);
	}
	machine_finish(&m);
	return err;
}

/* State of a classifier for one row. */
struct vote {
	size_t n_classes, n_pairs;
	const int64_t *each; /* number of vectors per class */
	double *sums;        /* per pair: 0 with 1, 0 with 2, ..., 1 with 2, ... */
	size_t *votes;       /* per class */
	double *pairs;       /* [i, j]: probability of i, given that it is i or j */
	double *q, *qp;      /* state of the iteration */
	double *p;           /* probability per class */
};

static void vote_finish(struct vote *v)
{
	free(v->sums);
	free(v->votes);
	free(v->pairs);
	free(v->q);
	free(v->qp);
	free(v->p);
}

static msd_err vote_init(struct vote *v, const struct msd_kernel_call *c,
			 struct msd_diag *d)
{
	const struct msd_params_vector_classifier p =
		msd_params_vector_classifier(c->node);

	*v = (struct vote){.each = p.vectors_per_class.at, .n_classes = p.labels.n};
	v->n_pairs = v->n_classes * (v->n_classes - 1) / 2;
	v->sums = calloc(v->n_pairs + 2, sizeof(*v->sums));
	v->votes = calloc(v->n_classes, sizeof(*v->votes));
	v->pairs = calloc(v->n_classes * v->n_classes, sizeof(*v->pairs));
	v->q = calloc(v->n_classes * v->n_classes, sizeof(*v->q));
	v->qp = calloc(v->n_classes, sizeof(*v->qp));
	v->p = calloc(v->n_classes, sizeof(*v->p));
	return v->sums != NULL && v->votes != NULL && v->pairs != NULL &&
			       v->q != NULL && v->qp != NULL && v->p != NULL
		       ? MSD_OK
		       : msd_diag_no_memory(d);
}

/* Sum vectors @first .. @first + @n - 1, weighted by row @k of the coefficients. */
static double weigh(const struct machine *m, size_t k, size_t first, size_t n)
{
	double sum = 0;

	for (size_t i = first; i < first + n; i++)
		sum += (double)m->coefficients[k * m->n_vectors + i] * m->alike[i];
	return sum;
}

/* A class has one row of coefficients for each other class. */
static void take_votes(const struct machine *m, struct vote *v)
{
	size_t pair = 0, first_i = 0;

	memset(v->votes, 0, v->n_classes * sizeof(*v->votes));
	for (size_t i = 0; i < v->n_classes; i++) {
		size_t first_j = first_i + (size_t)v->each[i];

		for (size_t j = i + 1; j < v->n_classes; j++, pair++) {
			const double sum =
				weigh(m, j - 1, first_i, (size_t)v->each[i]) +
				weigh(m, i, first_j, (size_t)v->each[j]) +
				(double)m->rho[pair];

			v->sums[pair] = sum;
			v->votes[sum > 0 ? i : j]++;
			first_j += (size_t)v->each[j];
		}
		first_i += (size_t)v->each[i];
	}
}

/* Compute the probabilities of the pairs, none of them exactly 0 or 1. */
static void pair_up(const struct machine *m, struct vote *v)
{
	const double least = 1e-7;
	const float *a = msd_params_vector_classifier(m->c->node).prob_a.at;
	const float *b = msd_params_vector_classifier(m->c->node).prob_b.at;
	size_t pair = 0;

	for (size_t i = 0; i < v->n_classes; i++) {
		for (size_t j = i + 1; j < v->n_classes; j++, pair++) {
			double p = 1 / (1 + exp(v->sums[pair] * (double)a[pair] +
						(double)b[pair]));

			p = p < least ? least : p > 1 - least ? 1 - least : p;
			v->pairs[i * v->n_classes + j] = p;
			v->pairs[j * v->n_classes + i] = 1 - p;
		}
	}
}

static void begin(struct vote *v)
{
	const size_t n = v->n_classes;

	for (size_t t = 0; t < n; t++) {
		v->p[t] = 1.0 / (double)n;
		v->q[t * n + t] = 0;
		for (size_t j = 0; j < n; j++) {
			if (j == t)
				continue;
			const double other = v->pairs[j * n + t];

			v->q[t * n + t] += other * other;
			v->q[t * n + j] = -other * v->pairs[t * n + j];
		}
	}
}

/* Returns the distance from convergence. */
static double look(struct vote *v, double *ret_pqp)
{
	const size_t n = v->n_classes;
	double worst = 0;

	*ret_pqp = 0;
	for (size_t t = 0; t < n; t++) {
		v->qp[t] = 0;
		for (size_t j = 0; j < n; j++)
			v->qp[t] += v->q[t * n + j] * v->p[j];
		*ret_pqp += v->p[t] * v->qp[t];
	}
	for (size_t t = 0; t < n; t++) {
		const double error = fabs(v->qp[t] - *ret_pqp);

		worst = error > worst ? error : worst;
	}
	return worst;
}

static void iterate(struct vote *v)
{
	const size_t n = v->n_classes;
	const size_t turns = n > 100 ? n : 100;
	double pqp;

	begin(v);
	for (size_t turn = 0; turn < turns; turn++) {
		if (look(v, &pqp) < 0.005 / (double)n)
			return;
		for (size_t t = 0; t < n; t++) {
			const double own = v->q[t * n + t];
			const double step = (pqp - v->qp[t]) / own;
			const double by = 1 + step;

			v->p[t] += step;
			pqp = (pqp + step * (step * own + 2 * v->qp[t])) / by / by;
			for (size_t j = 0; j < n; j++) {
				v->qp[j] = (v->qp[j] + step * v->q[t * n + j]) / by;
				v->p[j] /= by;
			}
		}
	}
}

static size_t winner(const struct vote *v)
{
	size_t at = 0;

	for (size_t i = 1; i < v->n_classes; i++)
		at = v->votes[i] > v->votes[at] ? i : at;
	return at;
}

/* Two classes without probabilities have one sum; it selects the first class if it is
 * above 0. */
static void put_row(const struct machine *m, struct vote *v, size_t row)
{
	const struct msd_params_vector_classifier p =
		msd_params_vector_classifier(m->c->node);
	const enum msd_ml_transform how = msd_ml_transform_of(p.post_transform);

	take_votes(m, v);
	msd_ml_put_label(m->c, row, p.labels.at[winner(v)]);
	if (p.prob_a.n > 0) {
		pair_up(m, v);
		iterate(v);
		msd_ml_transform(how, v->p, v->n_classes);
		msd_ml_put(m->c, 1, row, v->p, v->n_classes);
		return;
	}
	const size_t n = v->n_classes == 2 ? 2 : v->n_pairs;
	if (v->n_classes == 2) {
		v->sums[1] = v->sums[0];
		v->sums[0] = -v->sums[0];
	}
	msd_ml_transform(how, v->sums, n);
	msd_ml_put(m->c, 1, row, v->sums, n);
}

static msd_err run_classifier(const struct msd_kernel_call *c, struct msd_diag *d)
{
	struct machine m;
	struct vote v = {0};
	msd_err err = machine_init(&m, c, d);

	if (err == MSD_OK)
		err = vote_init(&v, c, d);
	for (size_t row = 0; err == MSD_OK && row < (size_t)msd_kernel_in_dims(c, 0)[0];
	     row++) {
		read_row(&m, row);
		put_row(&m, &v, row);
	}
	machine_finish(&m);
	vote_finish(&v);
	return err;
}

const struct msd_kernel msd_kernel_vector_regressor = {"SVMRegressor", run_regressor,
						       MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_vector_classifier = {"SVMClassifier", run_classifier,
							MSD_TAKES_NUMBERS};
