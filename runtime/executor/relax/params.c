/*
 * The tensors of a folder of parameters.
 *
 * Normal path: the archive is read and its shards are compared with their MD5. A record
 * that is aligned is used where it is, in pages that all workers of the module share;
 * others are copied, and bfloat16 is widened to float32. Failures: damage, which the
 * error names.
 */
#include "runtime/executor/relax/params.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device/memory.h"
#include "runtime/packed/tensor_cache.h"

#define ALIGN 64u /* compiled code assumes it of a tensor's data */

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

bool msd_relax_params_is_packed(struct msd_span name)
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

		if (!msd_relax_params_is_packed(name) &&
		    msd_shards_find(&p->shards, name) == NULL)
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

msd_err msd_relax_params_tensor(struct msd_relax_params *p, struct msd_dev *dev,
				const struct msd_shard_record *r,
				const struct msd_any **ret, struct msd_diag *d)
{
	struct msd_any *kept = &p->tensors[r - p->shards.records];
	msd_err err = MSD_OK;

	if (kept->type == MSD_T_NONE) {
		err = tensor_make(r, kept, d);
		if (err == MSD_OK && dev != NULL)
			err = msd_dev_tensor_move(dev, kept, d);
	}
	*ret = kept;
	return err == MSD_OK ? err
			     : msd_diag_wrap(d, err, "parameter %.*s", (int)r->name.n,
					     (const char *)r->name.p);
}
