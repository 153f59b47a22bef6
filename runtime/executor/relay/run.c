/*
 * The interpreter. A call of a VM function pushes a frame and continues in the same
 * loop; only compiled functions run on the C stack. On failure the VM functions and
 * instructions are put before the error: "pc 12: loop: pc 3: <the callee's text>".
 */

#include "proto/base/grow.h"
#include "runtime/executor/relay/vm.h"
#include "runtime/value/error.h"

#define PATH_FRAMES 4 /* frames named in an error, starting with the outermost */

static struct msd_relay_frame *top(struct msd_relay_vm *vm)
{
	return &vm->frames[vm->n_frames - 1];
}

static bool reserve(struct msd_relay_vm *vm, uint32_t n_regs)
{
	return msd_reserve(&vm->frames, &vm->cap_frames, vm->n_frames + 1,
			   sizeof(*vm->frames)) &&
	       msd_reserve(&vm->regs, &vm->cap_regs, vm->n_regs + n_regs,
			   sizeof(*vm->regs));
}

/* Push a frame for @func with its registers None. Registers may move. */
static int push(struct msd_relay_vm *vm, const struct msd_relay_func *func,
		uint32_t dst)
{
	if (vm->n_frames >= MSD_RELAY_MAX_DEPTH) {
		return msd_abi_raise("RecursionError", "more than %u calls deep",
				     MSD_RELAY_MAX_DEPTH);
	}
	if (!reserve(vm, func->n_regs))
		return msd_abi_no_memory();
	vm->frames[vm->n_frames++] =
		(struct msd_relay_frame){.func = func, .base = vm->n_regs, .dst = dst};
	for (uint32_t i = 0; i < func->n_regs; i++)
		vm->regs[vm->n_regs + i] = msd_none();
	vm->n_regs += func->n_regs;
	return 0;
}

static void pop(struct msd_relay_vm *vm)
{
	const struct msd_relay_frame *f = top(vm);

	for (size_t i = f->base; i < vm->n_regs; i++)
		msd_any_drop(&vm->regs[i]);
	vm->n_regs = f->base;
	vm->n_frames--;
}

/* Pass @v, a register of the caller or a closure's variable, as parameter @i. */
static int pass(struct msd_relay_vm *vm, uint32_t i, const struct msd_any *v)
{
	return msd_any_copy(v, &vm->regs[top(vm)->base + i]) ? 0 : msd_abi_no_memory();
}

static int invoke(struct msd_relay_vm *vm, const struct msd_relay_ins *ins)
{
	const int64_t *f = ins->fields;
	const size_t base = top(vm)->base;

	if (push(vm, &vm->image.funcs[f[0]], (uint32_t)f[2]) != 0)
		return -1;
	for (int64_t i = 0; i < f[1]; i++) {
		if (pass(vm, (uint32_t)i, &vm->regs[base + (size_t)f[3 + i]]) != 0)
			return -1;
	}
	return 0;
}

static int invoke_closure(struct msd_relay_vm *vm, const struct msd_relay_ins *ins)
{
	const int64_t *f = ins->fields;
	const size_t base = top(vm)->base;
	const struct msd_any closure = vm->regs[base + (size_t)f[0]];
	const struct msd_array *a = closure.as.p;

	if (closure.type != MSD_T_CLOSURE) {
		return msd_abi_raise("TypeError", "expected a closure, got %s",
				     msd_type_name(closure.type));
	}
	const struct msd_relay_func *func = &vm->image.funcs[a->items[0].as.i];
	const uint32_t n_free = (uint32_t)a->size - 1;
	if (func->n_params != n_free + (uint64_t)f[1]) {
		return msd_abi_raise("TypeError",
				     "a closure called with %u arguments "
				     "takes %u",
				     (unsigned)f[1], func->n_params - n_free);
	}
	if (push(vm, func, (uint32_t)f[2]) != 0)
		return -1;
	for (uint32_t i = 0; i < n_free; i++) {
		if (pass(vm, i, &a->items[i + 1]) != 0)
			return -1;
	}
	for (int64_t i = 0; i < f[1]; i++) {
		if (pass(vm, n_free + (uint32_t)i,
			 &vm->regs[base + (size_t)f[3 + i]]) != 0)
			return -1;
	}
	return 0;
}

/* Pop the top frame and pass its result to the caller, or at @floor to *@ret. */
static int leave(struct msd_relay_vm *vm, int64_t value, size_t floor,
		 struct msd_any *ret)
{
	struct msd_any *reg = &vm->regs[top(vm)->base + (size_t)value];
	const uint32_t dst = top(vm)->dst;
	struct msd_any v = *reg;

	*reg = msd_none();
	pop(vm);
	if (vm->n_frames == floor) {
		const int rc = msd_relay_give(&v, ret);
		msd_any_drop(&v);
		return rc;
	}
	reg = &vm->regs[top(vm)->base + dst];
	msd_any_drop(reg);
	*reg = v;
	top(vm)->pc++;
	return 0;
}

static int branch(struct msd_relay_vm *vm, const struct msd_relay_ins *ins)
{
	const int64_t *f = ins->fields;
	const struct msd_any *regs = &vm->regs[top(vm)->base];
	int64_t test, target;

	if (msd_relay_scalar(&regs[f[0]], &test) != 0 ||
	    msd_relay_scalar(&regs[f[1]], &target) != 0)
		return -1;
	top(vm)->pc = (uint32_t)((int64_t)top(vm)->pc + (test == target ? f[2] : f[3]));
	return 0;
}

static int run(struct msd_relay_vm *vm, size_t floor, struct msd_any *ret)
{
	int rc = 0;

	while (rc == 0 && vm->n_frames > floor) {
		struct msd_relay_frame *f = top(vm);
		const struct msd_relay_ins *ins = &f->func->code[f->pc];

		switch ((int)ins->op) {
		case MSD_RELAY_RET:
			rc = leave(vm, ins->fields[0], floor, ret);
			break;
		case MSD_RELAY_INVOKE:
			rc = invoke(vm, ins);
			break;
		case MSD_RELAY_INVOKE_CLOSURE:
			rc = invoke_closure(vm, ins);
			break;
		case MSD_RELAY_IF:
			rc = branch(vm, ins);
			break;
		case MSD_RELAY_GOTO:
			f->pc = (uint32_t)((int64_t)f->pc + ins->fields[0]);
			break;
		default:
			rc = msd_relay_step(vm, ins, &vm->regs[f->base]);
			f->pc += rc == 0;
			break;
		}
	}
	return rc;
}

static const char *packed_name(const struct msd_relay_vm *vm,
			       const struct msd_relay_frame *f)
{
	const struct msd_relay_ins *ins = &f->func->code[f->pc];

	return ins->op == MSD_RELAY_INVOKE_PACKED ? vm->packed[ins->fields[0]]->name
						  : NULL;
}

/* Prefix the thread's error with its location. */
static void error_wrap(struct msd_relay_vm *vm, size_t floor)
{
	struct msd_buf path = {0};
	struct msd_diag d = {0};
	msd_err err = msd_abi_fetch_error(&d);

	for (size_t i = floor; i < vm->n_frames; i++) {
		const struct msd_relay_frame *f = &vm->frames[i];
		const bool is_last = i + 1 == vm->n_frames;
		const char *packed = is_last ? packed_name(vm, f) : NULL;

		if (i >= floor + PATH_FRAMES && !is_last)
			continue;
		if (i > floor) {
			msd_buf_printf(&path, "%.*s: ", (int)f->func->name.n,
				       (const char *)f->func->name.p);
		}
		msd_buf_printf(&path, "pc %u: %s%s", f->pc,
			       packed != NULL ? packed : "",
			       packed != NULL ? ": " : "");
	}
	(void)msd_abi_raise_code(err, "%.*s%s", path.bad ? 0 : (int)path.n,
				 path.p != NULL ? (const char *)path.p : "",
				 msd_diag_text(&d));
	msd_buf_finish(&path);
	msd_diag_finish(&d);
}

static int enter(struct msd_relay_vm *vm, const struct msd_relay_func *func,
		 const struct msd_any *args, int32_t n)
{
	if (n < 0 || (uint32_t)n != func->n_params) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "expected %u arguments but got %d",
					  func->n_params, n);
	}
	if (push(vm, func, 0) != 0)
		return -1;
	for (int32_t i = 0; i < n; i++) {
		if (msd_relay_take(vm, func->param_types[i], &args[i],
				   &vm->regs[top(vm)->base + (size_t)i]) != 0)
			return -1;
	}
	return 0;
}

int msd_relay_call(void *self, const struct msd_any *args, int32_t n,
		   struct msd_any *ret)
{
	const struct msd_relay_entry *entry = self;
	struct msd_relay_vm *vm = entry->vm;
	const size_t floor = vm->n_frames;

	if (vm->refusal != NULL)
		return msd_abi_raise_code(MSD_UNSUPPORTED, "%s", vm->refusal);
	int rc = enter(vm, &vm->image.funcs[entry - vm->entries], args, n);
	if (rc == 0) {
		rc = run(vm, floor, ret);
		if (rc != 0)
			error_wrap(vm, floor);
	}
	while (vm->n_frames > floor)
		pop(vm);
	return rc;
}
