/* Module kinds of ahead-of-time compiled models (TVM 0.9 to 0.19): the factory, and
 * the module between it and the library, which only passes lookups on. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/executor/aot/state.h"
#include "runtime/executor/factory.h"
#include "runtime/kind/kinds.h"
#include "runtime/module/check.h"
#include "runtime/module/signature.h"
#include "runtime/value/error.h"

/* Alignment of tensor data that code of TVM 0.9 assumes. */
#define DATA_ALIGN 128

struct factory {
	struct msd_function run;   /* first member: calls get it as self */
	struct msd_function names; /* list_module_names */
	char *model;
	struct msd_params params;
	struct msd_aot *aot; /* NULL if it cannot run */
	char *refusal;
	struct msd_signature signature;
	struct msd_call_rules rules;
};

static int run_call(void *self, const struct msd_any *args, int32_t n,
		    struct msd_any *ret)
{
	const struct factory *f = self;

	if (f->aot == NULL || f->refusal != NULL) {
		return msd_abi_raise_code(MSD_UNSUPPORTED, "%s",
					  f->refusal != NULL ? f->refusal : "no model");
	}
	return msd_aot_run(f->aot, args, n, ret);
}

static int names_call(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	const struct factory *f =
		(const void *)((const char *)self - offsetof(struct factory, names));

	(void)args;
	if (n != 0) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "list_module_names: it takes no arguments");
	}
	return msd_factory_names(f->model, ret);
}

static msd_err aot_open(struct msd_node *node, const struct msd_node_context *ctx,
			struct msd_diag *d)
{
	struct factory *f = calloc(1, sizeof(*f));
	struct msd_cur c = msd_cur_of(ctx->payload);

	node->state = f;
	if (f == NULL)
		return msd_diag_no_memory(d);
	msd_function_init(&f->run, "run", run_call);
	f->rules = (struct msd_call_rules){
		.info = {.name = "run",
			 .style = MSD_FUNC_MODEL,
			 .signature = &f->signature,
			 .module_kind = node->kind_name},
		.bool_style = MSD_BOOL_UINT1,
		.data_align = DATA_ALIGN,
	};
	f->run.rules = &f->rules;
	msd_function_init(&f->names, "list_module_names", names_call);
	msd_err err = msd_params_read(&c, &f->params, d);
	return err == MSD_OK ? msd_factory_name(&c, &f->model, d) : err;
}

/* The model's metadata from the library, or NULL with @why filled in. */
static const struct msd_aot_metadata *find_metadata(struct msd_node *node,
						    struct msd_buf *why)
{
	struct msd_function *get = msd_node_lookup_from_imports(node, "get_c_metadata");
	struct msd_any found = msd_none();
	struct msd_diag d = {0};

	if (get == NULL) {
		msd_buf_printf(why, "the library has no get_c_metadata");
		return NULL;
	}
	msd_abi_clear();
	if (get->call(get, NULL, 0, &found) != 0) {
		(void)msd_abi_fetch_error(&d);
		msd_buf_printf(why, "get_c_metadata: %s", msd_diag_text(&d));
		msd_diag_finish(&d);
		return NULL;
	}
	if (found.type != MSD_T_POINTER || found.as.p == NULL) {
		msd_buf_printf(why, "get_c_metadata gave no metadata but %s",
			       msd_type_name(found.type));
		msd_any_drop(&found);
		return NULL;
	}
	return found.as.p;
}

/* The model's function. Its name contains the model name of the metadata,
 * "tvmgen_default". */
static struct msd_function *find_main(struct msd_node *node, const char *model,
				      struct msd_buf *why)
{
	char *name = NULL;
	struct msd_function *fn = NULL;

	if (asprintf(&name, "%s___tvm_main__", model) < 0) {
		why->bad = true;
		return NULL;
	}
	fn = msd_node_lookup_from_imports(node, name);
	if (fn == NULL)
		msd_buf_printf(why, "functions are missing: %s", name);
	free(name);
	return fn;
}

static msd_err prepare(struct msd_node *node, struct msd_buf *why, struct msd_diag *d)
{
	struct factory *f = node->state;
	const struct msd_aot_metadata *meta = NULL;
	struct msd_function *fn = NULL;
	msd_err err = MSD_OK;

	msd_node_refusals(node, why);
	if (why->n == 0)
		meta = find_metadata(node, why);
	if (meta != NULL)
		err = msd_aot_metadata_check(meta, d);
	if (meta != NULL && err == MSD_OK)
		fn = find_main(node, meta->model, why);
	if (fn == NULL || err != MSD_OK)
		return err;
	err = msd_aot_create(meta, fn, &f->params, &f->aot, d);
	return err == MSD_OK ? msd_aot_signature(f->aot, &f->signature, d) : err;
}

static msd_err aot_start(struct msd_node *node, struct msd_diag *d)
{
	struct factory *f = node->state;
	struct msd_buf why = {0};
	msd_err err = prepare(node, &why, d);

	if (err == MSD_OK &&
	    (why.bad ||
	     (why.n > 0 &&
	      asprintf(&f->refusal, "module %u (%s) cannot run here: %.*s", node->index,
		       node->kind_name, (int)why.n, (const char *)why.p) < 0))) {
		f->refusal = NULL;
		err = msd_diag_no_memory(d);
	}
	msd_buf_finish(&why);
	msd_params_finish(&f->params);
	f->rules.info.refusal = f->refusal;
	return err;
}

/* TVM compiles such models only for the host, and they use host memory. */
static msd_err aot_place(struct msd_node *node, struct msd_device device,
			 struct msd_diag *d)
{
	struct factory *f = node->state;
	char name[MSD_DTYPE_NAME_MAX];

	if (device.type == MSD_DEV_CPU || f->refusal != NULL)
		return MSD_OK;
	if (asprintf(&f->refusal,
		     "module %u (%s) cannot run here: it works in host memory, and the "
		     "module was placed on %s:%d (load it with --device cpu)",
		     node->index, node->kind_name,
		     msd_device_type_format(device.type, name), device.id) < 0) {
		f->refusal = NULL;
		return msd_diag_no_memory(d);
	}
	f->rules.info.refusal = f->refusal;
	return MSD_OK;
}

static struct msd_function *aot_find(struct msd_node *node, const char *name)
{
	struct factory *f = node->state;

	if (strcmp(name, "list_module_names") == 0)
		return &f->names;
	return strcmp(name, "run") == 0 ? &f->run : NULL;
}

static const char *aot_tell(const struct msd_node *node, const char *name)
{
	const struct factory *f = node->state;

	return msd_factory_tell(f->model, name);
}

static msd_err aot_list(struct msd_node *node,
			msd_err (*each)(void *ctx, const struct msd_func_info *info),
			void *ctx)
{
	struct factory *f = node->state;

	return each(ctx, &f->rules.info);
}

static msd_err aot_instance(struct msd_node *node, struct msd_instance **ret,
			    struct msd_diag *d)
{
	struct factory *f = node->state;

	if (f->aot == NULL) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "%s",
				    f->refusal != NULL ? f->refusal : "no model");
	}
	return msd_aot_state_create(f->aot, ret, d);
}

static void aot_close(struct msd_node *node)
{
	struct factory *f = node->state;

	if (f == NULL)
		return;
	msd_aot_destroy(f->aot);
	msd_params_finish(&f->params);
	msd_signature_finish(&f->signature);
	free(f->model);
	free(f->refusal);
	free(f);
	node->state = NULL;
}

const struct msd_node_ops msd_kind_aot = {
	.open = aot_open,
	.start = aot_start,
	.place = aot_place,
	.find = aot_find,
	.list = aot_list,
	.tell = aot_tell,
	.instance = aot_instance,
	.close = aot_close,
};
