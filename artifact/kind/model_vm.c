/* Programs of the two virtual machines. */
#include <string.h>

#include "artifact/kind/model.h"
#include "artifact/relax/annotation.h"
#include "artifact/relax/image.h"
#include "artifact/relay/image.h"

/* The part of @ctx behind @key up to a comma; empty when there is none. */
static struct msd_span field_of(struct msd_span ctx, const char *key)
{
	const size_t n = strlen(key);
	const uint8_t *at = memmem(ctx.p, ctx.n, key, n);
	struct msd_span s = {NULL, 0};

	if (at == NULL)
		return s;
	s.p = at + n;
	s.n = ctx.n - (size_t)(s.p - ctx.p);
	const uint8_t *comma = memchr(s.p, ',', s.n);
	if (comma != NULL)
		s.n = (size_t)(comma - s.p);
	return s;
}

/* "param[12]"; false: another place. */
static bool param_index(struct msd_span place, size_t *ret)
{
	static const char key[] = "param[";
	const size_t n = sizeof(key) - 1;
	size_t v = 0;

	if (place.n < n + 2 || place.n > n + 6 || memcmp(place.p, key, n) != 0)
		return false;
	for (size_t i = n; i + 1 < place.n; i++) {
		if (place.p[i] < '0' || place.p[i] > '9')
			return false;
		v = v * 10 + (size_t)(place.p[i] - '0');
	}
	*ret = v;
	return true;
}

static struct msd_model_func *find_func(struct msd_model *m, struct msd_span name)
{
	for (size_t i = 0; i < m->n_funcs; i++)
		if (msd_span_is(name, m->funcs[i].name))
			return &m->funcs[i];
	return NULL;
}

/* What a text that checks quote says: "ErrorContext(fn=main, loc=param[0], param=x,
 * annotation=R.Tensor((n, 4), dtype="float32"))". */
static msd_err take_quote(struct msd_span ctx, struct msd_model *m, struct msd_diag *d)
{
	struct msd_span type = msd_relax_annotation(ctx);
	struct msd_span place = field_of(ctx, "loc=");
	struct msd_model_value *v = NULL;
	size_t i;

	if (type.n == 0)
		return MSD_OK;
	struct msd_model_func *f = find_func(m, field_of(ctx, "ErrorContext(fn="));
	if (f == NULL)
		return MSD_OK;
	if (param_index(place, &i)) {
		v = i < f->n_inputs ? &f->inputs[i] : NULL;
		return v != NULL && v->type == NULL && !v->is_tensor
			       ? msd_model_set_type(v, type, d)
			       : MSD_OK;
	}
	if (!msd_span_is(place, "return") || f->n_outputs > 0)
		return MSD_OK;
	msd_err err = msd_model_add_output(f, (struct msd_span){NULL, 0}, &v, d);
	return v != NULL ? msd_model_set_type(v, type, d) : err;
}

static msd_err take_relax_func(const struct msd_relax_func *from, struct msd_model *m,
			       struct msd_diag *d)
{
	struct msd_model_value *v;
	struct msd_model_func *f;
	msd_err err = msd_model_add_func(m, from->name, &f, d);

	if (f != NULL)
		f->is_compiled = from->kind == MSD_RELAX_VMTIR;
	for (int64_t i = 0;
	     err == MSD_OK && f != NULL && i < from->n_args && i < MSD_MODEL_MAX_VALUES;
	     i++) {
		const bool is_named = (size_t)i < from->n_params;
		err = msd_model_add_input(
			f, is_named ? from->params[i] : (struct msd_span){NULL, 0}, &v,
			d);
	}
	return err;
}

msd_err msd_model_of_relax(const struct msd_relax_image *img, struct msd_model *m,
			   struct msd_diag *d)
{
	msd_err err = MSD_OK;

	m->has_params = true;
	for (size_t i = 0; i < img->n_consts; i++) {
		if (img->consts[i].kind != MSD_RELAX_TENSOR)
			continue;
		m->n_params++;
		m->param_bytes += img->consts[i].as.tensor->data.n;
	}
	for (size_t i = 0; err == MSD_OK && i < img->n_funcs; i++) {
		const struct msd_relax_func *f = &img->funcs[i];
		err = f->kind == MSD_RELAX_PACKED ? msd_model_add_need(m, f->name, d)
						  : take_relax_func(f, m, d);
	}
	for (size_t i = 0; err == MSD_OK && i < img->n_consts; i++)
		if (img->consts[i].kind == MSD_RELAX_STR)
			err = take_quote(img->consts[i].as.str, m, d);
	return err;
}

static msd_err take_relay_func(const struct msd_relay_func *from, struct msd_model *m,
			       struct msd_diag *d)
{
	const struct msd_relay_ins *result = msd_relay_find_result(from);
	struct msd_model_value *v = NULL;
	struct msd_model_func *f;
	msd_err err = msd_model_add_func(m, from->name, &f, d);

	for (uint32_t i = 0; err == MSD_OK && f != NULL && i < from->n_params; i++)
		err = msd_model_add_input(f, from->params[i], &v, d);
	if (err != MSD_OK || f == NULL || result == NULL)
		return err;
	err = msd_model_add_output(f, (struct msd_span){NULL, 0}, &v, d);
	const struct msd_dtype dtype = {(uint8_t)result->fields[2],
					(uint8_t)result->fields[3],
					(uint16_t)result->fields[4]};
	return v != NULL ? msd_model_set_tensor(v, dtype, result->fields + 7,
						(size_t)result->fields[5], d)
			 : err;
}

msd_err msd_model_of_relay(const struct msd_relay_image *img, struct msd_model *m,
			   struct msd_diag *d)
{
	msd_err err = MSD_OK;

	m->has_params = true;
	for (uint32_t i = 0; i < img->n_consts; i++) {
		m->n_params++;
		if (img->consts[i].tensor != NULL)
			m->param_bytes += img->consts[i].tensor->data.n;
	}
	for (uint32_t i = 0; err == MSD_OK && i < img->n_packed; i++)
		err = msd_model_add_need(m, img->packed[i], d);
	for (uint32_t i = 0; err == MSD_OK && i < img->n_funcs; i++)
		err = take_relay_func(&img->funcs[i], m, d);
	return err;
}
