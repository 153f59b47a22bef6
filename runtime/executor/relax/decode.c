/* Converts the image's words to instructions that the interpreter runs directly. The
 * image reader has checked every index, and that control stays within its function. */
#include <stdlib.h>
#include <string.h>

#include "artifact/params/tensor_blob.h"
#include "runtime/executor/relax/vm.h"

/* Offsets of the parts of msd_relax_vm.values. */
enum { VALUE_NONE, VALUE_VM, FIRST_CONST = MSD_VM_FIRST_CONST };

/* The blob's bytes are unaligned: compiled code gets a copy. */
static struct msd_obj *tensor_of(const struct msd_tensor_blob *b)
{
	const struct msd_device cpu = {MSD_DEV_CPU, 0};
	struct msd_storage *s = msd_storage_new(b->data.n);
	struct msd_tensor *t;

	if (s == NULL)
		return NULL;
	if (b->data.n > 0)
		memcpy(s->data, b->data.p, b->data.n);
	t = msd_tensor_view(s->data, cpu, b->dtype, b->shape, b->ndim, &s->obj, NULL,
			    NULL);
	msd_obj_unref(&s->obj); /* the tensor holds a reference */
	return t != NULL ? &t->obj : NULL;
}

static msd_err constant_make(const struct msd_relax_const *c, struct msd_any *ret,
			     struct msd_diag *d)
{
	struct msd_shape *shape;
	struct msd_str *str;
	struct msd_obj *obj = NULL;

	switch (c->kind) {
	case MSD_RELAX_INT:
		*ret = msd_int(c->as.i);
		return MSD_OK;
	case MSD_RELAX_FLOAT:
		*ret = msd_float(c->as.f);
		return MSD_OK;
	case MSD_RELAX_DTYPE:
		*ret = (struct msd_any){.type = MSD_T_DTYPE, .as.dtype = c->as.dtype};
		return MSD_OK;
	case MSD_RELAX_TENSOR:
		obj = tensor_of(c->as.tensor);
		break;
	case MSD_RELAX_SHAPE:
		shape = msd_shape_new(c->as.shape.dim, c->as.shape.n);
		obj = shape != NULL ? &shape->obj : NULL;
		break;
	case MSD_RELAX_STR:
		str = msd_str_new((const char *)c->as.str.p, c->as.str.n, MSD_T_STR);
		obj = str != NULL ? &str->obj : NULL;
		break;
	}
	if (obj == NULL)
		return msd_diag_no_memory(d);
	*ret = msd_of_obj(obj);
	return MSD_OK;
}

/* Number of words that may be immediates: they do not look like opcodes, registers or
 * indices. */
static size_t n_immediates(const struct msd_relax_image *img)
{
	size_t n = 0;

	for (size_t i = 0; i < img->n_words; i++)
		n += msd_relax_arg_kind(img->words[i]) == MSD_RELAX_IMM ? 1 : 0;
	return n;
}

static msd_err values_make(struct msd_relax_vm *vm, const struct msd_relax_image *img,
			   struct msd_diag *d)
{
	size_t cap = FIRST_CONST + img->n_consts + img->n_funcs + n_immediates(img);

	if (cap >= INT32_MAX || img->n_words >= INT32_MAX) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "code of %zu words is too large", img->n_words);
	}
	vm->values = calloc(cap, sizeof(*vm->values));
	vm->operands = calloc(img->n_words + 1, sizeof(*vm->operands));
	vm->code = calloc(img->n_instrs + 1, sizeof(*vm->code));
	if (vm->values == NULL || vm->operands == NULL || vm->code == NULL)
		return msd_diag_no_memory(d);
	vm->n_code = img->n_instrs;
	vm->values[VALUE_VM] =
		(struct msd_any){.type = MSD_T_POINTER, .as.p = &vm->memory};
	vm->n_values = FIRST_CONST;
	for (size_t i = 0; i < img->n_consts; i++) {
		msd_err err =
			constant_make(&img->consts[i], &vm->values[vm->n_values], d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "constant %zu", i);
		vm->n_values++;
	}
	vm->first_func = vm->n_values;
	vm->n_values += img->n_funcs; /* filled by the link */
	return MSD_OK;
}

static msd_vm_operand operand_of_value(size_t i)
{
	return ~(msd_vm_operand)i;
}

static msd_vm_operand operand_of_register(int64_t reg)
{
	if (reg == MSD_RELAX_VOID_REG)
		return operand_of_value(VALUE_NONE);
	if (reg == MSD_RELAX_VM_REG)
		return operand_of_value(VALUE_VM);
	return (msd_vm_operand)reg;
}

static msd_vm_operand operand_of_word(struct msd_relax_vm *vm, int64_t word)
{
	int64_t v = msd_relax_arg_value(word);

	switch (msd_relax_arg_kind(word)) {
	case MSD_RELAX_CONST:
		return operand_of_value(FIRST_CONST + (size_t)v);
	case MSD_RELAX_FUNC:
		return operand_of_value(vm->first_func + (size_t)v);
	case MSD_RELAX_IMM:
		vm->values[vm->n_values] = msd_int(v);
		return operand_of_value(vm->n_values++);
	case MSD_RELAX_REG:
		break;
	}
	return operand_of_register(v);
}

/* A register to write: -1 for special registers; writes to them are ignored. */
static int32_t destination(int64_t reg)
{
	return reg >= MSD_RELAX_VOID_REG ? -1 : (int32_t)reg;
}

static void decode_call(struct msd_relax_vm *vm, const int64_t *w,
			struct msd_vm_ins *ins)
{
	const struct msd_vm_func *callee = &vm->funcs[w[2]];

	ins->op = callee->kind == MSD_RELAX_BYTECODE ? MSD_VM_CALL_VM : MSD_VM_CALL;
	ins->dst = destination(w[1]);
	ins->callee = (uint32_t)w[2];
	ins->n_args = (uint32_t)w[3];
	ins->args = (uint32_t)vm->n_operands;
	if (ins->n_args == 0 && strcmp(callee->name, "vm.builtin.null_value") == 0)
		ins->op = MSD_VM_CLEAR;
	for (uint32_t i = 0; i < ins->n_args; i++)
		vm->operands[vm->n_operands++] = operand_of_word(vm, w[4 + i]);
}

static void decode_one(struct msd_relax_vm *vm, const int64_t *w, uint32_t pc)
{
	struct msd_vm_ins *ins = &vm->code[pc];

	switch (w[0]) {
	case MSD_RELAX_CALL:
		decode_call(vm, w, ins);
		return;
	case MSD_RELAX_RET:
		ins->op = MSD_VM_RET;
		ins->value = operand_of_register(w[1]);
		return;
	case MSD_RELAX_GOTO:
		ins->op = MSD_VM_GOTO;
		ins->target = (uint32_t)(pc + w[1]);
		return;
	default: /* MSD_RELAX_IF: the reader rejects other opcodes */
		ins->op = MSD_VM_IF;
		ins->value = operand_of_register(w[1]);
		ins->target = (uint32_t)(pc + w[2]);
	}
}

/* Functions of a hostile image may share instructions. Each instruction is decoded
 * once, so there are never more operands than words. */
static void decode_func(struct msd_relax_vm *vm, const struct msd_relax_image *img,
			struct msd_vm_func *f, bool *is_decoded)
{
	for (uint32_t pc = f->start; pc < f->end; pc++) {
		if (!is_decoded[pc])
			decode_one(vm, &img->words[img->offsets[pc]], pc);
		is_decoded[pc] = true;
		if (vm->code[pc].n_args > f->n_scratch)
			f->n_scratch = vm->code[pc].n_args;
	}
}

msd_err msd_relax_decode(struct msd_relax_vm *vm, const struct msd_relax_image *img,
			 struct msd_diag *d)
{
	msd_err err = values_make(vm, img, d);
	bool *is_decoded;

	if (err != MSD_OK)
		return err;
	is_decoded = calloc(img->n_instrs + 1, sizeof(*is_decoded));
	if (is_decoded == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < vm->n_funcs; i++) {
		if (vm->funcs[i].kind == MSD_RELAX_BYTECODE)
			decode_func(vm, img, &vm->funcs[i], is_decoded);
	}
	free(is_decoded);
	return MSD_OK;
}
