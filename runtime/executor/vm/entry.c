/*
 * State of a virtual machine's instance for one function: the arguments that were
 * set, and its result.
 *
 * Happy path: the function is found by name. Its entry is created when the first
 * value is set, and filled parameter by parameter. Failures: the error for an unknown
 * name lists the model's functions; if memory is short, nothing is kept.
 */
#include "runtime/executor/vm/entry.h"

#include <stdlib.h>
#include <string.h>

#include "proto/limits.h"
#include "runtime/module/check.h"
#include "runtime/value/error.h"

#define NAMED_MAX                                                                      \
	16u /* functions; a model has few, and its packed ones are not listed */

struct names {
	struct msd_buf text;
	unsigned n;
};

static msd_err put_name(void *ctx, const struct msd_func_info *info)
{
	struct names *names = ctx;

	if (names->n++ < NAMED_MAX) {
		msd_buf_printf(&names->text, "%s%s", names->n > 1 ? ", " : "",
			       info->name);
	}
	return MSD_OK;
}

/* Error: the model has no @text; lists its functions. */
static void refuse_name(const struct msd_vm_state *s, int at, struct msd_span text)
{
	struct names names = {0};

	(void)!s->node->ops->list(s->node, put_name, &names);
	(void)msd_abi_raise_code(
		MSD_BAD_ARGUMENT,
		"argument %d: the model has no function %.*s; it has: %.*s%s", at,
		(int)(text.n < 128 ? text.n : 128), (const char *)text.p,
		(int)names.text.n, (const char *)names.text.p,
		names.n > NAMED_MAX ? ", ..." : "");
	msd_buf_finish(&names.text);
}

struct msd_function *msd_vm_function(const struct msd_vm_state *s,
				     const struct msd_any *args, int at)
{
	char name[MSD_MAX_FUNC_NAME_BYTES + 1] = "";
	struct msd_function *fn = NULL;
	struct msd_span text;

	if (!msd_any_str(&args[at], &text)) {
		(void)msd_abi_raise_code(MSD_BAD_ARGUMENT,
					 "argument %d: expected a function's name, got "
					 "%s",
					 at, msd_type_name(args[at].type));
		return NULL;
	}
	if (text.n < sizeof(name)) {
		memcpy(name, text.p, text.n);
		fn = s->node->ops->find(s->node, name);
	}
	if (fn == NULL || fn->rules == NULL) {
		refuse_name(s, at, text);
		return NULL;
	}
	return fn;
}

size_t msd_vm_arity(const struct msd_function *fn)
{
	return fn->rules->info.signature->n_params;
}

struct msd_vm_entry *msd_vm_entry_peek(const struct msd_vm_state *s,
				       const struct msd_function *fn)
{
	struct msd_vm_entry *e = s->entries;

	while (e != NULL && e->fn != fn)
		e = e->next;
	return e;
}

static void entry_destroy(struct msd_vm_entry *e)
{
	for (size_t i = 0; e->args != NULL && i < e->n_args; i++)
		msd_any_drop(&e->args[i]);
	msd_any_drop(&e->result);
	msd_vm_drop_outputs(e);
	free(e->args);
	free(e->is_set);
	free(e);
}

struct msd_vm_entry *msd_vm_entry_get(struct msd_vm_state *s, struct msd_function *fn)
{
	struct msd_vm_entry *e = msd_vm_entry_peek(s, fn);

	if (e != NULL)
		return e;
	e = calloc(1, sizeof(*e));
	if (e == NULL) {
		(void)msd_abi_no_memory();
		return NULL;
	}
	e->fn = fn;
	e->n_args = msd_vm_arity(fn);
	e->args = calloc(e->n_args + 1, sizeof(*e->args));
	e->is_set = calloc(e->n_args + 1, sizeof(*e->is_set));
	if (e->args == NULL || e->is_set == NULL) {
		entry_destroy(e);
		(void)msd_abi_no_memory();
		return NULL;
	}
	e->next = s->entries;
	s->entries = e;
	return e;
}

/*
 * Copy, because the call's memory is freed after the call. The wire limits the depth.
 */
int msd_vm_keep(const struct msd_any *v, struct msd_any *ret)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);
	const struct msd_array *in = v->as.p;

	if (t != NULL) {
		struct msd_tensor *kept = msd_instance_keep(t);
		if (kept == NULL)
			return -1;
		*ret = msd_of_obj(&kept->obj);
		return 0;
	}
	if (v->type != MSD_T_ARRAY)
		return msd_any_copy(v, ret) ? 0 : msd_abi_no_memory();
	struct msd_array *out = msd_array_new((size_t)in->size);
	if (out == NULL)
		return msd_abi_no_memory();
	for (int64_t i = 0; i < in->size; i++) {
		if (msd_vm_keep(&in->items[i], &out->items[i]) != 0) {
			msd_obj_unref(&out->obj);
			return -1;
		}
	}
	*ret = msd_of_obj(&out->obj);
	return 0;
}

int msd_vm_entry_set(struct msd_vm_entry *e, size_t i, const struct msd_any *v)
{
	struct msd_any kept;

	if (msd_vm_keep(v, &kept) != 0)
		return -1;
	msd_any_drop(&e->args[i]);
	e->args[i] = kept;
	e->is_set[i] = true;
	return 0;
}

void msd_vm_entries_destroy(struct msd_vm_state *s)
{
	while (s->entries != NULL) {
		struct msd_vm_entry *next = s->entries->next;
		entry_destroy(s->entries);
		s->entries = next;
	}
}
