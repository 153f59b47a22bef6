/*
 * TreeEnsemble of ai.onnx.ml 5.
 *
 * Normal path: all nodes are checked once; then each row descends each tree from its
 * root, and the leaf adds its weight to the score of its target. Failures: a node
 * points outside of the lists, or nodes form a cycle.
 */
#include "graph/op/ml/ml_ensemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op/ml/params.h"
#include "runtime/engine/reference/ml/ml_score.h"
#include "runtime/kernel/kernels.h"

struct ensemble {
	const struct msd_kernel_call *c;
	size_t n, n_leaves, n_roots, n_targets, n_features;
	const int64_t *roots, *features, *missing; /* missing: NULL, none */
	const int64_t *next[2];                    /* by the answer: no, yes */
	const int64_t *is_leaf[2];
	const int64_t *targets;
	size_t *sets; /* by node: first member of its set */
};

static msd_err bad(size_t node, const char *what, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "node %zu: %s", node, what);
}

static size_t mode_of(const struct ensemble *e, size_t node)
{
	return (size_t)msd_kernel_get(e->c, MSD_ENSEMBLE_MODES, node);
}

/* Find the end of the set that begins at @*at, and the begin of the next one. */
static bool take_set(const struct ensemble *e, size_t *at)
{
	const size_t n = msd_kernel_has(e->c, MSD_ENSEMBLE_MEMBERS)
				 ? msd_kernel_in_elements(e->c, MSD_ENSEMBLE_MEMBERS)
				 : 0;

	while (*at < n && !isnan(msd_kernel_get(e->c, MSD_ENSEMBLE_MEMBERS, *at)))
		++*at;
	return (*at)++ < n;
}

static msd_err check_node(const struct ensemble *e, size_t node, size_t *members,
			  struct msd_diag *d)
{
	const size_t mode = mode_of(e, node);

	if (mode >= MSD_ENSEMBLE_MODE_COUNT)
		return bad(node, "its mode is not known", d);
	if (e->features[node] < 0 || (uint64_t)e->features[node] >= e->n_features)
		return bad(node, "it looks at a feature that there is not", d);
	for (size_t k = 0; k < 2; k++) {
		const size_t n = e->is_leaf[k][node] != 0 ? e->n_leaves : e->n;

		if (e->next[k][node] < 0 || (uint64_t)e->next[k][node] >= n)
			return bad(node, "it points to a node that is not there", d);
	}
	e->sets[node] = *members;
	return mode != MSD_ENSEMBLE_MEMBER || take_set(e, members)
		       ? MSD_OK
		       : bad(node, "its set of members is missing", d);
}

static msd_err check(const struct ensemble *e, struct msd_diag *d)
{
	size_t members = 0;
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < e->n; i++)
		err = check_node(e, i, &members, d);
	for (size_t i = 0; err == MSD_OK && i < e->n_roots; i++) {
		if (e->roots[i] < 0 || (uint64_t)e->roots[i] >= e->n)
			err = bad(i, "the root of that tree is not there", d);
	}
	for (size_t i = 0; err == MSD_OK && i < e->n_leaves; i++) {
		if (e->targets[i] < 0 || (uint64_t)e->targets[i] >= e->n_targets)
			err = bad(i, "the leaf of that number is of no target", d);
	}
	return err;
}

static bool is_member(const struct ensemble *e, size_t node, double x)
{
	for (size_t i = e->sets[node];; i++) {
		const double v = msd_kernel_get(e->c, MSD_ENSEMBLE_MEMBERS, i);

		if (isnan(v) || v == x)
			return v == x;
	}
}

static bool is_yes(const struct ensemble *e, size_t node, double x)
{
	const double split = msd_kernel_get(e->c, MSD_ENSEMBLE_SPLITS, node);

	if (isnan(x) && e->missing != NULL && e->missing[node] != 0)
		return true;
	switch (mode_of(e, node)) {
	case MSD_ENSEMBLE_LEQ:
		return x <= split;
	case MSD_ENSEMBLE_LT:
		return x < split;
	case MSD_ENSEMBLE_GTE:
		return x >= split;
	case MSD_ENSEMBLE_GT:
		return x > split;
	case MSD_ENSEMBLE_EQ:
		return x == split;
	case MSD_ENSEMBLE_NEQ:
		return x != split;
	default:
		return is_member(e, node, x);
	}
}

/* The leaf that row @row reaches from @node; n_leaves: a cycle. */
static size_t leaf_of(const struct ensemble *e, size_t row, size_t node)
{
	for (size_t steps = 0; steps < e->n; steps++) {
		const size_t feature = (size_t)e->features[node];
		const double x = msd_kernel_get(e->c, 0, row * e->n_features + feature);
		const size_t k = is_yes(e, node, x) ? 1 : 0;

		if (e->is_leaf[k][node] != 0)
			return (size_t)e->next[k][node];
		node = (size_t)e->next[k][node];
	}
	return e->n_leaves;
}

/* By ONNX's numbers. */
enum aggregate { AVERAGE, SUM, MIN, MAX };

static double join(int64_t how, double score, double w, bool is_first)
{
	if (is_first || (how == MIN && w < score) || (how == MAX && w > score))
		return w;
	return how == MIN || how == MAX ? score : score + w;
}

static msd_err run_row(const struct ensemble *e, size_t row, double *scores, bool *has,
		       struct msd_diag *d)
{
	const struct msd_params_tree_ensemble p = msd_params_tree_ensemble(e->c->node);
	static const enum msd_ml_transform transforms[] = {
		MSD_ML_NONE, MSD_ML_SOFTMAX, MSD_ML_LOGISTIC, MSD_ML_SOFTMAX_ZERO};
	const int64_t how = p.aggregate_function;

	memset(scores, 0, e->n_targets * sizeof(*scores));
	memset(has, 0, e->n_targets * sizeof(*has));
	for (size_t i = 0; i < e->n_roots; i++) {
		const size_t leaf = leaf_of(e, row, (size_t)e->roots[i]);

		if (leaf == e->n_leaves) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "the nodes of tree %zu go in a circle", i);
		}
		const size_t target = (size_t)e->targets[leaf];
		scores[target] = join(how, scores[target],
				      msd_kernel_get(e->c, MSD_ENSEMBLE_WEIGHTS, leaf),
				      !has[target]);
		has[target] = true;
	}
	for (size_t i = 0; how == AVERAGE && i < e->n_targets; i++)
		scores[i] /= (double)e->n_roots;
	msd_ml_transform(transforms[p.post_transform], scores, e->n_targets);
	for (size_t i = 0; i < e->n_targets; i++)
		msd_kernel_put(e->c, 0, row * e->n_targets + i, scores[i]);
	return MSD_OK;
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_tree_ensemble p = msd_params_tree_ensemble(c->node);
	struct ensemble e = {.c = c,
			     .n_targets = (size_t)p.n_targets,
			     .n_features = (size_t)msd_kernel_in_dims(c, 0)[1],
			     .roots = p.tree_roots.at,
			     .n_roots = p.tree_roots.n,
			     .targets = p.leaf_targetids.at,
			     .n_leaves = p.leaf_targetids.n,
			     .next = {p.nodes_falsenodeids.at, p.nodes_truenodeids.at},
			     .is_leaf = {p.nodes_falseleafs.at, p.nodes_trueleafs.at},
			     .missing = p.nodes_missing_value_tracks_true.n > 0
						? p.nodes_missing_value_tracks_true.at
						: NULL,
			     .features = p.nodes_featureids.at,
			     .n = p.nodes_featureids.n};
	e.sets = calloc(e.n + 1, sizeof(*e.sets));
	double *scores = calloc(e.n_targets + 1, sizeof(*scores));
	bool *has = calloc(e.n_targets + 1, sizeof(*has));
	const bool has_memory = e.sets != NULL && scores != NULL && has != NULL;
	msd_err err = has_memory ? check(&e, d) : msd_diag_no_memory(d);
	for (size_t row = 0;
	     has_memory && err == MSD_OK && row < (size_t)msd_kernel_in_dims(c, 0)[0];
	     row++)
		err = run_row(&e, row, scores, has, d);
	free(e.sets);
	free(scores);
	free(has);
	return err;
}

const struct msd_kernel msd_kernel_tree_ensemble = {"TreeEnsemble", run,
						    MSD_TAKES_NUMBERS};
