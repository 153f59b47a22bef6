/*
 * Ensembles of decision trees of ai.onnx.ml.
 *
 * Happy path: nodes are sorted by tree and number, and so are the weights of leaves.
 * A row descends each tree from its root, and each leaf adds its weights to the
 * scores. Failures: a node points to a missing node, uses a missing feature, or has
 * an unknown mode; nodes form a cycle.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op/ml/params.h"
#include "runtime/engine/reference/ml/ml_score.h"
#include "runtime/kernel/kernels.h"

enum mode { LEQ, LT, GTE, GT, EQ, NEQ, LEAF, MODE_COUNT };

struct place {
	int64_t tree, number;
	size_t at; /* index in the lists */
};

struct branch {
	enum mode mode;
	size_t feature;
	double value;
	bool tracks_missing;
	size_t yes, no; /* branches */
	const struct place *weights;
	size_t n_weights;
};

struct forest {
	const struct msd_kernel_call *c;
	size_t n;
	struct place *places;    /* nodes, sorted */
	struct branch *branches; /* in list order */
	bool *is_pointed_to;     /* in list order */
	struct place *leaves;    /* weights, sorted */
	size_t n_weights, n_out;
	const int64_t *ids; /* by weight: index of its score */
	const float *weights;
};

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->tree != y->tree)
		return x->tree < y->tree ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static struct place *places_of(struct msd_ints trees, struct msd_ints numbers)
{
	struct place *ret = calloc(trees.n + 1, sizeof(*ret));

	for (size_t i = 0; ret != NULL && i < trees.n; i++)
		ret[i] = (struct place){trees.at[i], numbers.at[i], i};
	if (ret != NULL)
		qsort(ret, trees.n, sizeof(*ret), compare);
	return ret;
}

static const struct place *find(const struct place *list, size_t n, int64_t tree,
				int64_t number)
{
	const struct place key = {tree, number, 0};

	return bsearch(&key, list, n, sizeof(key), compare);
}

static msd_err bad(const struct place *p, const char *what, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "tree %lld, node %lld: %s",
			    (long long)p->tree, (long long)p->number, what);
}

/* The next mode name; advances *@at. */
static enum mode take_mode(const char **at)
{
	static const char *const words[] = {
		[LEQ] = "BRANCH_LEQ", [LT] = "BRANCH_LT", [GTE] = "BRANCH_GTE",
		[GT] = "BRANCH_GT",   [EQ] = "BRANCH_EQ", [NEQ] = "BRANCH_NEQ",
		[LEAF] = "LEAF"};
	const size_t n = strcspn(*at, " ");
	unsigned i = 0;

	while (i < MODE_COUNT &&
	       (strlen(words[i]) != n || memcmp(words[i], *at, n) != 0))
		i++;
	*at += n + ((*at)[n] == ' ');
	return (enum mode)i;
}

/* Find the target of a branch. */
static msd_err point(struct forest *f, const struct place *from, int64_t number,
		     size_t *ret, struct msd_diag *d)
{
	const struct place *to = find(f->places, f->n, from->tree, number);

	if (to == NULL)
		return bad(from, "it points to a missing node", d);
	*ret = to->at;
	f->is_pointed_to[to->at] = true;
	return MSD_OK;
}

static msd_err read_leaf(struct forest *f, const struct place *p, struct msd_diag *d)
{
	const struct place *one = find(f->leaves, f->n_weights, p->tree, p->number);
	struct branch *b = &f->branches[p->at];

	if (one == NULL)
		return MSD_OK;
	while (one > f->leaves && compare(one - 1, p) == 0)
		one--;
	b->weights = one;
	for (; one < f->leaves + f->n_weights && compare(one, p) == 0; one++) {
		if (f->ids[one->at] < 0 || (uint64_t)f->ids[one->at] >= f->n_out)
			return bad(p, "a weight is of no target or class", d);
		b->n_weights++;
	}
	return MSD_OK;
}

static msd_err read_branch(struct forest *f, const struct place *p, struct msd_diag *d)
{
	const struct msd_params_tree t = msd_params_tree(f->c->node);
	const struct msd_ints missing = t.nodes_missing_value_tracks_true;
	const int64_t *feature = t.nodes_featureids.at;
	struct branch *b = &f->branches[p->at];

	if (b->mode == MODE_COUNT)
		return bad(p, "its mode is not known", d);
	if (b->mode == LEAF)
		return read_leaf(f, p, d);
	if (feature[p->at] < 0 || feature[p->at] >= msd_kernel_in_dims(f->c, 0)[1])
		return bad(p, "it uses a missing feature", d);
	b->feature = (size_t)feature[p->at];
	b->value = (double)t.nodes_values.at[p->at];
	b->tracks_missing = missing.n > 0 && missing.at[p->at] != 0;
	const msd_err err = point(f, p, t.nodes_truenodeids.at[p->at], &b->yes, d);
	return err == MSD_OK ? point(f, p, t.nodes_falsenodeids.at[p->at], &b->no, d)
			     : err;
}

static void forest_finish(struct forest *f)
{
	free(f->places);
	free(f->branches);
	free(f->is_pointed_to);
	free(f->leaves);
}

static msd_err forest_init(struct forest *f, const struct msd_kernel_call *c,
			   size_t n_out, struct msd_diag *d)
{
	const struct msd_params_tree p = msd_params_tree(c->node);
	const char *modes = p.nodes_modes;
	msd_err err = MSD_OK;

	*f = (struct forest){.c = c,
			     .n_out = n_out,
			     .n = p.nodes_treeids.n,
			     .n_weights = p.weights_treeids.n,
			     .ids = p.weights_ids.at,
			     .weights = p.weights.at};
	f->places = places_of(p.nodes_treeids, p.nodes_nodeids);
	f->leaves = places_of(p.weights_treeids, p.weights_nodeids);
	f->branches = calloc(f->n + 1, sizeof(*f->branches));
	f->is_pointed_to = calloc(f->n + 1, sizeof(*f->is_pointed_to));
	if (f->places == NULL || f->leaves == NULL || f->branches == NULL ||
	    f->is_pointed_to == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < f->n; i++)
		f->branches[i].mode = take_mode(&modes);
	for (size_t i = 0; err == MSD_OK && i < f->n; i++) {
		if (i > 0 && compare(&f->places[i - 1], &f->places[i]) == 0)
			err = bad(&f->places[i], "it is given twice", d);
	}
	for (size_t i = 0; err == MSD_OK && i < f->n; i++)
		err = read_branch(f, &f->places[i], d);
	return err;
}

static bool is_yes(const struct branch *b, double x)
{
	if (isnan(x) && b->tracks_missing)
		return true;
	switch (b->mode) {
	case LEQ:
		return x <= b->value;
	case LT:
		return x < b->value;
	case GTE:
		return x >= b->value;
	case GT:
		return x > b->value;
	case EQ:
		return x == b->value;
	case NEQ:
	case LEAF:
	case MODE_COUNT:
		break;
	}
	return x != b->value;
}

/* The leaf that row @row reaches from branch @at; NULL: a cycle. */
static const struct branch *leaf_of(const struct forest *f, size_t row, size_t at)
{
	const size_t features = (size_t)msd_kernel_in_dims(f->c, 0)[1];
	const struct branch *b = &f->branches[at];

	for (size_t steps = 0; b->mode != LEAF; steps++) {
		if (steps == f->n)
			return NULL;
		const double x = msd_kernel_get(f->c, 0, row * features + b->feature);

		b = &f->branches[is_yes(b, x) ? b->yes : b->no];
	}
	return b;
}

/* Method that combines the weights of the trees into one score. */
enum aggregate { SUM, AVERAGE, MIN, MAX };

static double join(enum aggregate how, double score, double w, bool is_first)
{
	if (is_first || (how == MIN && w < score) || (how == MAX && w > score))
		return w;
	return how == MIN || how == MAX ? score : score + w;
}

/* Compute the scores of row @row; @has gets which of them some tree contributed to. */
static msd_err score(const struct forest *f, size_t row, enum aggregate how,
		     double *scores, bool *has, struct msd_diag *d)
{
	size_t n_trees = 0;

	memset(has, 0, f->n_out * sizeof(*has));
	for (size_t i = 0; i < f->n_out; i++)
		scores[i] = 0;
	for (size_t i = 0; i < f->n; i++) {
		if (f->is_pointed_to[i])
			continue;
		const struct branch *leaf = leaf_of(f, row, i);
		if (leaf == NULL) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "the nodes of a tree go in a circle");
		}
		n_trees++;
		for (size_t k = 0; k < leaf->n_weights; k++) {
			const size_t at = leaf->weights[k].at;
			const size_t id = (size_t)f->ids[at];

			scores[id] =
				join(how, scores[id], (double)f->weights[at], !has[id]);
			has[id] = true;
		}
	}
	/* Round to float32, as reported, before labels are decided: then 0.5 and 0.5
	 * are a tie. */
	for (size_t i = 0; i < f->n_out; i++) {
		scores[i] /= how == AVERAGE && n_trees > 0 ? (double)n_trees : 1;
		scores[i] = (double)(float)scores[i];
	}
	return MSD_OK;
}

static void add_base(const struct msd_kernel_call *c, double *scores)
{
	const struct msd_floats base = msd_params_tree(c->node).base_values;

	for (size_t i = 0; i < base.n; i++)
		scores[i] += (double)base.at[i];
}

static enum aggregate aggregate_of(const struct msd_kernel_call *c)
{
	const char *said = msd_params_tree_regressor(c->node).aggregate_function;

	return strcmp(said, "AVERAGE") == 0 ? AVERAGE
	       : strcmp(said, "MIN") == 0   ? MIN
	       : strcmp(said, "MAX") == 0   ? MAX
					    : SUM;
}

/* True if all weights belong to one class, as usual for two classes. */
static bool is_binary(const struct forest *f, bool *ret_is_positive)
{
	*ret_is_positive = true;
	for (size_t i = 0; i < f->n_weights; i++) {
		*ret_is_positive = *ret_is_positive && f->weights[i] >= 0;
		if (f->ids[i] != f->ids[0])
			return false;
	}
	return f->n_out == 2;
}

/*
 * A single score belongs to the second class: a probability if no weight is negative.
 */
static void put_binary(const struct msd_kernel_call *c, size_t row, double *scores,
		       double one, bool is_positive)
{
	const struct msd_params_tree_classifier p = msd_params_tree_classifier(c->node);
	const enum msd_ml_transform how = msd_ml_transform_of(p.post_transform);

	msd_ml_put_label(c, row, p.labels.at[one > (is_positive ? 0.5 : 0) ? 1 : 0]);
	scores[1] = one;
	scores[0] = is_positive && how == MSD_ML_NONE ? 1 - one : -one;
	msd_ml_transform(how, scores, 2);
	msd_ml_put(c, 1, row, scores, 2);
}

static void put_classes(const struct forest *f, size_t row, double *scores)
{
	const struct msd_kernel_call *c = f->c;
	const struct msd_params_tree_classifier p = msd_params_tree_classifier(c->node);
	const struct msd_floats base = p.base_values;
	bool is_positive;

	if (is_binary(f, &is_positive)) {
		double one = scores[f->ids[0]];

		if (base.n > 0)
			one += (double)base.at[base.n - 1];
		put_binary(c, row, scores, one, is_positive);
		return;
	}
	add_base(c, scores);
	msd_ml_put_label(c, row, p.labels.at[msd_ml_largest(scores, f->n_out)]);
	msd_ml_transform(msd_ml_transform_of(p.post_transform), scores, f->n_out);
	msd_ml_put(c, 1, row, scores, f->n_out);
}

static msd_err run(const struct msd_kernel_call *c, size_t n_out, bool is_classifier,
		   struct msd_diag *d)
{
	const enum aggregate how = is_classifier ? SUM : aggregate_of(c);
	double *scores = calloc(n_out + 2, sizeof(*scores));
	bool *has = calloc(n_out + 1, sizeof(*has));
	struct forest f = {.c = c};
	const bool has_memory = scores != NULL && has != NULL;
	msd_err err = has_memory ? forest_init(&f, c, n_out, d) : msd_diag_no_memory(d);

	for (size_t row = 0;
	     has_memory && err == MSD_OK && row < (size_t)msd_kernel_in_dims(c, 0)[0];
	     row++) {
		err = score(&f, row, how, scores, has, d);
		if (err == MSD_OK && is_classifier) {
			put_classes(&f, row, scores);
		} else if (err == MSD_OK) {
			add_base(c, scores);
			msd_ml_transform(
				msd_ml_transform_of(
					msd_params_tree(c->node).post_transform),
				scores, n_out);
			msd_ml_put(c, 0, row, scores, n_out);
		}
	}
	forest_finish(&f);
	free(scores);
	free(has);
	return err;
}

static msd_err run_regressor(const struct msd_kernel_call *c, struct msd_diag *d)
{
	return run(c, (size_t)msd_params_tree_regressor(c->node).n_targets, false, d);
}

static msd_err run_classifier(const struct msd_kernel_call *c, struct msd_diag *d)
{
	return run(c, msd_params_tree_classifier(c->node).labels.n, true, d);
}

const struct msd_kernel msd_kernel_tree_regressor = {"TreeEnsembleRegressor",
						     run_regressor, MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_tree_classifier = {
	"TreeEnsembleClassifier", run_classifier, MSD_TAKES_NUMBERS};
