/*
 * A Relax VM created from its image.
 *
 * Happy path: functions get their records, the image becomes instructions and
 * constants (decode.c), signatures are inferred (signature.c). Link finds each packed
 * function by name among the imports and the runtime's functions. Failures: missing
 * names are collected here, not rejected, so that one error can list them all.
 */
#include "runtime/executor/relax/vm.h"

#include <stdlib.h>
#include <string.h>

#include "artifact/params/tensor_blob.h"
#include "runtime/device/captures.h"
#include "runtime/device/device.h"
#include "runtime/executor/relax/params.h"
#include "runtime/module/signature.h"
#include "runtime/value/storage_pool.h"

/* Alignment of tensor data that Relax code assumes. */
#define DATA_ALIGN 64

static char *name_copy(struct msd_span s)
{
	return strndup((const char *)s.p, s.n);
}

static msd_err func_make(struct msd_relax_vm *vm, const struct msd_relax_func *in,
			 enum msd_bool_style bool_style, struct msd_vm_func *f,
			 struct msd_diag *d)
{
	f->vm = vm;
	f->kind = in->kind;
	f->name = name_copy(in->name);
	if (f->name == NULL)
		return msd_diag_no_memory(d);
	msd_function_init(&f->fn, f->name, msd_relax_call);
	f->rules = (struct msd_call_rules){
		.info = {.name = f->name,
			 .style = MSD_FUNC_MODEL,
			 .signature = &f->signature},
		.bool_style = bool_style,
		.data_align = DATA_ALIGN,
	};
	f->fn.rules = &f->rules;
	if (in->kind == MSD_RELAX_PACKED)
		return MSD_OK;
	f->start = (uint32_t)in->start;
	f->end = (uint32_t)in->end;
	f->n_args = (uint32_t)in->n_args;
	f->n_regs = (uint32_t)in->n_regs;
	if (in->kind == MSD_RELAX_BYTECODE)
		return MSD_OK; /* the reader has checked these */
	f->fn.call = msd_relax_vmtir_call;
	if (in->n_args < 0 || in->n_args >= in->n_regs ||
	    in->n_regs > MSD_RELAX_MAX_REGS) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "%s: %lld arguments, but %lld registers", f->name,
				    (long long)in->n_args, (long long)in->n_regs);
	}
	return MSD_OK;
}

/* The second magic and the separate bool type are of the same release, but not of the
 * same commit. The image's own constants are more reliable. */
static enum msd_bool_style bool_style_of(const struct msd_relax_image *img)
{
	for (size_t i = 0; i < img->n_consts; i++) {
		const struct msd_relax_const *k = &img->consts[i];
		struct msd_dtype dtype = {0};

		if (k->kind == MSD_RELAX_DTYPE) {
			dtype = k->as.dtype;
		} else if (k->kind == MSD_RELAX_TENSOR) {
			dtype = k->as.tensor->dtype;
		}
		if (dtype.code == MSD_DT_BOOL)
			return MSD_BOOL_BOOL8;
		if (dtype.code == MSD_DT_UINT && dtype.bits == 1)
			return MSD_BOOL_UINT1;
	}
	return img->is_v2 ? MSD_BOOL_BOOL8 : MSD_BOOL_UINT1;
}

msd_err msd_relax_vm_create(const struct msd_relax_image *img,
			    struct msd_relax_params *params, struct msd_relax_vm **ret,
			    struct msd_diag *d)
{
	struct msd_relax_vm *vm = calloc(1, sizeof(*vm));
	const enum msd_bool_style bool_style = bool_style_of(img);
	msd_err err = MSD_OK;

	if (vm == NULL) {
		msd_relax_params_close(params);
		return msd_diag_no_memory(d);
	}
	vm->params = params;
	vm->memory.pool = msd_storage_pool_create();
	vm->funcs = calloc(img->n_funcs + 1, sizeof(*vm->funcs));
	if (vm->memory.pool == NULL || vm->funcs == NULL)
		err = msd_diag_no_memory(d);
	for (size_t i = 0; err == MSD_OK && i < img->n_funcs; i++) {
		err = func_make(vm, &img->funcs[i], bool_style, &vm->funcs[i], d);
		vm->n_funcs = i + 1;
	}
	if (err == MSD_OK)
		err = msd_relax_decode(vm, img, d);
	if (err == MSD_OK)
		err = msd_relax_learn_signatures(vm, img, d);
	if (err != MSD_OK) {
		msd_relax_vm_close(vm);
		return err;
	}
	*ret = vm;
	return MSD_OK;
}

/* Resolve @f's name; append it to @missing if it is not found. */
static void link_one(struct msd_vm_func *f,
		     struct msd_function *(*find)(void *ctx, const char *name),
		     void *ctx, struct msd_buf *missing)
{
	const char *between = missing->n > 0 ? ", " : "";

	f->target = f->kind == MSD_RELAX_PACKED ? find(ctx, f->name) : &f->fn;
	if (f->target == NULL)
		msd_buf_printf(missing, "%s%s", between, f->name);
	if (f->kind != MSD_RELAX_VMTIR)
		return;
	f->tir = msd_relax_vmtir_find(f, find, ctx);
	if (f->tir == NULL)
		msd_buf_printf(missing, "%s__vmtir__%s", between, f->name);
}

void msd_relax_vm_link(struct msd_relax_vm *vm,
		       struct msd_function *(*find)(void *ctx, const char *name),
		       void *ctx, struct msd_buf *missing)
{
	for (size_t i = 0; i < vm->n_funcs; i++) {
		struct msd_vm_func *f = &vm->funcs[i];

		link_one(f, find, ctx, missing);
		if (f->target != NULL) { /* borrowed from the module that made it */
			vm->values[vm->first_func + i] = (struct msd_any){
				.type = MSD_T_FUNCTION, .as.obj = &f->target->obj};
		}
	}
}

struct msd_vm_func *msd_relax_vm_find(struct msd_relax_vm *vm, const char *name)
{
	for (size_t i = 0; i < vm->n_funcs; i++) {
		struct msd_vm_func *f = &vm->funcs[i];

		if (f->kind != MSD_RELAX_PACKED && strcmp(f->name, name) == 0)
			return f;
	}
	return NULL;
}

void msd_relax_vm_close(struct msd_relax_vm *vm)
{
	if (vm == NULL)
		return;
	for (size_t i = 0; i < vm->n_values; i++) {
		bool is_func = i >= vm->first_func && i < vm->first_func + vm->n_funcs;

		if (!is_func)
			msd_any_drop(&vm->values[i]);
	}
	for (size_t i = 0; i < vm->n_funcs; i++) {
		struct msd_vm_func *f = &vm->funcs[i];

		for (uint32_t k = 0; f->bound != NULL && k < f->rules.n_bound; k++)
			msd_any_drop(&f->bound[k]);
		free(f->bound);
		free(f->name);
		f->signature.n_params += f->rules.n_bound;
		msd_signature_finish(&f->signature);
	}
	free(vm->funcs);
	free(vm->code);
	free(vm->operands);
	free(vm->values);
	free(vm->refusal);
	msd_relax_params_close(vm->params);
	msd_vm_stack_finish(vm);
	msd_captures_free(vm->memory.captures);
	msd_storage_pool_close(vm->memory.pool);
	msd_dev_close(vm->memory.dev);
	free(vm);
}
