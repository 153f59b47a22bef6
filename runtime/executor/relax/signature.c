/*
 * Infers the parameters of a VM function from its code. Compiled functions begin with
 * checks (check_tensor_info, match_shape, ...) with immediates and constants as
 * operands. The last operand quotes the source: "ErrorContext(fn=main, loc=param[0],
 * param=x, annotation=R.Tensor((n, 4), dtype="float32"))". Nothing is executed for
 * this.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/relax/annotation.h"
#include "runtime/executor/relax/params.h"

/* State while one function is read. */
struct learner {
	const struct msd_relax_vm *vm;
	struct msd_vm_func *func;
	struct msd_span *annotations; /* per parameter; empty if unknown */
	struct msd_span ret_annotation;
};

/* Operand @i of a call if it is a constant or an immediate, else NULL. */
static const struct msd_any *constant_at(const struct msd_relax_vm *vm,
					 const struct msd_vm_ins *ins, uint32_t i)
{
	msd_vm_operand op;

	if (i >= ins->n_args)
		return NULL;
	op = vm->operands[ins->args + i];
	return op < 0 ? &vm->values[~op] : NULL;
}

static bool int_const(const struct msd_relax_vm *vm, const struct msd_vm_ins *ins,
		      uint32_t i, int64_t *ret)
{
	const struct msd_any *v = constant_at(vm, ins, i);

	if (v == NULL || v->type != MSD_T_INT)
		return false;
	*ret = v->as.i;
	return true;
}

static void learn_tensor(const struct msd_relax_vm *vm, const struct msd_vm_ins *ins,
			 struct msd_param *p)
{
	const struct msd_any *dtype = ins->n_args == 4 ? constant_at(vm, ins, 2) : NULL;
	int64_t ndim;

	p->kind = MSD_P_TENSOR;
	if (int_const(vm, ins, 1, &ndim) && ndim >= 0 && ndim <= MSD_MAX_NDIM)
		p->ndim = (int32_t)ndim;
	if (dtype != NULL && dtype->type == MSD_T_DTYPE && dtype->as.dtype.bits != 0) {
		p->has_dtype = true;
		p->dtype = dtype->as.dtype;
	}
}

/* match_shape(x, heap, n, (code, value) * n, context): code 0 fixes an extent. */
static bool learn_extents(const struct msd_relax_vm *vm, const struct msd_vm_ins *ins,
			  struct msd_param *p)
{
	int64_t code;
	int64_t value;
	int64_t ndim;

	if (!int_const(vm, ins, 2, &ndim) || ndim < 0 || ndim > MSD_MAX_NDIM ||
	    p->shape != NULL || (p->ndim >= 0 && p->ndim != ndim))
		return true;
	p->shape = malloc(((size_t)ndim + 1) * sizeof(*p->shape));
	if (p->shape == NULL)
		return false;
	p->ndim = (int32_t)ndim;
	for (uint32_t i = 0; i < (uint32_t)ndim; i++) {
		bool is_fixed = int_const(vm, ins, 3 + 2 * i, &code) && code == 0 &&
				int_const(vm, ins, 4 + 2 * i, &value) && value >= 0;
		p->shape[i] = is_fixed ? value : -1;
	}
	return true;
}

static void learn_prim(const struct msd_relax_vm *vm, const struct msd_vm_ins *ins,
		       struct msd_param *p)
{
	const struct msd_any *v = constant_at(vm, ins, 1);

	p->kind = MSD_P_OTHER;
	if (v == NULL || v->type != MSD_T_DTYPE)
		return;
	p->has_dtype = true;
	p->dtype = v->as.dtype;
	bool is_bool = p->dtype.code == MSD_DT_BOOL ||
		       (p->dtype.code == MSD_DT_UINT && p->dtype.bits == 1);
	bool is_float = p->dtype.code == MSD_DT_FLOAT || p->dtype.code == MSD_DT_BFLOAT;
	if (p->dtype.code != MSD_DT_HANDLE)
		p->kind = is_bool ? MSD_P_BOOL : is_float ? MSD_P_FLOAT : MSD_P_INT;
}

/* Learn from one check of parameter @p. False if memory is short. */
static bool learn_param(const struct msd_relax_vm *vm, const struct msd_vm_ins *ins,
			const char *check, struct msd_param *p)
{
	static const struct {
		const char *check;
		enum msd_kind_hint kind;
	} plain[] = {
		{"check_shape_info", MSD_P_SHAPE},
		{"check_tuple_info", MSD_P_TUPLE},
		{"check_string_info", MSD_P_STR},
		{"check_func_info", MSD_P_OTHER},
	};

	if (strcmp(check, "match_shape") == 0)
		return learn_extents(vm, ins, p);
	if (strcmp(check, "check_tensor_info") == 0)
		learn_tensor(vm, ins, p);
	if (strcmp(check, "check_prim_value_info") == 0)
		learn_prim(vm, ins, p);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (strcmp(check, plain[i].check) == 0)
			p->kind = plain[i].kind;
	}
	return true;
}

/* Learn from one call: a check of a parameter, a check of the result, or neither. */
static bool learn_call(struct learner *l, const struct msd_vm_ins *ins,
		       bool is_prologue)
{
	static const char prefix[] = "vm.builtin.";
	static const char at_return[] = "loc=return";
	const char *name = l->vm->funcs[ins->callee].name;
	const struct msd_any *last;
	struct msd_span ctx;

	if (ins->n_args == 0 || strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return true;
	last = constant_at(l->vm, ins, ins->n_args - 1);
	if (last == NULL || !msd_any_str(last, &ctx))
		return true;
	if (memmem(ctx.p, ctx.n, at_return, sizeof(at_return) - 1) != NULL) {
		l->ret_annotation = msd_relax_annotation(ctx);
		return true;
	}
	msd_vm_operand subject = l->vm->operands[ins->args];
	if (!is_prologue || subject < 0 || (uint32_t)subject >= l->func->n_args)
		return true;
	if (l->annotations[subject].n == 0)
		l->annotations[subject] = msd_relax_annotation(ctx);
	return learn_param(l->vm, ins, name + sizeof(prefix) - 1,
			   &l->func->signature.params[subject]);
}

static bool learn_code(struct learner *l)
{
	bool is_prologue = true;

	for (uint32_t pc = l->func->start; pc < l->func->end; pc++) {
		const struct msd_vm_ins *ins = &l->vm->code[pc];

		if (ins->op == MSD_VM_CALL && !learn_call(l, ins, is_prologue))
			return false;
		/* After a branch or an overwritten parameter, checks may refer to
		 * other values. */
		if (ins->op >= MSD_VM_RET ||
		    (ins->dst >= 0 && (uint32_t)ins->dst < l->func->n_args))
			is_prologue = false;
	}
	return true;
}

/* "main(x: Tensor([n, 4], float32), y) -> Tensor([n], float32)" */
static bool compose_text(struct learner *l)
{
	struct msd_signature *s = &l->func->signature;
	struct msd_buf b = {0};

	msd_buf_printf(&b, "%s(", l->func->name);
	for (size_t i = 0; i < s->n_params; i++) {
		msd_buf_printf(&b, "%s%s", i > 0 ? ", " : "", s->params[i].name);
		if (l->annotations[i].n > 0)
			msd_buf_printf(&b, ": ");
		msd_relax_put_annotation(&b, l->annotations[i]);
	}
	msd_buf_printf(&b, l->ret_annotation.n > 0 ? ") -> " : ")");
	msd_relax_put_annotation(&b, l->ret_annotation);
	msd_buf_put_u8(&b, 0);
	if (b.bad) {
		msd_buf_finish(&b);
		return false;
	}
	s->text = (char *)b.p; /* moved */
	return true;
}

/* Parameter @i's name from the image, or arg<i>. */
static char *param_name(const struct msd_relax_func *in, size_t i)
{
	char *name;

	if (i < in->n_params && in->params[i].n > 0)
		return strndup((const char *)in->params[i].p, in->params[i].n);
	return asprintf(&name, "arg%zu", i) < 0 ? NULL : name;
}

static bool learn_func(const struct msd_relax_vm *vm, struct msd_vm_func *f,
		       const struct msd_relax_func *in)
{
	struct msd_signature *s = &f->signature;
	struct learner l = {.vm = vm, .func = f};
	bool is_ok;

	s->known = true;
	s->params = calloc((size_t)f->n_args + 1, sizeof(*s->params));
	l.annotations = calloc((size_t)f->n_args + 1, sizeof(*l.annotations));
	is_ok = s->params != NULL && l.annotations != NULL;
	for (size_t i = 0; is_ok && i < f->n_args; i++) {
		s->params[i].ndim = -1;
		s->params[i].name = param_name(in, i);
		is_ok = s->params[i].name != NULL;
		s->n_params = i + 1;
	}
	is_ok = is_ok && (f->kind != MSD_RELAX_BYTECODE || learn_code(&l));
	if (is_ok) {
		f->rules.n_bound = msd_relax_params_count(vm->params, f, in);
		s->n_params -= f->rules.n_bound;
	}
	is_ok = is_ok && compose_text(&l);
	free(l.annotations);
	return is_ok;
}

msd_err msd_relax_learn_signatures(struct msd_relax_vm *vm,
				   const struct msd_relax_image *img,
				   struct msd_diag *d)
{
	for (size_t i = 0; i < vm->n_funcs; i++) {
		if (vm->funcs[i].kind != MSD_RELAX_PACKED &&
		    !learn_func(vm, &vm->funcs[i], &img->funcs[i])) {
			return msd_diag_set(d, MSD_NOMEM,
					    "out of memory for the signature of %s",
					    vm->funcs[i].name);
		}
	}
	return MSD_OK;
}
