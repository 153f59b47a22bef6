/*
 * Results of a virtual machine's functions. The last result of each stays in its
 * entry and is read by name, by name and index, or as the last of all. Outputs that
 * the caller has set are filled from it after the call, all or none.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/executor/vm/entry.h"
#include "runtime/value/error.h"
#include "runtime/value/tensor_text.h"

/* Follow the indices args[0] to args[n - 1] into the nested value @v; argument @at is
 * the first of them. */
static const struct msd_any *walk(const struct msd_any *v, const struct msd_any *args,
				  int32_t n, int at)
{
	for (int32_t i = 0; i < n; i++) {
		const struct msd_array *a = v->as.p;
		const int64_t size = v->type == MSD_T_ARRAY ? a->size : -1;

		if (args[i].type == MSD_T_INT && args[i].as.i >= 0 &&
		    args[i].as.i < size) {
			v = &a->items[args[i].as.i];
			continue;
		}
		if (size < 0) {
			(void)msd_abi_raise_code(MSD_BAD_ARGUMENT,
						 "argument %d: the output is no tuple "
						 "but a %s",
						 at + i, msd_type_name(v->type));
		} else {
			(void)msd_abi_raise_code(MSD_BAD_ARGUMENT,
						 "argument %d: expected the number of "
						 "one of %" PRId64 " outputs",
						 at + i, size);
		}
		return NULL;
	}
	return v;
}

/* The result of the function named by argument 0; NULL with the error raised. */
static const struct msd_any *result_of(const struct msd_vm_state *s,
				       const struct msd_any *args)
{
	struct msd_function *fn = msd_vm_function(s, args, 0);
	const struct msd_vm_entry *e = fn != NULL ? msd_vm_entry_peek(s, fn) : NULL;

	if (fn != NULL && (e == NULL || !e->has_result)) {
		(void)msd_abi_raise("RuntimeError",
				    "%s was not invoked yet; call invoke_stateful "
				    "first",
				    fn->name);
	}
	return e != NULL && e->has_result ? &e->result : NULL;
}

/* (function, number...) */
int msd_vm_get_output(struct msd_instance *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	const struct msd_any *v = result_of(msd_vm_state_of(self), args);

	if (v != NULL)
		v = walk(v, args + 1, n - 1, 1);
	if (v == NULL)
		return -1;
	return msd_any_copy(v, ret) ? 0 : msd_abi_no_memory();
}

static int64_t size_of(const struct msd_any *v)
{
	return v->type == MSD_T_ARRAY ? ((const struct msd_array *)v->as.p)->size : -1;
}

/* (function, number...) -> number of values; -1: not a tuple */
int msd_vm_get_output_arity(struct msd_instance *self, const struct msd_any *args,
			    int32_t n, struct msd_any *ret)
{
	const struct msd_any *v = result_of(msd_vm_state_of(self), args);

	if (v != NULL)
		v = walk(v, args + 1, n - 1, 1);
	if (v == NULL)
		return -1;
	*ret = msd_int(size_of(v));
	return 0;
}

static const struct msd_any *last_result(const struct msd_vm_state *s)
{
	if (s->last == NULL) {
		(void)msd_abi_raise("RuntimeError",
				    "nothing was invoked yet; call invoke_stateful "
				    "first");
	}
	return s->last != NULL ? &s->last->result : NULL;
}

/* (number) -> output of the last invoked function */
int msd_vm_get_last_output(struct msd_instance *self, const struct msd_any *args,
			   int32_t n, struct msd_any *ret)
{
	const struct msd_any *v = last_result(msd_vm_state_of(self));
	const bool is_first = args[0].type == MSD_T_INT && args[0].as.i == 0;

	if (v != NULL && !(is_first && size_of(v) < 0))
		v = walk(v, args, n, 0);
	if (v == NULL)
		return -1;
	return msd_any_copy(v, ret) ? 0 : msd_abi_no_memory();
}

int msd_vm_get_num_outputs(struct msd_instance *self, const struct msd_any *args,
			   int32_t n, struct msd_any *ret)
{
	const struct msd_any *v = last_result(msd_vm_state_of(self));

	(void)args;
	(void)n;
	if (v == NULL)
		return -1;
	*ret = msd_int(size_of(v) < 0 ? 1 : size_of(v));
	return 0;
}

void msd_vm_drop_outputs(struct msd_vm_entry *e)
{
	for (size_t i = 0; i < e->n_outs; i++)
		msd_any_drop(&e->outs[i]);
	free(e->outs);
	e->outs = NULL;
	e->n_outs = 0;
}

/* (function, tensor...) */
int msd_vm_set_outputs(struct msd_instance *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	struct msd_function *fn = msd_vm_function(msd_vm_state_of(self), args, 0);
	struct msd_vm_entry *e =
		fn != NULL ? msd_vm_entry_get(msd_vm_state_of(self), fn) : NULL;

	(void)ret;
	if (e == NULL)
		return -1;
	for (int32_t i = 1; i < n; i++) {
		if (!msd_instance_is_resident(&args[i])) {
			return msd_abi_raise_code(
				MSD_BAD_ARGUMENT,
				"argument %d: expected a resident tensor, which stays "
				"after the call",
				i);
		}
	}
	struct msd_any *outs = calloc((size_t)n, sizeof(*outs));
	if (outs == NULL)
		return msd_abi_no_memory();
	msd_vm_drop_outputs(e);
	e->outs = outs;
	for (int32_t i = 1; i < n; i++) {
		msd_obj_ref(args[i].as.obj);
		e->outs[e->n_outs++] = args[i];
	}
	return 0;
}

static bool is_alike(const struct msd_dltensor *a, const struct msd_dltensor *b)
{
	return a != NULL && a->strides == NULL && b->strides == NULL &&
	       msd_dtype_eq(a->dtype, b->dtype) && a->ndim == b->ndim &&
	       (a->ndim == 0 ||
		memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(int64_t)) == 0);
}

static int check_output(const struct msd_vm_entry *e, size_t i,
			const struct msd_any *value)
{
	char expected[MSD_TENSOR_TEXT_MAX];
	char got[MSD_TENSOR_TEXT_MAX];

	if (is_alike(msd_any_dltensor(value), msd_any_dltensor(&e->outs[i])))
		return 0;
	return msd_abi_raise_code(MSD_BAD_ARGUMENT,
				  "%s: output %zu is %s; set_outputs gave %s for it",
				  e->fn->name, i, msd_tensor_text_of(value, expected),
				  msd_tensor_text_of(&e->outs[i], got));
}

/* All are compared before any is written. */
static int fill(const struct msd_vm_entry *e)
{
	const bool is_tuple = e->result.type == MSD_T_ARRAY;
	const struct msd_array *tuple = e->result.as.p;
	const struct msd_any *values = is_tuple ? tuple->items : &e->result;
	const size_t n = is_tuple ? (size_t)tuple->size : 1;
	int rc = 0;

	if (n != e->n_outs) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "%s: it has %zu outputs; set_outputs gave "
					  "%zu tensors",
					  e->fn->name, n, e->n_outs);
	}
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = check_output(e, i, &values[i]);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		rc = msd_instance_copy(msd_any_dltensor(&e->outs[i]),
				       msd_any_dltensor(&values[i]));
	}
	return rc;
}

int msd_vm_fill_outputs(struct msd_vm_entry *e)
{
	const int rc = e->outs != NULL ? fill(e) : 0;

	msd_vm_drop_outputs(e);
	return rc;
}
