/*
 * The kind VMExecutable: a Relay program and the packed functions of its imports.
 *
 * Happy path: open reads the image and binds constants from a separate file; start
 * links the packed functions; place moves the constants to the device; find returns
 * the program's functions. Missing parts become the node's refusal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/executor/relay/vm.h"
#include "runtime/executor/vm/state.h"
#include "runtime/kind/kinds.h"

/* Bind the tensors stored in a separate file. */
static msd_err bind(struct msd_relay_image *img, struct msd_span file,
		    struct msd_diag *d)
{
	struct msd_params params = {0};

	if (file.n == 0)
		return MSD_OK;
	msd_err err = msd_params_read_file(file, &params, d);
	if (err == MSD_OK)
		err = msd_relay_image_bind(img, &params, d);
	msd_params_finish(&params);
	return err;
}

static msd_err relay_open(struct msd_node *node, const struct msd_node_context *ctx,
			  struct msd_diag *d)
{
	struct msd_relay_image img = {0};
	struct msd_relay_vm *vm = NULL;
	msd_err err = msd_relay_image_read(ctx->payload, &img, d);

	if (err == MSD_OK)
		err = bind(&img, msd_node_params(ctx), d);
	if (err == MSD_OK)
		err = msd_relay_vm_create(&img, &vm, d);
	msd_relay_image_finish(&img);
	node->state = vm;
	return err;
}

static struct msd_function *find_packed(void *ctx, const char *name)
{
	return msd_node_lookup_from_imports(ctx, name);
}

static void list_unbound(const struct msd_relay_image *img, struct msd_buf *out)
{
	const char *before = "constants are not in the library: ";
	bool any = false;

	for (uint32_t i = 0; i < img->n_consts; i++) {
		const struct msd_span name = img->consts[i].name;
		if (img->consts[i].tensor != NULL)
			continue;
		msd_buf_printf(out, "%s%.*s", before, (int)name.n,
			       (const char *)name.p);
		before = ", ";
		any = true;
	}
	if (any) {
		msd_buf_printf(out, "; load it with the file that has them, as `modser "
				    "load --params FILE` does");
	}
}

/* Append why it cannot run: an import, missing functions or constants. */
static void list_reasons(struct msd_node *node, struct msd_buf *out)
{
	struct msd_relay_vm *vm = node->state;
	struct msd_buf missing = {0};

	msd_node_refusals(node, out);
	msd_relay_vm_link(vm, find_packed, node, &missing);
	if (missing.n > 0) {
		msd_buf_printf(out, "%sfunctions are missing: %.*s",
			       out->n > 0 ? "; " : "", (int)missing.n,
			       (const char *)missing.p);
	}
	out->bad = out->bad || missing.bad;
	msd_buf_finish(&missing);
	if (out->n == 0)
		list_unbound(&vm->image, out);
}

/* Its functions from now on fail with the error @why. */
static msd_err refuse(struct msd_node *node, const char *why, size_t n,
		      struct msd_diag *d)
{
	struct msd_relay_vm *vm = node->state;

	if (asprintf(&vm->refusal, "module %u (%s) cannot run here: %.*s", node->index,
		     node->kind_name, (int)n, why) < 0) {
		vm->refusal = NULL;
		return msd_diag_no_memory(d);
	}
	for (uint32_t i = 0; i < vm->image.n_funcs; i++)
		vm->entries[i].rules.info.refusal = vm->refusal;
	return MSD_OK;
}

static msd_err relay_start(struct msd_node *node, struct msd_diag *d)
{
	struct msd_relay_vm *vm = node->state;
	struct msd_buf why = {0};
	msd_err err = MSD_OK;

	for (uint32_t i = 0; i < vm->image.n_funcs; i++)
		vm->entries[i].rules.info.module_kind = node->kind_name;
	list_reasons(node, &why);
	if (why.bad) {
		err = msd_diag_no_memory(d);
	} else if (why.n > 0) {
		err = refuse(node, (const char *)why.p, why.n, d);
	}
	msd_buf_finish(&why);
	return err;
}

/* The library's functions have been probed for their signatures by now. */
static msd_err relay_place(struct msd_node *node, struct msd_device device,
			   struct msd_diag *d)
{
	struct msd_relay_vm *vm = node->state;
	msd_err err = msd_relay_learn_signatures(vm, d);

	if (err == MSD_OK && vm->refusal == NULL)
		err = msd_relay_vm_place(vm, device, d);
	if (err != MSD_UNSUPPORTED || vm->dev != NULL)
		return err;
	/* Host functions in the same library can still be called. */
	char *why = strdup(msd_diag_text(d));
	if (why == NULL)
		return msd_diag_no_memory(d);
	msd_diag_finish(d);
	err = refuse(node, why, strlen(why), d);
	free(why);
	return err;
}

static struct msd_function *relay_find(struct msd_node *node, const char *name)
{
	struct msd_relay_vm *vm = node->state;

	for (uint32_t i = 0; i < vm->image.n_funcs; i++) {
		if (strcmp(vm->entries[i].name, name) == 0)
			return &vm->entries[i].fn;
	}
	return NULL;
}

static msd_err relay_list(struct msd_node *node,
			  msd_err (*each)(void *ctx, const struct msd_func_info *info),
			  void *ctx)
{
	struct msd_relay_vm *vm = node->state;
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < vm->image.n_funcs; i++)
		err = each(ctx, &vm->entries[i].rules.info);
	return err;
}

static msd_err relay_instance(struct msd_node *node, struct msd_instance **ret,
			      struct msd_diag *d)
{
	struct msd_relay_vm *vm = node->state;

	if (vm->refusal != NULL)
		return msd_diag_set(d, MSD_UNSUPPORTED, "%s", vm->refusal);
	return msd_vm_state_create(node, MSD_VM_API_RELAY, NULL, ret, d);
}

static void relay_close(struct msd_node *node)
{
	msd_relay_vm_close(node->state);
	node->state = NULL;
}

const struct msd_node_ops msd_kind_relay_vm = {
	.open = relay_open,
	.start = relay_start,
	.place = relay_place,
	.find = relay_find,
	.list = relay_list,
	.tell = msd_vm_tell,
	.instance = relay_instance,
	.close = relay_close,
};
