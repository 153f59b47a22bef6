#include "tests/runtime/graph/graph_tree.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/kind/kinds.h"
#include "runtime/module/check.h"
#include "runtime/value/error.h"

static struct msd_function *lib_find(struct msd_node *node, const char *name)
{
	struct graph_tree *t = node->state;

	for (size_t i = 0; i < t->n_funcs; i++) {
		if (strcmp(t->funcs[i].name, name) == 0)
			return &t->funcs[i];
	}
	return NULL;
}

static const struct msd_node_ops lib_ops = {.find = lib_find};

void graph_tree_add(struct graph_tree *t, const char *name, msd_safe_call call)
{
	msd_function_init(&t->funcs[t->n_funcs++], name, call);
}

static void put_param(struct bw *b, const char *name, const float *data, size_t n)
{
	const char *const names[] = {name, NULL};

	bw_u64(b, name != NULL);
	bw_strs(b, names);
	if (name == NULL)
		return;
	bw_tensor(b, 2, 32, (const uint64_t[]){n}, 1, data, n * sizeof(float));
}

msd_err graph_tree_open(struct graph_tree *t, const char *json, const char *param,
			const float *data, size_t n)
{
	struct msd_node_context ctx = {.era = MSD_ERA_CLASSIC};

	bw_str(&t->payload, json);
	put_param(&t->payload, param, data, n);
	bw_str(&t->payload, "default");
	ctx.payload = bw_span(&t->payload);
	t->lib = (struct msd_node){
		.ops = &lib_ops, .index = 1, .refusal = t->lib.refusal, .state = t};
	t->imports[0] = &t->lib;
	t->graph = (struct msd_node){.ops = &msd_kind_graph,
				     .kind_name = "GraphExecutorFactory",
				     .imports = t->imports,
				     .n_imports = 1};
	msd_err err = t->graph.ops->open(&t->graph, &ctx, &t->d);
	return err == MSD_OK ? t->graph.ops->start(&t->graph, &t->d) : err;
}

void graph_tree_close(struct graph_tree *t)
{
	if (t->graph.ops != NULL)
		t->graph.ops->close(&t->graph);
	free(t->graph.refusal);
	free(t->lib.refusal);
	bw_free(&t->payload);
	msd_diag_finish(&t->d);
}

msd_err graph_tree_run(struct graph_tree *t, struct msd_any *args, size_t n,
		       struct msd_any *ret)
{
	struct msd_function *fn = t->graph.ops->find(&t->graph, "run");
	msd_err err = msd_check_args(fn->rules, args, n, &t->d);

	*ret = msd_none();
	if (err != MSD_OK)
		return err;
	return fn->call(fn, args, (int32_t)n, ret) == 0 ? MSD_OK
							: msd_abi_fetch_error(&t->d);
}
