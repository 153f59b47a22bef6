/*
 * Happy path: the arguments are checked against the model's inputs, then the model runs
 * and its outputs are returned. Failures: an argument that does not fit is named with
 * its parameter.
 */
#include "runtime/executor/static_graph/kind.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/executor/static_graph/state.h"
#include "runtime/module/check.h"
#include "runtime/module/signature.h"
#include "runtime/value/error.h"
#include "runtime/value/result_memory.h"

struct served {
	struct msd_function run; /* first member: calls get it as self */
	struct msd_static_model *model;
	struct msd_signature signature;
	struct msd_call_rules rules;
};

/* The caller has checked dtypes, shapes, that the tensors are on the host, and that
 * only a default is None; the model must check strides. */
static int check_args(const struct msd_static_model *m, const struct msd_any *args,
		      int32_t n)
{
	const int64_t most = msd_static_model_n_inputs(m);
	const int64_t least = most - msd_static_model_n_defaults(m);

	if (n < least || n > most) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "expected %lld arguments but got %d",
					  (long long)(n < least ? least : most), n);
	}
	for (int32_t i = 0; i < n; i++) {
		const struct msd_dltensor *t = msd_any_dltensor(&args[i]);

		if (i >= least && args[i].type == MSD_T_NONE)
			continue;
		if (t == NULL || t->strides != NULL) {
			return msd_abi_raise_code(
				MSD_BAD_ARGUMENT,
				"argument %d: expected a compact tensor, got %s", i,
				msd_type_name(args[i].type));
		}
	}
	return 0;
}

static int run_call(void *self, const struct msd_any *args, int32_t n,
		    struct msd_any *ret)
{
	const struct served *s = self;
	const uint32_t n_out = msd_static_model_n_outputs(s->model);

	if (check_args(s->model, args, n) != 0)
		return -1;
	if (n_out == 1) {
		return msd_static_model_run(s->model, args, (uint32_t)n,
					    msd_result_tensor_new, ret);
	}
	struct msd_array *tuple = msd_array_new(n_out);
	if (tuple == NULL)
		return msd_abi_raise_code(MSD_NOMEM, "out of memory for the outputs");
	if (msd_static_model_run(s->model, args, (uint32_t)n, msd_result_tensor_new,
				 tuple->items) != 0) {
		msd_obj_unref(&tuple->obj);
		return -1;
	}
	*ret = msd_of_obj(&tuple->obj);
	return 0;
}

static msd_err static_open(struct msd_node *node, const struct msd_node_context *ctx,
			   struct msd_diag *d)
{
	struct served *s = calloc(1, sizeof(*s));

	node->state = s;
	if (s == NULL)
		return msd_diag_no_memory(d);
	msd_function_init(&s->run, "run", run_call);
	s->rules = (struct msd_call_rules){
		.info = {.name = "run",
			 .style = MSD_FUNC_MODEL,
			 .signature = &s->signature,
			 .module_kind = node->kind_name},
		.bool_style = MSD_BOOL_BOOL8,
		.data_align = sizeof(int64_t), /* the largest element */
	};
	s->run.rules = &s->rules;
	msd_err err = msd_static_model_create(ctx->payload, ctx->options, &s->model, d);
	return err == MSD_OK ? msd_static_model_signature(s->model, &s->signature, d)
			     : err;
}

static struct msd_function *static_find(struct msd_node *node, const char *name)
{
	struct served *s = node->state;

	return strcmp(name, "run") == 0 ? &s->run : NULL;
}

static msd_err static_list(struct msd_node *node,
			   msd_err (*each)(void *ctx, const struct msd_func_info *info),
			   void *ctx)
{
	const struct served *s = node->state;

	return each(ctx, &s->rules.info);
}

static msd_err static_instance(struct msd_node *node, struct msd_instance **ret,
			       struct msd_diag *d)
{
	const struct served *s = node->state;

	return msd_static_state_create(s->model, ret, d);
}

static struct msd_plan *static_plan(const struct msd_node *node)
{
	const struct served *s = node->state;

	return msd_static_model_plan(s->model);
}

static void static_close(struct msd_node *node)
{
	struct served *s = node->state;

	if (s == NULL)
		return;
	msd_static_model_destroy(s->model);
	msd_signature_finish(&s->signature);
	free(s);
	node->state = NULL;
}

void msd_static_graph_text(const struct msd_node *node, struct msd_buf *out)
{
	const struct served *s = node->state;

	msd_static_model_text(s->model, out);
}

const struct msd_node_ops msd_kind_static_graph = {
	.open = static_open,
	.find = static_find,
	.list = static_list,
	.instance = static_instance,
	.plan = static_plan,
	.close = static_close,
};
