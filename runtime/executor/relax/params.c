/*
 * Normal path of a load: the archive is read and its shards are compared with their
 * MD5. Once the VM is on its device, _metadata tells the order of the parameters, and
 * the values of each function are bound. A record that is aligned is used where it is,
 * in pages that all workers of the module share; others are copied, and bfloat16 is
 * widened to float32. Failures: damage, parameters that the folder lacks or has in
 * another shape, and an unknown order.
 */
#include "runtime/executor/relax/params.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device/memory.h"
#include "runtime/executor/relax/param_order.h"
#include "runtime/packed/tensor_cache.h"
#include "runtime/value/error.h"

#define ALIGN 64u /* of a tensor's data, as compiled code assumes */

msd_err msd_relax_params_open(struct msd_span bytes, struct msd_relax_params **ret,
			      struct msd_diag *d)
{
	struct msd_relax_params *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return msd_diag_no_memory(d);
	msd_err err = msd_shards_read(bytes, &p->shards, d);
	if (err == MSD_OK)
		err = msd_shards_check(&p->shards, d);
	if (err == MSD_OK) {
		p->tensors = calloc(p->shards.n + 1, sizeof(*p->tensors));
		if (p->tensors == NULL)
			err = msd_diag_no_memory(d);
	}
	if (err != MSD_OK) {
		msd_relax_params_close(p);
		return msd_diag_wrap(d, err, "parameters");
	}
	*ret = p;
	return MSD_OK;
}

void msd_relax_params_close(struct msd_relax_params *p)
{
	if (p == NULL)
		return;
	for (size_t i = 0; p->tensors != NULL && i < p->shards.n; i++)
		msd_any_drop(&p->tensors[i]);
	if (p->is_cached)
		msd_tensor_cache_clear();
	free(p->tensors);
	msd_any_drop(&p->packed);
	msd_shards_finish(&p->shards);
	free(p);
}

static bool is_packed(struct msd_span name)
{
	return msd_span_is(name, "packed_params");
}

uint32_t msd_relax_params_count(const struct msd_relax_params *p,
				const struct msd_vm_func *f,
				const struct msd_relax_func *in)
{
	uint32_t n = 0;

	while (p != NULL && n < f->n_args && f->n_args - n <= in->n_params) {
		const struct msd_span name = in->params[f->n_args - n - 1];

		if (!is_packed(name) && msd_shards_find(&p->shards, name) == NULL)
			break;
		n++;
	}
	return n;
}

static void widen(const uint8_t *from, size_t n, uint8_t *to)
{
	for (size_t i = 0; i < n; i++) {
		const uint8_t wide[4] = {0, 0, from[2 * i], from[2 * i + 1]};

		memcpy(to + 4 * i, wide, sizeof(wide));
	}
}

static msd_err tensor_make(const struct msd_shard_record *r, struct msd_any *ret,
			   struct msd_diag *d)
{
	const struct msd_tensor_blob *b = &r->tensor;
	const bool is_aligned = (uintptr_t)b->data.p % ALIGN == 0;
	const struct msd_device cpu = {MSD_DEV_CPU, 0};
	struct msd_tensor *t;

	if (is_aligned && !r->is_bf16) {
		t = msd_tensor_view((void *)(uintptr_t)b->data.p, cpu, b->dtype,
				    b->shape, b->ndim, NULL, NULL, NULL);
	} else {
		t = msd_tensor_new(b->dtype, b->shape, b->ndim);
	}
	if (t == NULL)
		return msd_diag_no_memory(d);
	if (r->is_bf16) {
		widen(b->data.p, b->data.n / 2, t->dl.data);
	} else if (!is_aligned && b->data.n > 0) {
		memcpy(t->dl.data, b->data.p, b->data.n);
	}
	*ret = msd_of_obj(&t->obj);
	return MSD_OK;
}

/* The tensor of a record on the VM's device; owned by @p. */
static msd_err tensor_of(struct msd_relax_vm *vm, const struct msd_shard_record *r,
			 const struct msd_any **ret, struct msd_diag *d)
{
	struct msd_relax_params *p = vm->params;
	struct msd_any *kept = &p->tensors[r - p->shards.records];
	msd_err err = MSD_OK;

	if (kept->type == MSD_T_NONE) {
		err = tensor_make(r, kept, d);
		if (err == MSD_OK && vm->memory.dev != NULL)
			err = msd_dev_tensor_move(vm->memory.dev, kept, d);
	}
	*ret = kept;
	return err == MSD_OK ? err
			     : msd_diag_wrap(d, err, "parameter %.*s", (int)r->name.n,
					     (const char *)r->name.p);
}

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
		if (tuple == NULL)
			err = msd_diag_no_memory(d);
	}
	for (size_t i = 0; err == MSD_OK && i < order.n; i++) {
		const struct msd_any *t;

		err = tensor_of(vm, order.records[i], &t, d);
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
		err = tensor_of(vm, r, &t, d);
	} else if (!is_packed(name)) {
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

		err = tensor_of(vm, p->shards.by_name[i], &t, d);
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

/* Raise an error for a wrong argument count that lists the parameters. */
static void refuse_arity(const struct msd_vm_func *f, int32_t got)
{
	const struct msd_signature *s = &f->signature;
	struct msd_buf names = {0};

	for (size_t i = 0; i < s->n_params; i++) {
		msd_buf_printf(&names, "%s%s", i > 0 ? ", " : "",
			       s->params[i].name != NULL ? s->params[i].name : "?");
	}
	(void)msd_abi_raise_code(
		MSD_BAD_ARGUMENT, "expected %zu argument%s (%.*s) but got %d",
		s->n_params, s->n_params == 1 ? "" : "s", names.bad ? 0 : (int)names.n,
		names.p != NULL ? (const char *)names.p : "", (int)got);
	msd_buf_finish(&names);
}

struct msd_any *msd_relax_add_bound(const struct msd_vm_func *f,
				    const struct msd_any *args, int32_t n)
{
	struct msd_any *all;

	if (f->bound == NULL || n < 0 || (uint32_t)n + f->rules.n_bound != f->n_args) {
		refuse_arity(f, n);
		return NULL;
	}
	all = malloc(f->n_args * sizeof(*all));
	if (all == NULL) {
		(void)msd_abi_no_memory();
		return NULL;
	}
	if (n > 0)
		memcpy(all, args, (size_t)n * sizeof(*all));
	memcpy(all + n, f->bound, f->rules.n_bound * sizeof(*all));
	return all;
}
