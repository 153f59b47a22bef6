/*
 * The functions of a VM's instance, under the names that TVM's Relax and Relay
 * machines use: set_input, invoke_stateful, invoke, get_output and query functions.
 *
 * Happy path: set_input keeps a value for each parameter of the named function,
 * invoke_stateful calls it like a client, and the result stays for get_output.
 */
#include "runtime/executor/vm/state.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/executor/vm/entry.h"
#include "runtime/module/check.h"
#include "runtime/value/error.h"

/* (function, argument...) */
static int set_input(struct msd_instance *self, const struct msd_any *args, int32_t n,
		     struct msd_any *ret)
{
	struct msd_function *fn = msd_vm_function(msd_vm_state_of(self), args, 0);
	struct msd_diag d = {0};

	(void)ret;
	if (fn == NULL)
		return -1;
	msd_err err = msd_check_args(fn->rules, args + 1, (size_t)n - 1, &d);
	if (err != MSD_OK)
		return msd_instance_raise(&d, err);
	struct msd_vm_entry *e = msd_vm_entry_get(msd_vm_state_of(self), fn);
	if (e == NULL)
		return -1;
	if ((size_t)n - 1 != e->n_args) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "%s: expected %zu arguments, got %d",
					  fn->name, e->n_args, n - 1);
	}
	for (size_t i = 0; i < e->n_args; i++) {
		if (msd_vm_entry_set(e, i, &args[i + 1]) != 0)
			return -1;
	}
	return 0;
}

/* Number of the parameter of @fn that @v names or numbers; -1: unknown. */
static int64_t find_param(const struct msd_function *fn, const struct msd_any *v)
{
	const struct msd_signature *s = fn->rules->info.signature;
	struct msd_span name;

	if (v->type == MSD_T_INT)
		return v->as.i >= 0 && (uint64_t)v->as.i < s->n_params ? v->as.i : -1;
	if (!msd_any_str(v, &name))
		return -1;
	for (size_t i = 0; i < s->n_params; i++) {
		if (s->params[i].name != NULL && msd_span_is(name, s->params[i].name))
			return (int64_t)i;
	}
	return -1;
}

/* (function, parameter's name or number, tensor) */
static int set_one_input(struct msd_instance *self, const struct msd_any *args,
			 int32_t n, struct msd_any *ret)
{
	struct msd_function *fn = msd_vm_function(msd_vm_state_of(self), args, 0);
	struct msd_diag d = {0};

	(void)n;
	(void)ret;
	if (fn == NULL)
		return -1;
	const int64_t i = find_param(fn, &args[1]);
	if (i < 0) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "argument 1: %s has no such parameter; it is "
					  "%s",
					  fn->name, fn->rules->info.signature->text);
	}
	msd_err err = msd_check_arg(fn->rules, (size_t)i, &args[2], &d);
	if (err != MSD_OK)
		return msd_instance_raise(&d, err);
	struct msd_vm_entry *e = msd_vm_entry_get(msd_vm_state_of(self), fn);
	return e != NULL ? msd_vm_entry_set(e, (size_t)i, &args[2]) : -1;
}

static int check_set(const struct msd_vm_entry *e)
{
	const struct msd_signature *s = e->fn->rules->info.signature;

	for (size_t i = 0; i < e->n_args; i++) {
		if (!e->is_set[i]) {
			return msd_abi_raise_code(
				MSD_BAD_ARGUMENT,
				"%s: parameter %zu (%s) was not set; call set_input "
				"first",
				e->fn->name, i,
				s->params[i].name != NULL ? s->params[i].name : "?");
		}
	}
	return 0;
}

/* (function): call it with the arguments that were set */
static int invoke_stateful(struct msd_instance *self, const struct msd_any *args,
			   int32_t n, struct msd_any *ret)
{
	struct msd_vm_state *s = msd_vm_state_of(self);
	struct msd_function *fn = msd_vm_function(s, args, 0);
	struct msd_diag d = {0};

	(void)n;
	(void)ret;
	if (fn == NULL)
		return -1;
	struct msd_vm_entry *e = msd_vm_entry_get(s, fn);
	if (e == NULL)
		return -1;
	if (check_set(e) != 0)
		return -1;
	msd_any_drop(&e->result);
	e->has_result = false;
	msd_err err = self->call(self->module, fn, e->args, e->n_args, &e->result, &d);
	if (err != MSD_OK)
		return msd_instance_raise(&d, err);
	e->has_result = true;
	s->last = e;
	return msd_vm_fill_outputs(e);
}

/* (function, argument...) -> its result */
static int invoke(struct msd_instance *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	struct msd_function *fn = msd_vm_function(msd_vm_state_of(self), args, 0);
	struct msd_any *copy;
	struct msd_diag d = {0};

	if (fn == NULL)
		return -1;
	copy = calloc((size_t)n, sizeof(*copy));
	if (copy == NULL)
		return msd_abi_no_memory();
	memcpy(copy, args + 1, ((size_t)n - 1) * sizeof(*copy));
	msd_err err = self->call(self->module, fn, copy, (size_t)n - 1, ret, &d);
	free(copy);
	return err == MSD_OK ? 0 : msd_instance_raise(&d, err);
}

/* (parameter's name, function) */
static int get_input_index(struct msd_instance *self, const struct msd_any *args,
			   int32_t n, struct msd_any *ret)
{
	const struct msd_function *fn = msd_vm_function(msd_vm_state_of(self), args, 1);

	(void)n;
	if (fn == NULL)
		return -1;
	*ret = msd_int(find_param(fn, &args[0]));
	return 0;
}

static int get_function_arity(struct msd_instance *self, const struct msd_any *args,
			      int32_t n, struct msd_any *ret)
{
	const struct msd_function *fn = msd_vm_function(msd_vm_state_of(self), args, 0);

	(void)n;
	if (fn == NULL)
		return -1;
	*ret = msd_int((int64_t)msd_vm_arity(fn));
	return 0;
}

/* (function, number) */
static int get_function_param_name(struct msd_instance *self,
				   const struct msd_any *args, int32_t n,
				   struct msd_any *ret)
{
	const struct msd_function *fn = msd_vm_function(msd_vm_state_of(self), args, 0);

	(void)n;
	if (fn == NULL)
		return -1;
	const int64_t i = args[1].type == MSD_T_INT ? find_param(fn, &args[1]) : -1;
	if (i < 0) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "argument 1: expected the number of one of "
					  "%zu parameters of %s",
					  msd_vm_arity(fn), fn->name);
	}
	const char *name = fn->rules->info.signature->params[i].name;
	return name != NULL ? msd_instance_give_text(name, ret) : 0;
}

/* Nothing to do: the module is already placed, and devices in the call are ignored. */
static int initialize(struct msd_instance *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	(void)ret;
	return 0;
}

static int set_instrument(struct msd_instance *self, const struct msd_any *args,
			  int32_t n, struct msd_any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	(void)ret;
	return msd_abi_raise_code(
		MSD_UNSUPPORTED,
		"functions of a client cannot run in the daemon; measure whole calls "
		"with the reply's exec_ns or time_evaluator");
}

/* (name) */
static int has_function(struct msd_instance *self, const struct msd_any *args,
			int32_t n, struct msd_any *ret)
{
	struct msd_span name;
	char *text;

	(void)n;
	if (!msd_any_str(&args[0], &name)) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "argument 0: expected a function's name");
	}
	text = strndup((const char *)name.p, name.n);
	if (text == NULL)
		return msd_abi_no_memory();
	*ret = msd_bool(msd_vm_find(msd_vm_state_of(self), text) != NULL);
	free(text);
	return 0;
}

static int stats(struct msd_instance *self, const struct msd_any *args, int32_t n,
		 struct msd_any *ret)
{
	(void)args, (void)n;
	return msd_instance_give_text(msd_vm_state_of(self)->stats, ret);
}

static const struct msd_instance_row relax_rows[] = {
	{"get_function_arity", get_function_arity, 1, 1, false},
	{"get_function_param_name", get_function_param_name, 2, 2, false},
	{"get_output", msd_vm_get_output, 1, MSD_INSTANCE_ANY_ARGS, false},
	{"get_output_arity", msd_vm_get_output_arity, 1, MSD_INSTANCE_ANY_ARGS, false},
	{"has_function", has_function, 1, 1, false},
	{"invoke_closure", msd_vm_invoke_closure, 1, MSD_INSTANCE_ANY_ARGS, false},
	{"invoke_stateful", invoke_stateful, 1, 1, false},
	{"save_function", msd_vm_save_function, 3, MSD_INSTANCE_ANY_ARGS, false},
	{"set_input", set_input, 1, MSD_INSTANCE_ANY_ARGS, false},
	{"set_instrument", set_instrument, 0, MSD_INSTANCE_ANY_ARGS, false},
	{"stats", stats, 0, 0, false},
	{"vm_initialization", initialize, 0, MSD_INSTANCE_ANY_ARGS, false},
};

static const struct msd_instance_row relay_rows[] = {
	{"get_function_arity", get_function_arity, 1, 1, false},
	{"get_function_param_name", get_function_param_name, 2, 2, false},
	{"get_input_index", get_input_index, 2, 2, false},
	{"get_num_outputs", msd_vm_get_num_outputs, 0, 0, false},
	{"get_output", msd_vm_get_last_output, 1, 1, false},
	{"init", initialize, 0, MSD_INSTANCE_ANY_ARGS, false},
	{"invoke", invoke, 1, MSD_INSTANCE_ANY_ARGS, false},
	{"invoke_stateful", invoke_stateful, 1, 1, false},
	{"set_input", set_input, 1, MSD_INSTANCE_ANY_ARGS, false},
	{"set_one_input", set_one_input, 3, 3, false},
	{"set_outputs", msd_vm_set_outputs, 2, MSD_INSTANCE_ANY_ARGS, false},
};

/* As in TVM, the machine also calls functions of the model. */
static struct msd_function *other(struct msd_instance *self, const char *name)
{
	return msd_vm_find(msd_vm_state_of(self), name);
}

static void state_close(struct msd_instance *self)
{
	struct msd_vm_state *s = msd_vm_state_of(self);

	msd_vm_entries_destroy(s);
	msd_vm_saved_destroy(s);
	msd_instance_finish(&s->base);
	free(s->stats);
	free(s);
}

static const struct msd_instance_ops apis[] = {
	[MSD_VM_API_RELAX] = {relax_rows, sizeof(relax_rows) / sizeof(relax_rows[0]),
			      other, state_close},
	[MSD_VM_API_RELAY] = {relay_rows, sizeof(relay_rows) / sizeof(relay_rows[0]),
			      other, state_close},
};

msd_err msd_vm_state_create(struct msd_node *node, enum msd_vm_api api, char *text,
			    struct msd_instance **ret, struct msd_diag *d)
{
	struct msd_vm_state *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return msd_diag_no_memory(d);
	s->node = node;
	msd_err err = msd_instance_init(&s->base, &apis[api], d);
	if (err != MSD_OK) {
		free(s);
		return err;
	}
	s->stats = text;
	*ret = &s->base;
	return MSD_OK;
}

const char *msd_vm_tell(const struct msd_node *node, const char *name)
{
	static const char *const makers[] = {
		"vm_load_executable", "vm_profiler_load_executable", "load_executable"};

	(void)node;
	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++) {
		if (strcmp(name, makers[i]) == 0) {
			return "TVM makes a virtual machine by it; here the model's "
			       "functions are called by their names, and an instance "
			       "is "
			       "a machine (`modser instance`, module.instance)";
		}
	}
	return NULL;
}
