/*
 * Programs of the Relax VM: facts of the image, its model, its listing. An image does
 * not record argument types. But compiled checks have them in texts among the
 * constants, and the reader takes the types from those.
 */
#include <inttypes.h>
#include <string.h>

#include "artifact/kind/look.h"
#include "artifact/kind/private.h"
#include "artifact/params/tensor_blob.h"
#include "artifact/printable.h"
#include "artifact/relax/annotation.h"
#include "artifact/relax/image.h"
#include "artifact/relax/text.h"

/* The packed functions that the library, its imports or the runtime must have. */
static bool say_needs(struct msd_payload_info *info, const struct msd_relax_image *img)
{
	struct msd_buf text = {0};

	for (size_t i = 0; i < img->n_funcs; i++) {
		if (img->funcs[i].kind != MSD_RELAX_PACKED)
			continue;
		msd_buf_put(&text, ", ", text.n > 0 ? 2 : 0);
		msd_printable_put(&text, img->funcs[i].name);
	}
	bool ok = !text.bad &&
		  (text.n == 0 ||
		   msd_payload_info_add_bytes(info, "needs",
					      (struct msd_span){text.p, text.n}));
	msd_buf_finish(&text);
	return ok;
}

static bool say_constants(struct msd_payload_info *info,
			  const struct msd_relax_image *img)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < img->n_consts; i++) {
		if (img->consts[i].kind == MSD_RELAX_TENSOR)
			bytes += img->consts[i].as.tensor->data.n;
	}
	return msd_payload_info_add(info, "constants",
				    "%zu (%" PRIu64 " bytes of tensors)", img->n_consts,
				    bytes);
}

static msd_err describe(struct msd_span payload, enum msd_era era,
			struct msd_payload_info *info, struct msd_diag *d)
{
	struct msd_relax_image img = {0};
	msd_err err = msd_relax_image_read(payload, era, &img, d);

	if (err != MSD_OK)
		return err;
	if (!msd_payload_info_add_bytes(info, "version", img.version) ||
	    !say_needs(info, &img) || !say_constants(info, &img) ||
	    !msd_payload_info_add(info, "instructions", "%zu", img.n_instrs))
		err = msd_diag_no_memory(d);
	msd_relax_image_finish(&img);
	return err;
}

msd_err msd_payload_relax(struct msd_cur *c, enum msd_era era,
			  struct msd_payload_info *info, struct msd_diag *d)
{
	struct msd_span payload = {c->p, c->left};

	if (era == MSD_ERA_FFI) {
		(void)msd_cur_read(c, c->left); /* framed: nothing follows the image */
	} else {
		(void)msd_cur_str64(c);
	}
	if (c->bad)
		return msd_payload_truncated(d, "image");
	payload.n -= c->left;
	return info != NULL ? describe(payload, era, info, d) : MSD_OK;
}

/* The part of @ctx after @key up to a comma; empty if absent. */
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

/* "param[12]"; false: another location. */
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
	for (size_t i = 0; i < m->n_funcs; i++) {
		if (msd_span_is(name, m->funcs[i].name))
			return &m->funcs[i];
	}
	return NULL;
}

/* Parse a check's text: "ErrorContext(fn=main, loc=param[0], param=x,
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

static msd_err take_func(const struct msd_relax_func *from, struct msd_model *m,
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

/* The name of a moved tensor, or a check's text. */
static msd_err take_text(struct msd_span text, struct msd_model *m, struct msd_diag *d)
{
	const size_t n = sizeof(MSD_RELAX_PARAM) - 1;

	if (text.n > n && memcmp(text.p, MSD_RELAX_PARAM, n) == 0) {
		return msd_model_add_late(m, (struct msd_span){text.p + n, text.n - n},
					  d);
	}
	return take_quote(text, m, d);
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
						  : take_func(f, m, d);
	}
	for (size_t i = 0; err == MSD_OK && i < img->n_consts; i++) {
		if (img->consts[i].kind == MSD_RELAX_STR)
			err = take_text(img->consts[i].as.str, m, d);
	}
	return err;
}

static msd_err look(struct msd_span payload, enum msd_era era, struct msd_gpu_code *gpu,
		    struct msd_model *model, struct msd_diag *d)
{
	struct msd_relax_image img = {0};
	msd_err err = msd_relax_image_read(payload, era, &img, d);

	(void)gpu;
	if (err != MSD_OK)
		return err;
	err = msd_model_of_relax(&img, model, d);
	msd_relax_image_finish(&img);
	return err;
}

static msd_err list(struct msd_span payload, enum msd_era era, struct msd_buf *out,
		    struct msd_diag *d)
{
	struct msd_relax_image img = {0};
	msd_err err = msd_relax_image_read(payload, era, &img, d);

	if (err != MSD_OK)
		return err;
	msd_relax_text(&img, out);
	msd_relax_image_finish(&img);
	return MSD_OK;
}

const struct msd_look msd_look_relax = {look, list};
