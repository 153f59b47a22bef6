/*
 * The interpreter. A call between VM functions pushes a frame and continues in the
 * same loop; only packed functions run on the C stack. On failure the path of VM
 * functions and instructions is put before the error: "main: pc 12: loop: pc 3:
 * vm.builtin.match_shape: <the callee's text>".
 */
#include <stdlib.h>

#include "runtime/executor/relax/context.h"
#include "runtime/executor/relax/vm.h"
#include "runtime/value/error.h"

#define PATH_OUTER 3 /* outermost frames named in an error */
#define PATH_INNER 2 /* innermost frames named in an error */

static inline const struct msd_any *
operand_at(const struct msd_relax_vm *vm, const struct msd_any *regs, msd_vm_operand op)
{
	return op >= 0 ? &regs[op] : &vm->values[~op];
}

/* Store @v into a register; takes over its reference. */
static inline void register_set(struct msd_any *regs, int32_t dst, struct msd_any v)
{
	struct msd_any old;

	if (dst < 0) {
		msd_any_drop(&v);
		return;
	}
	old = regs[dst];
	regs[dst] = v;
	if (old.type >= MSD_T_OBJECT)
		msd_obj_unref(old.as.obj);
}

/* Prefix the thread's error with "main: pc 4: ..." for the frames from @base on. */
static void error_wrap(struct msd_relax_vm *vm, size_t base, const char *callee)
{
	struct msd_buf path = {0};
	struct msd_diag d = {0};

	if (base == 0 && vm->n_frames == 1 && callee != NULL &&
	    msd_relax_blame_argument(vm->frames[0].func->name))
		return;
	msd_err err = msd_abi_fetch_error(&d);
	for (size_t i = base; i < vm->n_frames; i++) {
		const struct msd_vm_frame *f = &vm->frames[i];

		if (i == base + PATH_OUTER && vm->n_frames - i > PATH_INNER) {
			i = vm->n_frames - PATH_INNER - 1;
			msd_buf_printf(&path, "...: ");
			continue;
		}
		if (i > base) /* the caller names the outermost one */
			msd_buf_printf(&path, "%s: ", f->func->name);
		msd_buf_printf(&path, "pc %u: ", (unsigned)(f->pc - f->func->start));
	}
	if (callee != NULL)
		msd_buf_printf(&path, "%s: ", callee);
	(void)msd_abi_raise_code(err, "%.*s%s", path.bad ? 0 : (int)path.n,
				 path.p != NULL ? (const char *)path.p : "",
				 msd_diag_text(&d));
	msd_buf_finish(&path);
	msd_diag_finish(&d);
}

static int frame_enter_short(struct msd_relax_vm *vm, const struct msd_vm_func *f,
			     const struct msd_any *args, uint32_t n);

/* Push a frame for @f with @args in its first registers. On failure nothing is
 * pushed. */
static int frame_enter(struct msd_relax_vm *vm, const struct msd_vm_func *f,
		       const struct msd_any *args, uint32_t n)
{
	if (n != f->n_args)
		return frame_enter_short(vm, f, args, n);
	if (!msd_vm_push(vm, f))
		return -1;
	struct msd_any *regs = vm->frames[vm->n_frames - 1].regs;
	for (uint32_t i = 0; i < n; i++) {
		if (!msd_any_copy(&args[i], &regs[i])) {
			msd_vm_pop(vm);
			return msd_abi_raise_code(MSD_NOMEM,
						  "out of memory for argument %u",
						  (unsigned)i);
		}
	}
	return 0;
}

/* The same for a caller that left out the bound arguments, or sent a wrong number. */
static __attribute__((noinline)) int frame_enter_short(struct msd_relax_vm *vm,
						       const struct msd_vm_func *f,
						       const struct msd_any *args,
						       uint32_t n)
{
	struct msd_any *all = msd_relax_add_bound(f, args, (int32_t)n);
	const int rc = all != NULL ? frame_enter(vm, f, all, f->n_args) : -1;

	free(all);
	return rc;
}

/* Gather the arguments of @ins after the registers of the frame. */
static const struct msd_any *args_gather(const struct msd_relax_vm *vm,
					 const struct msd_vm_frame *f,
					 const struct msd_vm_ins *ins)
{
	const msd_vm_operand *op = &vm->operands[ins->args];
	struct msd_any *args = &f->regs[f->func->n_regs];

	for (uint32_t i = 0; i < ins->n_args; i++)
		args[i] = *operand_at(vm, f->regs, op[i]);
	return args;
}

/* Reject objects that compiled code would take for tensors; builtins check this
 * themselves. The text names the callee. */
static int refuse_objects(const struct msd_function *target, const struct msd_any *args,
			  uint32_t n)
{
	struct msd_diag d = {0};
	msd_err err = MSD_OK;

	for (uint32_t i = 0; i < n && target->rules != NULL && err == MSD_OK; i++) {
		if (args[i].type >= MSD_T_OBJECT && args[i].type != MSD_T_TENSOR)
			err = msd_check_args(target->rules, args, n, &d);
	}
	if (err != MSD_OK)
		(void)msd_abi_raise_code(err, "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
	return err == MSD_OK ? 0 : -1;
}

/* On failure *@ret_callee is the function's name if it was called. */
static int step_call(struct msd_relax_vm *vm, const struct msd_vm_frame *f,
		     const struct msd_vm_ins *ins, const char **ret_callee)
{
	struct msd_function *target = vm->funcs[ins->callee].target;
	struct msd_any *regs = f->regs; /* frames may move under a nested call */
	struct msd_any result = msd_none();
	const struct msd_any *args = args_gather(vm, f, ins);

	if (refuse_objects(target, args, ins->n_args) != 0)
		return -1;
	if (target->call(target, args, (int32_t)ins->n_args, &result) != 0) {
		msd_any_drop(&result);
		*ret_callee = target->name;
		return -1;
	}
	register_set(regs, ins->dst, result);
	return 0;
}

/* Pop the top frame with the value of @op. True if it was the frame at @base; then
 * @ret has the value. */
static int step_return(struct msd_relax_vm *vm, size_t base, msd_vm_operand op,
		       struct msd_any *ret, bool *ret_is_done)
{
	struct msd_vm_frame *f = &vm->frames[vm->n_frames - 1];
	struct msd_any v;

	if (!msd_any_copy(operand_at(vm, f->regs, op), &v))
		return msd_abi_no_memory();
	msd_vm_pop(vm);
	*ret_is_done = vm->n_frames == base;
	if (*ret_is_done) {
		*ret = v;
		return 0;
	}
	f = &vm->frames[vm->n_frames - 1]; /* the caller's pc is at its call */
	register_set(f->regs, vm->code[f->pc].dst, v);
	f->pc++;
	return 0;
}

static int is_true(const struct msd_any *v, bool *ret)
{
	if (v->type != MSD_T_BOOL && v->type != MSD_T_INT) {
		return msd_abi_raise("TypeError", "if: expected a bool but got %s",
				     msd_type_name(v->type));
	}
	*ret = v->as.i != 0;
	return 0;
}

/* Run the top frame until the one at @base returns. Returns 0, or -1 with the error
 * raised; *@ret_callee then names the packed function that failed, if any. */
static int run(struct msd_relax_vm *vm, size_t base, struct msd_any *ret,
	       const char **ret_callee)
{
	bool is_done = false;
	bool cond = false;

	while (!is_done) {
		struct msd_vm_frame *f = &vm->frames[vm->n_frames - 1];
		const struct msd_vm_ins *ins = &vm->code[f->pc];

		switch ((enum msd_vm_op)ins->op) {
		case MSD_VM_CLEAR:
			register_set(f->regs, ins->dst, msd_none());
			f->pc++;
			break;
		case MSD_VM_CALL:
			f->pc++; /* before the call: frames may move in it */
			if (step_call(vm, f, ins, ret_callee) != 0) {
				vm->frames[vm->n_frames - 1].pc--;
				return -1;
			}
			break;
		case MSD_VM_CALL_VM:
			if (frame_enter(vm, &vm->funcs[ins->callee],
					args_gather(vm, f, ins), ins->n_args) != 0)
				return -1;
			break;
		case MSD_VM_RET:
			if (step_return(vm, base, ins->value, ret, &is_done) != 0)
				return -1;
			break;
		case MSD_VM_GOTO:
			f->pc = ins->target;
			break;
		case MSD_VM_IF:
			if (is_true(operand_at(vm, f->regs, ins->value), &cond) != 0)
				return -1;
			f->pc = cond ? f->pc + 1 : ins->target;
			break;
		}
	}
	return 0;
}

int msd_relax_call(void *self, const struct msd_any *args, int32_t n,
		   struct msd_any *ret)
{
	const struct msd_vm_func *f = self; /* fn is its first member */
	struct msd_relax_vm *vm = f->vm;
	const char *callee = NULL;
	size_t base = vm->n_frames;
	int rc;

	if (vm->nested >= MSD_RELAX_MAX_NESTED) {
		return msd_abi_raise("RuntimeError", "closures nest deeper than %u",
				     MSD_RELAX_MAX_NESTED);
	}
	if (frame_enter(vm, f, args, (uint32_t)n) != 0)
		return -1;
	vm->nested++;
	rc = run(vm, base, ret, &callee);
	vm->nested--;
	if (rc != 0) {
		error_wrap(vm, base, callee);
		while (vm->n_frames > base)
			msd_vm_pop(vm);
	}
	return rc;
}
