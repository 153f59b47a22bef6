/*
 * Named functions of an instance with bound arguments. A saved function is found
 * before the model's functions and called like them. Saving under an existing name
 * replaces the old function.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/limits.h"
#include "runtime/executor/vm/entry.h"
#include "runtime/value/error.h"

#define MAX_SAVED 256u

struct msd_vm_saved {
	struct msd_function fn; /* first member: calls get it as self */
	struct msd_vm_saved *next;
	struct msd_instance *instance;
	struct msd_function *of;
	struct msd_any *args; /* the last arguments of each call */
	size_t n_args;
	bool returns; /* true: it returns its result, else None */
	char name[MSD_MAX_FUNC_NAME_BYTES + 1];
};

static void saved_destroy(struct msd_vm_saved *f)
{
	for (size_t i = 0; i < f->n_args; i++)
		msd_any_drop(&f->args[i]);
	free(f->args);
	free(f);
}

void msd_vm_saved_destroy(struct msd_vm_state *s)
{
	while (s->saved != NULL) {
		struct msd_vm_saved *next = s->saved->next;
		saved_destroy(s->saved);
		s->saved = next;
	}
}

/* Call @of with @args followed by @more. */
static int call(struct msd_instance *self, struct msd_function *of,
		const struct msd_any *args, size_t n, const struct msd_any *more,
		size_t n_more, struct msd_any *ret)
{
	struct msd_any *all = calloc(n + n_more + 1, sizeof(*all));
	struct msd_diag d = {0};

	if (all == NULL)
		return msd_abi_no_memory();
	for (size_t i = 0; i < n + n_more; i++)
		all[i] = i < n ? args[i] : more[i - n];
	msd_err err = self->call(self->module, of, all, n + n_more, ret, &d);
	free(all);
	return err == MSD_OK ? 0 : msd_instance_raise(&d, err);
}

static int saved_call(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	const struct msd_vm_saved *f = self;
	struct msd_any result = msd_none();
	const int rc =
		call(f->instance, f->of, args, (size_t)n, f->args, f->n_args, &result);

	if (rc == 0 && f->returns) {
		*ret = result;
	} else if (rc == 0) {
		msd_any_drop(&result);
	}
	return rc;
}

struct msd_function *msd_vm_find(const struct msd_vm_state *s, const char *name)
{
	for (struct msd_vm_saved *f = s->saved; f != NULL; f = f->next) {
		if (strcmp(f->name, name) == 0)
			return &f->fn;
	}
	return s->node->ops->find(s->node, name);
}

static int take_name(const struct msd_any *v, char name[MSD_MAX_FUNC_NAME_BYTES + 1])
{
	struct msd_span text;

	if (!msd_any_str(v, &text) || text.n == 0 || text.n > MSD_MAX_FUNC_NAME_BYTES ||
	    memchr(text.p, '\0', text.n) != NULL) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "argument 1: expected a name of at most %u "
					  "bytes to save the function by",
					  (unsigned)MSD_MAX_FUNC_NAME_BYTES);
	}
	memcpy(name, text.p, text.n);
	name[text.n] = '\0';
	return 0;
}

/* Insert @f, replacing a function of the same name. */
static int keep_saved(struct msd_vm_state *s, struct msd_vm_saved *f)
{
	struct msd_vm_saved **at = &s->saved;
	unsigned n = 0;

	for (; *at != NULL && strcmp((*at)->name, f->name) != 0; at = &(*at)->next)
		n++;
	if (*at == NULL && n >= MAX_SAVED) {
		return msd_abi_raise_code(
			MSD_BUSY, "an instance keeps at most %u functions", MAX_SAVED);
	}
	if (*at != NULL) {
		f->next = (*at)->next;
		saved_destroy(*at);
	}
	*at = f;
	return 0;
}

/* (function, name, whether it returns its result, argument...): as in TVM the saved
 * arguments are the last ones. */
int msd_vm_save_function(struct msd_instance *self, const struct msd_any *args,
			 int32_t n, struct msd_any *ret)
{
	struct msd_vm_state *s = msd_vm_state_of(self);
	struct msd_function *of = msd_vm_function(s, args, 0);
	struct msd_vm_saved *f = of != NULL ? calloc(1, sizeof(*f)) : NULL;
	int rc = 0;

	(void)ret;
	if (of == NULL)
		return -1;
	if (f == NULL || (f->args = calloc((size_t)n, sizeof(*f->args))) == NULL) {
		free(f);
		return msd_abi_no_memory();
	}
	msd_function_init(&f->fn, f->name, saved_call);
	f->instance = self;
	f->of = of;
	rc = take_name(&args[1], f->name);
	if (rc == 0 && args[2].type != MSD_T_INT && args[2].type != MSD_T_BOOL) {
		rc = msd_abi_raise_code(MSD_BAD_ARGUMENT,
					"argument 2: expected whether the function "
					"returns its result, got %s",
					msd_type_name(args[2].type));
	}
	f->returns = args[2].as.i != 0;
	for (int32_t i = 3; rc == 0 && i < n; i++) {
		rc = msd_vm_keep(&args[i], &f->args[f->n_args]);
		f->n_args += rc == 0 ? 1 : 0;
	}
	if (rc == 0)
		rc = keep_saved(s, f);
	if (rc != 0)
		saved_destroy(f);
	return rc;
}

/* (function, argument...) -> its result. Closures stay in the worker, so the caller
 * passes a name. */
int msd_vm_invoke_closure(struct msd_instance *self, const struct msd_any *args,
			  int32_t n, struct msd_any *ret)
{
	char name[MSD_MAX_FUNC_NAME_BYTES + 1] = "";
	struct msd_function *fn = NULL;
	struct msd_span text;

	if (!msd_any_str(&args[0], &text)) {
		return msd_abi_raise_code(
			MSD_BAD_ARGUMENT,
			"argument 0: expected the name of a function "
			"of the model or a saved one, got %s; closures "
			"do not leave the daemon",
			msd_type_name(args[0].type));
	}
	if (text.n < sizeof(name)) {
		memcpy(name, text.p, text.n);
		fn = msd_vm_find(msd_vm_state_of(self), name);
	}
	if (fn == NULL) {
		return msd_abi_raise_code(
			MSD_BAD_ARGUMENT,
			"argument 0: neither the model nor the instance "
			"has a function %.*s",
			(int)(text.n < 128 ? text.n : 128), (const char *)text.p);
	}
	return call(self, fn, args + 1, (size_t)n - 1, NULL, 0, ret);
}
