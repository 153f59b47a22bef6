/*
 * Infers types that the code does not state: those of a function's parameters and
 * result. A parameter passed unchanged to a compiled function has that function's
 * type. A result that the code allocates has the type of the allocation.
 */
#include "runtime/module/signature.h"

#include <stdlib.h>
#include <string.h>

#include "proto/type_text.h"
#include "runtime/executor/relay/vm.h"

/* The parameter type of the argument in register @reg, according to the compiled
 * function that @ins calls. */
static const struct msd_param *param_of_call(const struct msd_relay_vm *vm,
					     const struct msd_relay_ins *ins,
					     int64_t reg)
{
	const struct msd_function *fn = vm->packed[ins->fields[0]];
	const struct msd_signature *s =
		fn != NULL && fn->rules != NULL ? fn->rules->info.signature : NULL;

	if (s == NULL || !s->known || s->n_params != (uint64_t)ins->fields[1])
		return NULL; /* not known, or a tuple among the arguments */
	for (int64_t i = 0; i < ins->fields[1]; i++) {
		if (ins->fields[3 + i] == reg && s->params[i].kind == MSD_P_TENSOR)
			return &s->params[i];
	}
	return NULL;
}

static const struct msd_param *find_use(const struct msd_relay_vm *vm,
					const struct msd_relay_func *f, int64_t reg)
{
	const struct msd_param *p = NULL;

	for (uint32_t i = 0; p == NULL && i < f->n_code; i++) {
		if (f->code[i].op == MSD_RELAY_INVOKE_PACKED)
			p = param_of_call(vm, &f->code[i], reg);
	}
	return p;
}

static bool param_copy(struct msd_param *to, const struct msd_param *from)
{
	int64_t *shape = NULL;

	if (from->shape != NULL && from->ndim >= 0) {
		shape = calloc((size_t)from->ndim + 1, sizeof(*shape));
		if (shape == NULL)
			return false;
		memcpy(shape, from->shape, (size_t)from->ndim * sizeof(*shape));
	}
	free(to->shape);
	to->shape = shape;
	to->kind = from->kind;
	to->has_dtype = from->has_dtype;
	to->dtype = from->dtype;
	to->ndim = from->ndim;
	return true;
}

static void put_result(const struct msd_relay_ins *ins, struct msd_buf *out)
{
	const struct msd_dtype dtype = {(uint8_t)ins->fields[2],
					(uint8_t)ins->fields[3],
					(uint16_t)ins->fields[4]};

	msd_buf_printf(out, " -> (");
	msd_tensor_type_put(out, &ins->fields[7], (int32_t)ins->fields[5], NULL,
			    &dtype);
	msd_buf_put_u8(out, ')');
}

static msd_err learn(const struct msd_relay_vm *vm, const struct msd_relay_func *f,
		     struct msd_relay_entry *e, struct msd_diag *d)
{
	struct msd_signature *s = &e->signature;
	const struct msd_relay_ins *result = msd_relay_find_result(f);
	struct msd_buf text = {0};

	for (uint32_t i = 0; i < f->n_params; i++) {
		const struct msd_param *use = find_use(vm, f, i);
		if (use != NULL && !param_copy(&s->params[i], use))
			return msd_diag_no_memory(d);
	}
	msd_err err = msd_signature_compose(s, e->name, d);
	if (err != MSD_OK || result == NULL)
		return err;
	msd_buf_printf(&text, "%s", s->text);
	put_result(result, &text);
	msd_buf_put_u8(&text, '\0');
	if (text.bad) {
		msd_buf_finish(&text);
		return msd_diag_no_memory(d);
	}
	free(s->text);
	s->text = (char *)text.p;
	return MSD_OK;
}

msd_err msd_relay_learn_signatures(struct msd_relay_vm *vm, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < vm->image.n_funcs; i++)
		err = learn(vm, &vm->image.funcs[i], &vm->entries[i], d);
	return err;
}
