/*
 * Module kind: a graph executor with its graph and parameters. TVM names it
 * GraphExecutorFactory (0.8 on) or GraphRuntimeFactory (0.7); the payload is the
 * same. Its functions are `run`, one call of the whole model, and those of TVM's
 * factory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/executor/factory.h"
#include "runtime/executor/graph/run.h"
#include "runtime/executor/graph/state.h"
#include "runtime/kind/kinds.h"
#include "runtime/module/check.h"
#include "runtime/module/signature.h"
#include "runtime/value/error.h"

/* Alignment of tensor data that code of TVM 0.7 to 0.9 assumes. */
#define DATA_ALIGN 128

enum { RUN, GET_GRAPH_JSON, GET_GRAPH_PARAMS, LIST_MODULE_NAMES, N_FUNCS };

struct executor_func {
	struct msd_function fn; /* first member: calls get it as self */
	struct executor *executor;
	struct msd_signature signature;
	struct msd_call_rules rules;
};

struct executor {
	struct msd_span json;     /* borrowed from the file */
	struct msd_params params; /* freed when the plan has copied them */
	struct msd_graph_plan *plan;
	struct msd_graph_instance *instance;
	bool is_given;       /* given with the library, not in it */
	struct msd_dev *dev; /* the module's device; NULL: the host */
	char *refusal;       /* for `run`, or NULL */
	char *model;         /* name of the model */
	struct executor_func funcs[N_FUNCS];
};

static int run_call(void *self, const struct msd_any *args, int32_t n,
		    struct msd_any *ret)
{
	const struct executor_func *f = self;

	if (f->executor->refusal != NULL)
		return msd_abi_raise_code(MSD_UNSUPPORTED, "%s", f->executor->refusal);
	if (f->executor->instance == NULL) {
		return msd_abi_raise_code(
			MSD_UNSUPPORTED, "the graph has not been placed on its device");
	}
	return msd_graph_instance_run(f->executor->instance, args, n, ret);
}

static int json_call(void *self, const struct msd_any *args, int32_t n,
		     struct msd_any *ret)
{
	const struct msd_span json =
		((const struct executor_func *)self)->executor->json;
	struct msd_str *s = msd_str_new((const char *)json.p, json.n, MSD_T_STR);

	(void)args;
	(void)n;
	if (s == NULL)
		return msd_abi_no_memory();
	*ret = msd_of_obj(&s->obj);
	return 0;
}

static int params_call(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	const struct executor_func *f = self;

	(void)args, (void)n;
	return msd_graph_plan_list_params(f->executor->plan, ret);
}

static int names_call(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	const struct executor_func *f = self;

	(void)args, (void)n;
	return msd_factory_names(f->executor->model, ret);
}

static const struct {
	const char *name;
	msd_safe_call call;
} rows[N_FUNCS] = {
	[RUN] = {"run", run_call},
	[GET_GRAPH_JSON] = {"get_graph_json", json_call},
	[GET_GRAPH_PARAMS] = {"get_graph_params", params_call},
	[LIST_MODULE_NAMES] = {"list_module_names", names_call},
};

static void func_init(struct executor *x, struct executor_func *f, const char *name,
		      msd_safe_call call)
{
	msd_function_init(&f->fn, name, call);
	f->executor = x;
	f->rules = (struct msd_call_rules){
		.info = {.name = name,
			 .style = MSD_FUNC_MODEL,
			 .signature = &f->signature},
		.bool_style = MSD_BOOL_UINT1,
		.data_align = DATA_ALIGN,
	};
	f->fn.rules = &f->rules;
}

/* Use the graph and parameters given with the library. */
static msd_err take_given(struct executor *x, const struct msd_load_options *options,
			  struct msd_diag *d)
{
	x->json = options->graph;
	x->is_given = true;
	if (options->params.n == 0)
		return MSD_OK;
	return msd_params_read_file(options->params, &x->params, d);
}

/* Add the parameters from a separate file; the graph is in the library. */
static msd_err add_beside(struct executor *x, struct msd_span file, struct msd_diag *d)
{
	struct msd_params more = {0};

	if (file.n == 0)
		return MSD_OK;
	msd_err err = msd_params_read_file(file, &more, d);
	return err == MSD_OK ? msd_params_append(&x->params, &more, d) : err;
}

static msd_err graph_open(struct msd_node *node, const struct msd_node_context *ctx,
			  struct msd_diag *d)
{
	struct executor *x = calloc(1, sizeof(*x));
	struct msd_cur c = msd_cur_of(ctx->payload);

	node->state = x;
	if (x == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < N_FUNCS; i++)
		func_init(x, &x->funcs[i], rows[i].name, rows[i].call);
	if (ctx->is_given)
		return take_given(x, ctx->options, d);
	x->json = msd_cur_str64(&c);
	if (c.bad)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "graph: truncated");
	msd_err err = msd_params_read(&c, &x->params, d);
	if (err == MSD_OK)
		err = msd_factory_name(&c, &x->model, d);
	return err == MSD_OK ? add_beside(x, msd_node_params(ctx), d) : err;
}

static msd_err learn_signatures(struct executor *x, struct msd_diag *d)
{
	msd_err err = msd_graph_plan_signature(x->plan, &x->funcs[RUN].signature, d);

	for (size_t i = RUN + 1; err == MSD_OK && i < N_FUNCS; i++)
		err = msd_signature_init(&x->funcs[i].signature, 0, d);
	return err;
}

static struct msd_function *find_in_imports(void *ctx, const char *name)
{
	return msd_node_lookup_from_imports(ctx, name);
}

/* Append why the graph cannot run: missing functions, an import. */
static void list_reasons(struct msd_node *node, const struct msd_buf *missing,
			 struct msd_buf *out)
{
	msd_node_refusals(node, out);
	if (missing->n > 0) {
		msd_buf_printf(out, "%sfunctions are missing: %.*s",
			       out->n > 0 ? "; " : "", (int)missing->n,
			       (const char *)missing->p);
	}
	out->bad = out->bad || missing->bad;
}

static msd_err refuse(struct msd_node *node, const struct msd_buf *why,
		      struct msd_diag *d)
{
	struct executor *x = node->state;

	if (why->bad ||
	    (why->n > 0 &&
	     asprintf(&x->refusal, "module %u (%s) cannot run here: %.*s", node->index,
		      node->kind_name, (int)why->n, (const char *)why->p) < 0)) {
		x->refusal = NULL;
		return msd_diag_no_memory(d);
	}
	x->funcs[RUN].rules.info.refusal = x->refusal;
	return MSD_OK;
}

/* Reject a .params file of another model: no name matches the graph's. */
static msd_err check_given_params(const struct executor *x, struct msd_diag *d)
{
	const struct msd_graph *g = &x->plan->graph;
	const struct msd_span first =
		x->params.n > 0 ? x->params.names[0] : (struct msd_span){0};

	if (!x->is_given || x->params.n == 0)
		return MSD_OK;
	for (uint32_t i = 0; i < g->n_args; i++) {
		if (msd_params_find(&x->params, g->nodes[g->args[i]].name) != NULL)
			return MSD_OK;
	}
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "parameters: none of %zu is an input of the graph: the "
			    "first is %.*s, the graph has %s",
			    x->params.n, (int)(first.n < 64 ? first.n : 64),
			    (const char *)first.p,
			    g->n_args > 0 ? g->nodes[g->args[0]].name : "none");
}

/* Fail if functions are missing and no import that cannot run could provide them. */
static msd_err check_missing(struct msd_node *node, const struct msd_buf *missing,
			     struct msd_diag *d)
{
	struct msd_buf why = {0};

	msd_node_refusals(node, &why);
	const bool is_refused = why.n > 0 || why.bad;
	msd_buf_finish(&why);
	if (missing->n == 0 || is_refused)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "graph: the library does not have the functions of its "
			    "nodes: %.*s",
			    (int)missing->n, (const char *)missing->p);
}

static msd_err refuse_if_needed(struct msd_node *node, const struct msd_buf *missing,
				struct msd_diag *d)
{
	struct msd_buf why = {0};

	list_reasons(node, missing, &why);
	msd_err err = refuse(node, &why, d);
	msd_buf_finish(&why);
	return err;
}

/* Error: a tensor of the graph is on a device other than the module's. */
static msd_err refuse_device(struct msd_node *node, int32_t wanted,
			     struct msd_device device, struct msd_diag *d)
{
	char one[MSD_DTYPE_NAME_MAX];
	char other[MSD_DTYPE_NAME_MAX];
	struct msd_buf why = {0};

	msd_buf_printf(&why, "its tensors are on %s, but the module is on %s:%d",
		       msd_device_type_format(wanted, one),
		       msd_device_type_format(device.type, other), device.id);
	msd_err err = refuse(node, &why, d);
	msd_buf_finish(&why);
	return err;
}

static msd_err graph_place(struct msd_node *node, struct msd_device device,
			   struct msd_diag *d)
{
	struct executor *x = node->state;
	const int32_t other = msd_graph_plan_other_device(x->plan, device.type);

	if (x->refusal != NULL)
		return MSD_OK;
	/* The functions have been probed for their signatures by now. */
	msd_err err = msd_graph_plan_check(x->plan, d);
	if (err == MSD_OK && other != 0)
		return refuse_device(node, other, device, d);
	x->funcs[RUN].rules.device = device;
	if (err != MSD_OK || device.type == MSD_DEV_CPU)
		return err;
	msd_graph_instance_destroy(x->instance);
	x->instance = NULL;
	err = msd_dev_open(device, &x->dev, d);
	if (err == MSD_OK)
		err = msd_graph_plan_place(x->plan, x->dev, d);
	return err == MSD_OK ? msd_graph_instance_create(x->plan, &x->instance, d)
			     : err;
}

static msd_err graph_start(struct msd_node *node, struct msd_diag *d)
{
	struct executor *x = node->state;
	const struct msd_graph_finder finder = {find_in_imports, node};
	struct msd_graph graph = {0};
	struct msd_buf missing = {0};
	msd_err err = msd_graph_read(x->json, &graph, d);

	if (err == MSD_OK) {
		err = msd_graph_plan_create(&graph, &x->params, finder, &missing,
					    &x->plan, d);
	}
	msd_graph_finish(&graph);
	if (err == MSD_OK)
		err = check_given_params(x, d);
	if (err == MSD_OK)
		err = check_missing(node, &missing, d);
	msd_params_finish(&x->params);
	if (err == MSD_OK)
		err = learn_signatures(x, d);
	if (err == MSD_OK)
		err = refuse_if_needed(node, &missing, d);
	msd_buf_finish(&missing);
	if (err == MSD_OK && x->refusal == NULL &&
	    msd_graph_plan_other_device(x->plan, MSD_DEV_CPU) == 0)
		err = msd_graph_instance_create(x->plan, &x->instance, d);
	for (size_t i = 0; i < N_FUNCS; i++)
		x->funcs[i].rules.info.module_kind = node->kind_name;
	return err;
}

static msd_err graph_instance(struct msd_node *node, struct msd_instance **ret,
			      struct msd_diag *d)
{
	struct executor *x = node->state;

	if (x->refusal != NULL)
		return msd_diag_set(d, MSD_UNSUPPORTED, "%s", x->refusal);
	return msd_graph_state_create(x->plan, ret, d);
}

static struct msd_function *graph_find(struct msd_node *node, const char *name)
{
	struct executor *x = node->state;

	for (size_t i = 0; i < N_FUNCS; i++) {
		if (strcmp(name, rows[i].name) == 0)
			return &x->funcs[i].fn;
	}
	return NULL;
}

static const char *graph_tell(const struct msd_node *node, const char *name)
{
	const struct executor *x = node->state;

	return msd_factory_tell(x->model, name);
}

static msd_err graph_list(struct msd_node *node,
			  msd_err (*each)(void *ctx, const struct msd_func_info *info),
			  void *ctx)
{
	struct executor *x = node->state;
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < N_FUNCS; i++)
		err = each(ctx, &x->funcs[i].rules.info);
	return err;
}

static void graph_close(struct msd_node *node)
{
	struct executor *x = node->state;

	if (x == NULL)
		return;
	msd_graph_instance_destroy(x->instance);
	msd_graph_plan_destroy(x->plan);
	msd_dev_close(x->dev);
	msd_params_finish(&x->params);
	for (size_t i = 0; i < N_FUNCS; i++)
		msd_signature_finish(&x->funcs[i].signature);
	free(x->model);
	free(x->refusal);
	free(x);
	node->state = NULL;
}

const struct msd_node_ops msd_kind_graph = {
	.open = graph_open,
	.start = graph_start,
	.place = graph_place,
	.find = graph_find,
	.list = graph_list,
	.tell = graph_tell,
	.instance = graph_instance,
	.close = graph_close,
};
