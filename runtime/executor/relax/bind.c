/*
 * Binds parameters of a Relax VM's functions to the tensors of its folder.
 *
 * Normal path: once the VM is on its device, _metadata tells the order of
 * packed_params, and each function gets the values of its last parameters. If the
 * library reads TVM's cache of tensors, that gets all records. Failures: parameters
 * that the folder lacks or has in another shape, an unknown order, and a folder that no
 * function takes.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/executor/relax/param_order.h"
#include "runtime/executor/relax/params.h"
#include "runtime/packed/tensor_cache.h"

static msd_err copy(const struct msd_any *v, struct msd_any *ret, struct msd_diag *d)
{
	return msd_any_copy(v, ret) ? MSD_OK : msd_diag_no_memory(d);
}

/* Make the tuple of all parameters. */
static msd_err pack(struct msd_relax_vm *vm, struct msd_diag *d)
{
	struct msd_param_order order = {0};
	struct msd_array *tuple = NULL;
	msd_err err = msd_param_order_read(vm, &order, d);

	if (err == MSD_OK) {
		tuple = msd_array_new(order.n);
		if (tuple == NULL) {
			(void)msd_diag_no_memory(d);
			err = MSD_NOMEM;
		}
	}
	for (size_t i = 0; err == MSD_OK && i < order.n; i++) {
		const struct msd_any *t;

		err = msd_relax_params_tensor(vm->params, vm->memory.dev,
					      order.records[i], &t, d);
		if (err == MSD_OK)
			err = copy(t, &tuple->items[i], d);
	}
	msd_param_order_finish(&order);
	if (tuple != NULL)
		vm->params->packed = msd_of_obj(&tuple->obj);
	return err;
}

static msd_err bind_one(struct msd_relax_vm *vm, struct msd_span name,
			struct msd_any *ret, struct msd_diag *d)
{
	struct msd_relax_params *p = vm->params;
	const struct msd_any *t = &p->packed;
	msd_err err = MSD_OK;

	const struct msd_shard_record *r = msd_shards_find(&p->shards, name);

	if (r != NULL) {
		err = msd_relax_params_tensor(vm->params, vm->memory.dev, r, &t, d);
	} else if (!msd_relax_params_is_packed(name)) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "a parameter's name has NUL");
	} else if (p->packed.type == MSD_T_NONE) {
		err = pack(vm, d);
	}
	return err == MSD_OK ? copy(t, ret, d) : err;
}

static msd_err bind_function(struct msd_relax_vm *vm, struct msd_vm_func *f,
			     struct msd_diag *d)
{
	const uint32_t n = f->rules.n_bound;
	msd_err err = MSD_OK;

	if (n == 0)
		return MSD_OK;
	f->bound = calloc(n, sizeof(*f->bound));
	if (f->bound == NULL)
		return msd_diag_no_memory(d);
	for (uint32_t i = 0; err == MSD_OK && i < n; i++) {
		const char *name = f->signature.params[f->n_args - n + i].name;

		err = bind_one(vm, msd_span_of(name), &f->bound[i], d);
	}
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "%s", f->name);
}

/* True if the library reads parameters from TVM's cache. */
static bool wants_cache(const struct msd_relax_vm *vm)
{
	for (size_t i = 0; i < vm->n_funcs; i++) {
		const char *name = vm->funcs[i].name;

		if (strcmp(name, "vm.builtin.tensor_cache.get") == 0 ||
		    strcmp(name, "vm.builtin.ndarray_cache.get") == 0 ||
		    strncmp(name, "vm.builtin.param_array_from_cache",
			    strlen("vm.builtin.param_array_from_cache")) == 0)
			return true;
	}
	return false;
}

static msd_err fill_cache(struct msd_relax_vm *vm, struct msd_diag *d)
{
	struct msd_relax_params *p = vm->params;
	msd_err err = MSD_OK;

	p->is_cached = true;
	for (size_t i = 0; err == MSD_OK && i < p->shards.n; i++) {
		const struct msd_any *t;

		err = msd_relax_params_tensor(vm->params, vm->memory.dev,
					      p->shards.by_name[i], &t, d);
		if (err == MSD_OK &&
		    !msd_tensor_cache_put(p->shards.by_name[i]->name, t))
			err = msd_diag_no_memory(d);
	}
	return err;
}

msd_err msd_relax_params_bind(struct msd_relax_vm *vm, struct msd_diag *d)
{
	bool is_used = false;
	msd_err err = MSD_OK;

	if (vm->params == NULL)
		return MSD_OK;
	for (size_t i = 0; err == MSD_OK && i < vm->n_funcs; i++) {
		is_used = is_used || vm->funcs[i].rules.n_bound > 0;
		err = bind_function(vm, &vm->funcs[i], d);
	}
	if (err == MSD_OK && wants_cache(vm))
		return fill_cache(vm, d);
	if (err == MSD_OK && !is_used) {
		err = msd_diag_set(
			d, MSD_UNSUPPORTED,
			"parameters were given, but none of its functions "
			"takes packed_params or a parameter with the name of "
			"a record");
	}
	return err;
}
