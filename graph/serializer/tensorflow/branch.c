/* Build an If: each of its functions becomes a graph, which gets all it reads from the
 * graph around it. */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/layer.h"
#include "graph/serializer/tensorflow/scope.h"

struct side {
	struct tf_scope scope;
	struct tf_value **rets;
};

static int build_side(struct tf_layer *x, const char *function,
		      struct tf_value *const *args, size_t n, size_t n_ret,
		      struct side *ret)
{
	struct tf_load *l = x->f->l;
	struct tf_value **within = calloc(n + 1, sizeof(struct tf_value *));
	int result = 0;

	ret->scope.g = modser_graph_create(function);
	ret->rets = calloc(n_ret + 1, sizeof(struct tf_value *));
	if (within == NULL || ret->scope.g == NULL || ret->rets == NULL) {
		free((void *)within);
		return msd_sg_no_memory(l->g);
	}
	for (size_t i = 0; i < n && result == 0; i++) {
		within[i] = tf_import(l, &ret->scope, x->node->name, args[i]);
		result = within[i] != NULL ? 0 : -1;
	}
	if (result == 0) {
		result = tf_call(x->f, x->node, &ret->scope, function, within, n,
				 ret->rets, n_ret);
	}
	for (size_t i = 0; i < n_ret && result == 0; i++) {
		if (ret->rets[i]->kind != TF_TENSOR) {
			result = tf_load_fail(l, MSD_UNSUPPORTED,
					      "result %zu of a branch is no tensor", i);
		} else if (tf_scope_output(&ret->scope, x->node->name,
					   ret->rets[i]->t) != 0) {
			result = tf_scope_error(l, &ret->scope);
		}
	}
	free((void *)within);
	return result;
}

static int join_sides(struct tf_layer *x, struct side *sides, struct tf_value **ret,
		      size_t n_ret)
{
	static const char *const names[] = {"then_branch", "else_branch"};
	modser_sg_tensor *cond = tf_cast(x, tf_in(x, 0), "bool");
	modser_sg_tensor *first = msd_build_node(&x->b, "If", &cond, 1);
	size_t n_captured = 0;

	if (first == NULL)
		return -1;
	for (size_t i = 0; i < 2; i++) {
		if (tf_scope_capture(first->producer, &sides[i].scope, &n_captured) !=
			    0 ||
		    tf_scope_give(first->producer, names[i], &sides[i].scope) != 0)
			return -1;
	}
	for (size_t k = 0; k < n_ret; k++) {
		modser_sg_tensor *t = k == 0 ? first : msd_build_output(&x->b, first);
		const modser_sg_tensor *from = sides[0].rets[k]->t;
		int64_t dims[MODSER_GRAPH_MAX_NDIM];
		int ndim = from->ndim;

		memcpy(dims, from->dims, sizeof(dims));
		(void)tf_scope_widen(&ndim, dims, sides[1].rets[k]->t);
		if (t == NULL || modser_sg_tensor_set_dtype(t, from->dtype_name) != 0)
			return -1;
		t->ndim = ndim;
		memcpy(t->dims, dims, sizeof(t->dims));
		ret[k] = tf_value_of(x->f->l, t);
		if (ret[k] == NULL)
			return -1;
	}
	return 0;
}

int tf_branches_build(struct tf_layer *x, const char *then_function,
		      const char *else_function, struct tf_value *const *args, size_t n,
		      struct tf_value **ret, size_t n_ret)
{
	struct side sides[2] = {0};

	if (n_ret == 0) {
		return tf_load_fail(x->f->l, MSD_BAD_ARTIFACT,
				    "its branches have no results");
	}
	int result = build_side(x, then_function, args, n, n_ret, &sides[0]);

	if (result == 0)
		result = build_side(x, else_function, args, n, n_ret, &sides[1]);
	if (result == 0)
		result = join_sides(x, sides, ret, n_ret);
	for (size_t i = 0; i < 2; i++) {
		modser_graph_destroy(sides[i].scope.g);
		free(sides[i].scope.captures);
		free((void *)sides[i].rets);
	}
	return result;
}
