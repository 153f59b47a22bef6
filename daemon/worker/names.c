/* Puts named arguments into the positions of their parameters. */
#include <string.h>

#include "daemon/worker/calls/call.h"
#include "runtime/module/c_name.h"
#include "runtime/module/check.h"

struct ordering {
	const struct msd_signature *s;
	struct msd_any *args; /* one per parameter */
	bool *is_taken;
};

/* The parameters of the called function; NULL if unknown. */
static const struct msd_signature *signature_of(const struct msd_call *call)
{
	const struct msd_call_rules *rules = call->func->fn->rules;

	return rules != NULL && rules->info.signature->known ? rules->info.signature
							     : NULL;
}

static const char *hint_of(const struct msd_signature *s)
{
	return s->text != NULL ? s->text : "a function without names";
}

/* True if @name names parameter @p. */
static bool is_name(const struct msd_signature *s, const struct msd_param *p,
		    struct msd_span name)
{
	if (p->name == NULL)
		return false;
	return s->has_c_names ? msd_c_name_is(name, p->name)
			      : msd_span_is(name, p->name);
}

static msd_err place_named(struct ordering *o, struct msd_span name,
			   const struct msd_any *v, struct msd_diag *d)
{
	const int n = (int)(name.n < 128 ? name.n : 128);
	size_t i = 0;

	while (i < o->s->n_params && !is_name(o->s, &o->s->params[i], name))
		i++;
	if (i == o->s->n_params) {
		return msd_diag_set(
			d, MSD_BAD_ARGUMENT,
			"no parameter has the name %.*s; the signature is %s", n,
			(const char *)name.p, hint_of(o->s));
	}
	if (o->is_taken[i]) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "parameter %.*s has two arguments", n,
				    (const char *)name.p);
	}
	o->is_taken[i] = true;
	o->args[i] = *v;
	return MSD_OK;
}

static msd_err place_unnamed(struct ordering *o, const struct msd_any *v,
			     struct msd_diag *d)
{
	size_t i = 0;

	while (i < o->s->n_params && o->is_taken[i])
		i++;
	if (i == o->s->n_params) {
		return msd_diag_set(
			d, MSD_BAD_ARGUMENT,
			"more arguments than parameters; the signature is %s",
			hint_of(o->s));
	}
	o->is_taken[i] = true;
	o->args[i] = *v;
	return MSD_OK;
}

/* One pass over the names: either the named arguments, or the rest. */
static msd_err place_args(struct ordering *o, const struct msd_call *call,
			  struct msd_cur names, bool named, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < call->n_args; i++) {
		struct msd_wire_value name;
		err = msd_value_read(&names, &name, d);
		if (err != MSD_OK)
			return err;
		if (name.kind != MSD_K_STR && name.kind != MSD_K_NIL) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "names: expected str or nil, got %s",
					    msd_kind_name(name.kind));
		}
		if (named && name.kind == MSD_K_STR) {
			err = place_named(o, name.as.str, &call->args[i], d);
		} else if (!named && name.kind == MSD_K_NIL) {
			err = place_unnamed(o, &call->args[i], d);
		}
	}
	return err;
}

/* An optional parameter without an argument is None. */
static msd_err complete(const struct ordering *o, struct msd_diag *d)
{
	for (size_t i = 0; i < o->s->n_params; i++) {
		const char *name = o->s->params[i].name;
		if (o->is_taken[i])
			continue;
		o->args[i] = msd_none();
		if (i < o->s->n_params - o->s->n_optional) {
			return msd_diag_set(d, MSD_BAD_ARGUMENT,
					    "parameter %zu (%s) has no argument", i,
					    name != NULL ? name : "?");
		}
	}
	return MSD_OK;
}

msd_err msd_call_order_args(struct msd_call *call, struct msd_span names,
			    struct msd_diag *d)
{
	struct ordering o = {.s = signature_of(call)};
	struct msd_cur c;
	uint32_t n;

	if (!msd_array_open(names, &c, &n) || n != call->n_args + call->n_places) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "names: expected an array of %u, one for each "
				    "argument",
				    call->n_args + call->n_places);
	}
	if (o.s == NULL) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "its parameters are unknown: give the arguments in "
				    "order, without names");
	}
	o.args = msd_arena_alloc(call->arena, (o.s->n_params + 1) * sizeof(*o.args));
	o.is_taken = msd_arena_alloc(call->arena, o.s->n_params + 1);
	if (o.args == NULL || o.is_taken == NULL)
		return msd_diag_no_memory(d);
	memset(o.is_taken, 0, o.s->n_params + 1);
	msd_err err = place_args(&o, call, c, true, d);
	if (err == MSD_OK)
		err = place_args(&o, call, c, false, d);
	if (err == MSD_OK)
		err = complete(&o, d);
	if (err == MSD_OK) {
		call->args = o.args;
		call->n_args = (uint32_t)o.s->n_params;
	}
	return err;
}
