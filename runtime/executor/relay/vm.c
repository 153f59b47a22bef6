/*
 * A Relay VM created from its image: functions with their rules, constants as aligned
 * tensors, packed functions linked by name. Placing the module moves it all to a
 * device.
 */
#include "runtime/executor/relay/vm.h"

#include <stdlib.h>
#include <string.h>

#include "artifact/params/tensor_blob.h"
#include "runtime/device/memory.h"
#include "runtime/module/signature.h"
#include "runtime/value/storage_pool.h"

/* Alignment of tensor data that code of TVM 0.7 to 0.9 assumes. */
#define DATA_ALIGN 128

static char *text_of(struct msd_span s)
{
	return strndup((const char *)s.p, s.n);
}

static msd_err entry_init(struct msd_relay_vm *vm, struct msd_relay_entry *e,
			  const struct msd_relay_func *f, struct msd_diag *d)
{
	e->vm = vm;
	e->name = text_of(f->name);
	if (e->name == NULL)
		return msd_diag_no_memory(d);
	msd_function_init(&e->fn, e->name, msd_relay_call);
	e->rules = (struct msd_call_rules){
		.info = {.name = e->name,
			 .style = MSD_FUNC_MODEL,
			 .signature = &e->signature},
		.bool_style = MSD_BOOL_UINT1,
		.data_align = DATA_ALIGN,
	};
	e->fn.rules = &e->rules;
	msd_err err = msd_signature_init(&e->signature, f->n_params, d);
	for (uint32_t i = 0; err == MSD_OK && i < f->n_params; i++) {
		e->signature.params[i].name = text_of(f->params[i]);
		if (e->signature.params[i].name == NULL)
			err = msd_diag_no_memory(d);
	}
	return err == MSD_OK ? msd_signature_compose(&e->signature, e->name, d) : err;
}

/* An aligned tensor with the bool type of the ABI. */
static msd_err const_make(const struct msd_tensor_blob *blob, struct msd_any *ret,
			  struct msd_diag *d)
{
	struct msd_dtype dtype = blob->dtype;

	if (dtype.code == MSD_DT_BOOL)
		dtype = (struct msd_dtype){MSD_DT_UINT, 1, 1};
	struct msd_tensor *t = msd_tensor_new(dtype, blob->shape, blob->ndim);
	if (t == NULL)
		return msd_diag_no_memory(d);
	if (blob->data.n > 0)
		memcpy(t->dl.data, blob->data.p, blob->data.n);
	*ret = msd_of_obj(&t->obj);
	return MSD_OK;
}

static msd_err vm_fill(struct msd_relay_vm *vm, const struct msd_relay_image *img,
		       struct msd_diag *d)
{
	msd_err err = MSD_OK;

	vm->pool = msd_storage_pool_create();
	vm->entries = calloc((size_t)img->n_funcs + 1, sizeof(*vm->entries));
	vm->packed = calloc((size_t)img->n_packed + 1, sizeof(struct msd_function *));
	vm->consts = calloc((size_t)img->n_consts + 1, sizeof(*vm->consts));
	if (vm->pool == NULL || vm->entries == NULL || vm->packed == NULL ||
	    vm->consts == NULL)
		return msd_diag_no_memory(d);
	for (uint32_t i = 0; err == MSD_OK && i < img->n_funcs; i++)
		err = entry_init(vm, &vm->entries[i], &img->funcs[i], d);
	for (uint32_t i = 0; err == MSD_OK && i < img->n_consts; i++) {
		if (img->consts[i].tensor != NULL)
			err = const_make(img->consts[i].tensor, &vm->consts[i], d);
	}
	return err;
}

/* Free everything with a size that depends on @img. */
static void vm_drop(struct msd_relay_vm *vm, const struct msd_relay_image *img)
{
	for (uint32_t i = 0; vm->entries != NULL && i < img->n_funcs; i++) {
		free(vm->entries[i].name);
		msd_signature_finish(&vm->entries[i].signature);
	}
	for (uint32_t i = 0; vm->consts != NULL && i < img->n_consts; i++)
		msd_any_drop(&vm->consts[i]);
	free(vm->entries);
	free(vm->packed);
	free(vm->consts);
	free(vm->frames);
	free(vm->regs);
	free(vm->args);
	free(vm->refusal);
	msd_storage_pool_close(vm->pool);
	msd_dev_close(vm->dev);
}

msd_err msd_relay_vm_create(struct msd_relay_image *image, struct msd_relay_vm **ret,
			    struct msd_diag *d)
{
	struct msd_relay_vm *vm = calloc(1, sizeof(*vm));

	if (vm == NULL)
		return msd_diag_no_memory(d);
	msd_err err = vm_fill(vm, image, d);
	if (err != MSD_OK) {
		vm_drop(vm, image);
		free(vm);
		return err;
	}
	vm->image = *image;
	*image = (struct msd_relay_image){0};
	*ret = vm;
	return MSD_OK;
}

void msd_relay_vm_link(struct msd_relay_vm *vm,
		       struct msd_function *(*find)(void *ctx, const char *name),
		       void *ctx, struct msd_buf *missing)
{
	for (uint32_t i = 0; i < vm->image.n_packed; i++) {
		char *name = text_of(vm->image.packed[i]);

		vm->packed[i] = name != NULL ? find(ctx, name) : NULL;
		if (name == NULL) {
			missing->bad = true;
		} else if (vm->packed[i] == NULL) {
			msd_buf_printf(missing, "%s%s", missing->n > 0 ? ", " : "",
				       name);
		}
		free(name);
	}
}

msd_err msd_relay_vm_place(struct msd_relay_vm *vm, struct msd_device device,
			   struct msd_diag *d)
{
	const struct msd_relay_image *img = &vm->image;
	const int32_t wanted = img->other_type != 0 && device.type == img->device_type
				       ? img->other_type
				       : img->device_type;
	char one[MSD_DTYPE_NAME_MAX];
	char other[MSD_DTYPE_NAME_MAX];

	for (uint32_t i = 0; i < img->n_funcs; i++)
		vm->entries[i].rules.device = device;
	if (wanted == 0)
		return MSD_OK;
	if (wanted != device.type) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "its tensors are on %s, but the module is on %s:%d",
				    msd_device_type_format(wanted, one),
				    msd_device_type_format(device.type, other),
				    device.id);
	}
	msd_err err = msd_dev_open(device, &vm->dev, d);
	for (uint32_t i = 0; err == MSD_OK && i < img->n_consts; i++) {
		if (vm->consts[i].type == MSD_T_TENSOR &&
		    img->consts[i].device_type == device.type)
			err = msd_dev_tensor_move(vm->dev, &vm->consts[i], d);
	}
	return err;
}

void msd_relay_vm_close(struct msd_relay_vm *vm)
{
	if (vm == NULL)
		return;
	vm_drop(vm, &vm->image);
	msd_relay_image_finish(&vm->image);
	free(vm);
}
