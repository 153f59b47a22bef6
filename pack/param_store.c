#include "pack/param_store.h"

#include <stdlib.h>
#include <string.h>

#include "artifact/params/params.h"
#include "artifact/params/tensor_blob.h"
#include "proto/base/grow.h"

/* Read the tensors: @c is after the second count, and the file is validated. */
static msd_err take_tensors(struct msd_cur *c, struct msd_param_store *s,
			    struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; i < s->n && err == MSD_OK; i++) {
		const uint8_t *start = c->p;
		struct msd_tensor_blob t;

		err = msd_tensor_blob_read(c, &t, d);
		s->params[i].tensor = (struct msd_span){start, (size_t)(c->p - start)};
	}
	return err;
}

msd_err msd_param_store_open(struct msd_span file, struct msd_param_store *ret,
			     struct msd_diag *d)
{
	struct msd_param_store s = {0};
	struct msd_params p = {0};
	struct msd_cur c = msd_cur_of(file);

	if (file.n == 0) {
		*ret = s;
		return MSD_OK;
	}
	msd_err err = msd_params_read_file(file, &p, d);
	if (err == MSD_OK)
		s.params = calloc(p.n + 1, sizeof(*s.params));
	if (err == MSD_OK && s.params == NULL)
		err = msd_diag_no_memory(d);
	if (err == MSD_OK) {
		s.n = s.n_given = p.n;
		(void)msd_cur_read(&c, 3 * sizeof(uint64_t));
		for (size_t i = 0; i < s.n; i++)
			s.params[i].name = msd_cur_str64(&c);
		(void)msd_cur_u64(&c);
		err = take_tensors(&c, &s, d);
	}
	msd_params_finish(&p);
	if (err != MSD_OK) {
		msd_param_store_finish(&s);
		return err;
	}
	*ret = s;
	return MSD_OK;
}

msd_err msd_param_store_add(struct msd_param_store *store, struct msd_span name,
			    struct msd_span tensor, struct msd_diag *d)
{
	for (size_t i = 0; i < store->n; i++) {
		const struct msd_stored_param *p = &store->params[i];

		if (!msd_span_same(p->name, name))
			continue;
		if (msd_span_same(p->tensor, tensor))
			return MSD_OK;
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "the file has another parameter %.*s: keep this "
				    "model's parameters in a file of their own",
				    (int)(name.n < 128 ? name.n : 128),
				    (const char *)name.p);
	}
	if (!msd_grow(&store->params, store->n, sizeof(*store->params)))
		return msd_diag_no_memory(d);
	char *own = malloc(name.n + 1);
	if (own == NULL)
		return msd_diag_no_memory(d);
	if (name.n > 0)
		memcpy(own, name.p, name.n);
	store->params[store->n++] = (struct msd_stored_param){
		.name = {(uint8_t *)own, name.n}, .own = own, .tensor = tensor};
	return MSD_OK;
}

msd_err msd_param_store_write(const struct msd_param_store *store, struct msd_buf *out,
			      struct msd_diag *d)
{
	msd_buf_put_u64(out, MSD_PARAMS_MAGIC);
	msd_buf_put_u64(out, 0);
	msd_buf_put_u64(out, store->n);
	for (size_t i = 0; i < store->n; i++) {
		msd_buf_put_str64(out, store->params[i].name.p,
				  store->params[i].name.n);
	}
	msd_buf_put_u64(out, store->n);
	for (size_t i = 0; i < store->n; i++)
		msd_buf_put(out, store->params[i].tensor.p, store->params[i].tensor.n);
	return out->bad ? msd_diag_no_memory(d) : MSD_OK;
}

void msd_param_store_finish(struct msd_param_store *store)
{
	for (size_t i = 0; i < store->n; i++)
		free(store->params[i].own);
	free(store->params);
	*store = (struct msd_param_store){0};
}
