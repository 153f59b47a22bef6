/*
 * Functions in compiled mode (exec_mode="compiled"): compiled code instead of
 * bytecode. It works on the VM's registers, constants and functions, each an array of
 * values, through the TVMBackendAnyList* hooks. The result is in the register after
 * the arguments.
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/executor/relax/context.h"
#include "runtime/executor/relax/vm.h"
#include "runtime/value/error.h"

struct msd_function *
msd_relax_vmtir_find(const struct msd_vm_func *f,
		     struct msd_function *(*find)(void *ctx, const char *name),
		     void *ctx)
{
	struct msd_function *fn;
	char *symbol = NULL;

	if (asprintf(&symbol, "__vmtir__%s", f->name) < 0)
		return NULL;
	fn = find(ctx, symbol);
	free(symbol);
	return fn;
}

static struct msd_any pointer(void *p)
{
	return (struct msd_any){.type = MSD_T_POINTER, .as.p = p};
}

static int run(const struct msd_vm_func *f, struct msd_any *regs, struct msd_any *ret)
{
	struct msd_relax_vm *vm = f->vm;
	const struct msd_any lists[] = {
		pointer(&vm->memory), pointer(msd_list_handle(regs, vm->lists)),
		pointer(msd_list_handle(&vm->values[MSD_VM_FIRST_CONST], vm->lists)),
		pointer(msd_list_handle(&vm->values[vm->first_func], vm->lists))};
	struct msd_any ignored = msd_none();
	int rc = f->tir->call(f->tir, lists, 4, &ignored);

	msd_any_drop(&ignored);
	if (rc != 0)
		return rc;
	*ret = regs[f->n_args];
	regs[f->n_args] = msd_none();
	return 0;
}

int msd_relax_vmtir_call(void *self, const struct msd_any *args, int32_t n,
			 struct msd_any *ret)
{
	const struct msd_vm_func *f = self;
	struct msd_relax_vm *vm = f->vm;
	int rc = 0;

	if (vm->nested >= MSD_RELAX_MAX_NESTED) {
		return msd_abi_raise("RuntimeError", "functions nest deeper than %u",
				     MSD_RELAX_MAX_NESTED);
	}
	if (n < 0 || (uint32_t)n != f->n_args) {
		struct msd_any *all = msd_relax_add_bound(f, args, n);

		if (all != NULL)
			rc = msd_relax_vmtir_call(self, all, (int32_t)f->n_args, ret);
		free(all);
		return all != NULL ? rc : -1;
	}
	if (!msd_vm_push(vm, f))
		return -1;
	struct msd_any *regs = vm->frames[vm->n_frames - 1].regs;
	for (int32_t i = 0; rc == 0 && i < n; i++) {
		if (!msd_any_copy(&args[i], &regs[i]))
			rc = msd_abi_no_memory();
	}
	vm->nested++;
	if (rc == 0)
		rc = run(f, regs, ret);
	vm->nested--;
	msd_vm_pop(vm);
	if (rc != 0 && vm->n_frames == 0)
		(void)msd_relax_blame_argument(f->name);
	return rc;
}
