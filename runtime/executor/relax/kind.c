/*
 * Module kind: a Relax VM executable. TVM names it relax.VMExecutable (0.20 on) or
 * relax.Executable (0.16 - 0.19); image and behaviour are the same. Functions of the
 * executable that are not bytecode are found in its imports (the library) or the
 * runtime.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/executor/relax/params.h"
#include "runtime/executor/vm/state.h"
#include "runtime/kind/kinds.h"
#include "runtime/value/error.h"

/* Bind the tensors stored in a separate file, or read a folder of parameters. */
static msd_err bind(struct msd_relax_image *img, struct msd_span file,
		    struct msd_relax_params **ret, struct msd_diag *d)
{
	struct msd_params params = {0};
	msd_err err = MSD_OK;

	if (msd_shards_is(file)) {
		err = msd_relax_params_open(file, ret, d);
	} else if (file.n > 0) {
		err = msd_params_read_file(file, &params, d);
	}

	if (err == MSD_OK)
		err = msd_relax_image_bind(img, &params, d);
	msd_params_finish(&params);
	return err;
}

static enum msd_list_era lists_of(enum msd_era era)
{
	if (era == MSD_ERA_CLASSIC)
		return MSD_LIST_CLASSIC;
	return era == MSD_ERA_FFI_021 ? MSD_LIST_FFI_021 : MSD_LIST_FFI;
}

static msd_err relax_open(struct msd_node *node, const struct msd_node_context *ctx,
			  struct msd_diag *d)
{
	struct msd_relax_image img = {0};
	struct msd_relax_params *params = NULL;
	struct msd_relax_vm *vm = NULL;
	msd_err err = msd_relax_image_read(ctx->payload, ctx->era, &img, d);

	if (err != MSD_OK)
		return err;
	err = bind(&img, msd_node_params(ctx), &params, d);
	if (err == MSD_OK) {
		err = msd_relax_vm_create(&img, params, &vm, d);
	} else {
		msd_relax_params_close(params);
	}
	if (err == MSD_OK)
		vm->lists = lists_of(ctx->era);
	msd_relax_image_finish(&img);
	node->state = vm;
	return err;
}

static struct msd_function *find_packed(void *ctx, const char *name)
{
	return msd_node_lookup_from_imports(ctx, name);
}

/* Called for any function if its executable cannot run here. */
static int refused_call(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	const struct msd_vm_func *f = self;
	(void)args;
	(void)n;
	(void)ret;

	return msd_abi_raise_code(MSD_UNSUPPORTED, "%s: %s", f->name,
				  f->rules.info.refusal);
}

/* Append reasons in the executable itself that prevent it from running; nothing if it
 * can run. */
static void own_reasons(struct msd_node *node, struct msd_buf *out)
{
	struct msd_buf missing = {0};

	msd_relax_vm_link(node->state, find_packed, node, &missing);
	if (missing.n > 0) {
		msd_buf_printf(out, "packed functions are missing: %.*s",
			       (int)missing.n, (const char *)missing.p);
	}
	out->bad = out->bad || missing.bad;
	msd_buf_finish(&missing);
}

/* The node's refusal has only its own reasons. That of its functions also has the
 * imports' reasons, because code compiled for a device does not run without it. */
static msd_err refuse_if_needed(struct msd_node *node, struct msd_diag *d)
{
	struct msd_relax_vm *vm = node->state;
	struct msd_buf own = {0};
	struct msd_buf all = {0};
	bool is_ok;

	own_reasons(node, &own);
	if (own.n > 0 &&
	    asprintf(&node->refusal, "module %u (%s) cannot run here: %.*s",
		     node->index, node->kind_name, (int)own.n, (const char *)own.p) < 0)
		own.bad = true;
	msd_node_refusals(node, &all);
	if (all.n > 0)
		vm->refusal = strndup((const char *)all.p, all.n);
	is_ok = !own.bad && !all.bad && (all.n == 0 || vm->refusal != NULL);
	msd_buf_finish(&own);
	msd_buf_finish(&all);
	return is_ok ? MSD_OK : msd_diag_no_memory(d);
}

static msd_err relax_start(struct msd_node *node, struct msd_diag *d)
{
	struct msd_relax_vm *vm = node->state;
	msd_err err = refuse_if_needed(node, d);

	for (size_t i = 0; err == MSD_OK && i < vm->n_funcs; i++) {
		struct msd_vm_func *f = &vm->funcs[i];

		f->rules.info.module_kind = node->kind_name;
		f->rules.info.refusal = vm->refusal;
		if (vm->refusal != NULL)
			f->fn.call = refused_call;
	}
	return err;
}

static msd_err relax_place(struct msd_node *node, struct msd_device device,
			   struct msd_diag *d)
{
	struct msd_relax_vm *vm = node->state;
	msd_err err = msd_relax_vm_place(vm, device, d);

	if (err == MSD_OK && vm->refusal == NULL)
		err = msd_relax_params_bind(vm, d);
	return err;
}

static struct msd_function *relax_find(struct msd_node *node, const char *name)
{
	struct msd_vm_func *f = msd_relax_vm_find(node->state, name);

	return f != NULL ? &f->fn : NULL;
}

static msd_err relax_list(struct msd_node *node,
			  msd_err (*each)(void *ctx, const struct msd_func_info *info),
			  void *ctx)
{
	struct msd_relax_vm *vm = node->state;
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < vm->n_funcs; i++) {
		if (vm->funcs[i].kind != MSD_RELAX_PACKED)
			err = each(ctx, &vm->funcs[i].rules.info);
	}
	return err;
}

static void put_names(const struct msd_relax_vm *vm, bool packed, struct msd_buf *out)
{
	const char *comma = "";

	for (size_t i = 0; i < vm->n_funcs; i++) {
		if ((vm->funcs[i].kind == MSD_RELAX_PACKED) != packed)
			continue;
		msd_buf_printf(out, "%s%s", comma, vm->funcs[i].name);
		comma = ", ";
	}
}

/* TVM's statistics of an executable, in TVM's order. */
static char *stats_of(const struct msd_relax_vm *vm)
{
	struct msd_buf text = {0};
	size_t n_packed = 0;

	for (size_t i = 0; i < vm->n_funcs; i++)
		n_packed += vm->funcs[i].kind == MSD_RELAX_PACKED;
	msd_buf_printf(&text,
		       "Relax VM executable statistics:\n"
		       "  Constants (#%zu)\n  Functions (#%zu): [",
		       vm->first_func - MSD_VM_FIRST_CONST, vm->n_funcs - n_packed);
	put_names(vm, false, &text);
	msd_buf_printf(&text, "]\n  Packed functions (#%zu): [", n_packed);
	put_names(vm, true, &text);
	msd_buf_printf(&text, "]\n  Instructions (#%zu)\n", vm->n_code);
	msd_buf_put_u8(&text, '\0');
	if (text.bad)
		msd_buf_finish(&text);
	return (char *)text.p;
}

static msd_err relax_instance(struct msd_node *node, struct msd_instance **ret,
			      struct msd_diag *d)
{
	struct msd_relax_vm *vm = node->state;

	if (vm->refusal != NULL)
		return msd_diag_set(d, MSD_UNSUPPORTED, "%s", vm->refusal);
	char *stats = stats_of(vm);
	if (stats == NULL)
		return msd_diag_no_memory(d);
	msd_err err = msd_vm_state_create(node, MSD_VM_API_RELAX, stats, ret, d);
	if (err != MSD_OK)
		free(stats);
	return err;
}

static void relax_close(struct msd_node *node)
{
	msd_relax_vm_close(node->state);
	node->state = NULL;
}

const struct msd_node_ops msd_kind_relax_vm = {
	.open = relax_open,
	.start = relax_start,
	.place = relax_place,
	.find = relax_find,
	.list = relax_list,
	.tell = msd_vm_tell,
	.instance = relax_instance,
	.close = relax_close,
};
