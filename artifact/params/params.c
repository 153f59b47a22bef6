/*
 * Read parameters in TVM's two forms, which differ in the position of the tensor
 * count: before the names in a factory's payload, after them in a file. Names and
 * tensors borrow from the bytes: a model's weights are not copied here.
 */
#include "artifact/params/params.h"

#include <stdlib.h>
#include <string.h>

#include "artifact/params/tensor_blob.h"

void msd_params_finish(struct msd_params *p)
{
	if (p == NULL)
		return;
	free(p->names);
	free(p->tensors);
	*p = (struct msd_params){0};
}

static msd_err truncated(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "parameters: truncated");
}

static msd_err read_names(struct msd_cur *c, struct msd_params *p, struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, sizeof(uint64_t));

	if (c->bad)
		return truncated(d);
	p->names = calloc(n + 1, sizeof(*p->names));
	if (p->names == NULL)
		return msd_diag_set(d, MSD_NOMEM, "parameters: out of memory");
	for (size_t i = 0; i < n; i++)
		p->names[i] = msd_cur_str64(c);
	p->n = n;
	return c->bad ? truncated(d) : MSD_OK;
}

static msd_err read_tensors(struct msd_cur *c, struct msd_params *p, struct msd_diag *d)
{
	p->tensors = calloc(p->n + 1, sizeof(*p->tensors));
	if (p->tensors == NULL)
		return msd_diag_set(d, MSD_NOMEM, "parameters: out of memory");
	for (size_t i = 0; i < p->n; i++) {
		msd_err err = msd_tensor_blob_read(c, &p->tensors[i], d);
		if (err != MSD_OK) {
			return msd_diag_wrap(
				d, err, "parameter %.*s",
				(int)(p->names[i].n < 128 ? p->names[i].n : 128),
				(const char *)p->names[i].p);
		}
	}
	return MSD_OK;
}

static msd_err disagree(uint64_t count, const struct msd_params *p, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "parameters: %llu of them, but %zu names",
			    (unsigned long long)count, p->n);
}

msd_err msd_params_read(struct msd_cur *c, struct msd_params *ret, struct msd_diag *d)
{
	struct msd_params p = {0};
	uint64_t count = msd_cur_u64(c);
	msd_err err = read_names(c, &p, d);

	if (err == MSD_OK && count != p.n)
		err = disagree(count, &p, d);
	if (err == MSD_OK)
		err = read_tensors(c, &p, d);
	if (err != MSD_OK) {
		msd_params_finish(&p);
		return err;
	}
	*ret = p;
	return MSD_OK;
}

static msd_err read_file(struct msd_cur *c, struct msd_params *p, struct msd_diag *d)
{
	uint64_t magic = msd_cur_u64(c);

	(void)msd_cur_u64(c); /* reserved */
	if (c->bad)
		return truncated(d);
	if (magic != MSD_PARAMS_MAGIC) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "parameters: it does not start with the magic of "
				    "a .params file");
	}
	msd_err err = read_names(c, p, d);
	if (err != MSD_OK)
		return err;
	uint64_t count = msd_cur_u64(c);
	if (c->bad)
		return truncated(d);
	if (count != p->n)
		return disagree(count, p, d);
	return read_tensors(c, p, d);
}

msd_err msd_params_read_file(struct msd_span file, struct msd_params *ret,
			     struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(file);
	struct msd_params p = {0};
	msd_err err = read_file(&c, &p, d);

	if (err == MSD_OK && !msd_cur_end(&c)) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "parameters: %zu bytes behind the last one", c.left);
	}
	if (err != MSD_OK) {
		msd_params_finish(&p);
		return err;
	}
	*ret = p;
	return MSD_OK;
}

msd_err msd_params_append(struct msd_params *p, struct msd_params *more,
			  struct msd_diag *d)
{
	size_t n = p->n + more->n;
	struct msd_span *names = realloc(p->names, (n + 1) * sizeof(*names));

	if (names != NULL)
		p->names = names;
	struct msd_tensor_blob *tensors =
		realloc(p->tensors, (n + 1) * sizeof(*tensors));
	if (tensors != NULL)
		p->tensors = tensors;
	if (names == NULL || tensors == NULL) {
		msd_params_finish(more);
		return msd_diag_set(d, MSD_NOMEM, "parameters: out of memory");
	}
	for (size_t i = 0; i < more->n; i++) {
		p->names[p->n] = more->names[i];
		p->tensors[p->n++] = more->tensors[i];
	}
	msd_params_finish(more);
	return MSD_OK;
}

const struct msd_tensor_blob *msd_params_find_span(const struct msd_params *p,
						   struct msd_span name)
{
	for (size_t i = p->n; i > 0 && name.n > 0; i--) {
		struct msd_span one = p->names[i - 1];

		if (one.n == name.n && memcmp(one.p, name.p, name.n) == 0)
			return &p->tensors[i - 1];
	}
	return NULL;
}

const struct msd_tensor_blob *msd_params_find(const struct msd_params *p,
					      const char *name)
{
	return msd_params_find_span(p, msd_span_of(name));
}
