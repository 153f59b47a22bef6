/*
 * Parse signatures that compiled code prints in its errors into parameters; compose
 * them again if modserd knows more than the text.
 *
 * Happy path: `name(A: Tensor([n], float32), b: int64)` is split at the commas
 * outside of brackets, each part at its colon. Extents that are not numbers are
 * unknown. A text of another form is kept unchanged, and its parameters stay unknown.
 */
#include "runtime/module/signature.h"

#include <stdlib.h>
#include <string.h>

#include "artifact/script.h"
#include "proto/type_text.h"

#define MAX_PARAMS 4096u

static void param_finish(struct msd_param *p)
{
	for (int32_t i = 0; p->dim_names != NULL && i < p->ndim; i++)
		free(p->dim_names[i]);
	free((void *)p->dim_names);
	free(p->name);
	free(p->shape);
}

void msd_signature_finish(struct msd_signature *s)
{
	for (size_t i = 0; i < s->n_params; i++)
		param_finish(&s->params[i]);
	for (size_t i = 0; i < s->n_results; i++)
		param_finish(&s->results[i]);
	free(s->params);
	free(s->results);
	free(s->text);
	*s = (struct msd_signature){0};
}

msd_err msd_signature_init(struct msd_signature *s, size_t n, struct msd_diag *d)
{
	*s = (struct msd_signature){0};
	if (n > MAX_PARAMS)
		return msd_diag_set(d, MSD_UNSUPPORTED, "%zu parameters", n);
	s->params = calloc(n > 0 ? n : 1, sizeof(*s->params));
	if (s->params == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < n; i++)
		s->params[i].ndim = -1;
	s->n_params = n;
	s->known = true;
	return MSD_OK;
}

static bool parse_shape(struct msd_span dims, struct msd_param *p)
{
	const int32_t n = (int32_t)msd_type_items(dims);

	p->shape = calloc((size_t)n + 1, sizeof(*p->shape));
	p->dim_names = calloc((size_t)n + 1, sizeof(*p->dim_names));
	if (p->shape == NULL || p->dim_names == NULL)
		return false;
	p->ndim = n;
	for (int32_t i = 0; i < n; i++) {
		const struct msd_span item = msd_type_item(&dims, ',');

		p->shape[i] = msd_extent_parse(item);
		if (p->shape[i] >= 0)
			continue;
		p->dim_names[i] = strndup((const char *)item.p, item.n);
		if (p->dim_names[i] == NULL)
			return false;
	}
	return true;
}

static enum msd_kind_hint scalar_kind(struct msd_dtype t)
{
	if (t.lanes != 1)
		return MSD_P_UNKNOWN;
	if (t.code == MSD_DT_INT || t.code == MSD_DT_UINT)
		return MSD_P_INT;
	if (t.code == MSD_DT_BOOL)
		return MSD_P_BOOL;
	return t.code == MSD_DT_HANDLE ? MSD_P_OTHER : MSD_P_FLOAT;
}

static bool parse_type(struct msd_span type, struct msd_param *p)
{
	struct msd_tensor_type t;

	if (msd_tensor_type_split(type, &t)) {
		p->kind = MSD_P_TENSOR;
		p->has_dtype =
			msd_dtype_parse((const char *)t.dtype.p, t.dtype.n, &p->dtype);
		return t.extents.p == NULL || parse_shape(t.extents, p);
	}
	type = msd_type_trim(type);
	p->has_dtype = msd_dtype_parse((const char *)type.p, type.n, &p->dtype);
	p->kind = p->has_dtype ? scalar_kind(p->dtype) : MSD_P_UNKNOWN;
	return true;
}

static bool parse_params(struct msd_span list, struct msd_signature *s)
{
	for (size_t i = 0; i < s->n_params; i++) {
		struct msd_span type = msd_type_item(&list, ',');
		struct msd_span name = msd_type_item(&type, ':');
		s->params[i].name = strndup((const char *)name.p, name.n);
		if (s->params[i].name == NULL || !parse_type(type, &s->params[i]))
			return false;
	}
	return true;
}

/* NULL if memory is short. */
static char *plain_text(struct msd_span text)
{
	struct msd_buf out = {0};

	msd_script_put_plain(&out, text);
	msd_buf_put_u8(&out, '\0');
	if (out.bad)
		msd_buf_finish(&out);
	return (char *)out.p;
}

msd_err msd_signature_parse(struct msd_span text, struct msd_signature *ret,
			    struct msd_diag *d)
{
	struct msd_signature s;
	char *plain = plain_text(text);

	if (plain == NULL)
		return msd_diag_no_memory(d);
	struct msd_span list = msd_span_of(plain);
	(void)msd_type_item(&list, '('); /* skip to the '(' that opens the list */
	if (!msd_type_unwrap(&list, "", ")")) {
		free(plain);
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "not a signature");
	}
	msd_err err = msd_signature_init(&s, msd_type_items(list), d);
	s.text = plain;
	if (err == MSD_OK && !parse_params(list, &s))
		err = msd_diag_no_memory(d);
	if (err != MSD_OK) {
		msd_signature_finish(&s);
		return err;
	}
	*ret = s;
	return MSD_OK;
}

/* Split @text before its results. @ret_results gets them; n is 0 if there are none. */
static struct msd_span split_results(struct msd_span text, struct msd_span *ret_results)
{
	struct msd_span rest = text;

	(void)msd_type_item(&rest, '(');
	(void)msd_type_item(&rest, ')');
	const struct msd_span params = {text.p, (size_t)(rest.p - text.p)};
	*ret_results = msd_type_trim(rest);
	if (!msd_type_unwrap(ret_results, "-> ", ""))
		*ret_results = (struct msd_span){0};
	return params;
}

msd_err msd_signature_parse_params(struct msd_span text, struct msd_signature *ret,
				   struct msd_diag *d)
{
	struct msd_span results;

	return msd_signature_parse(split_results(text, &results), ret, d);
}

msd_err msd_signature_parse_results(struct msd_span text, struct msd_signature *ret,
				    struct msd_diag *d)
{
	struct msd_signature s;
	struct msd_span list;

	(void)split_results(text, &list);
	(void)msd_type_unwrap(&list, "(", ")");
	msd_err err = msd_signature_init(&s, msd_type_items(list), d);
	if (err != MSD_OK)
		return err;
	for (size_t i = 0; i < s.n_params; i++) {
		if (!parse_type(msd_type_item(&list, ','), &s.params[i])) {
			msd_signature_finish(&s);
			return msd_diag_no_memory(d);
		}
		if (s.params[i].kind != MSD_P_TENSOR) { /* then no result is certain */
			msd_signature_finish(&s);
			break;
		}
	}
	*ret = s;
	return MSD_OK;
}

/* The name of the first extent of @p, "" if it has no name. NULL: @p is not a tensor,
 * or that extent is known. */
static const char *batch_of(const struct msd_param *p)
{
	if (p->kind != MSD_P_TENSOR || p->ndim < 1 || p->shape == NULL ||
	    p->shape[0] >= 0)
		return NULL;
	return p->dim_names != NULL && p->dim_names[0] != NULL ? p->dim_names[0] : "";
}

bool msd_signature_has_batch(const struct msd_signature *s)
{
	const size_t n = s->n_params - s->n_optional;
	const char *const name = s->known && n > 0 ? batch_of(&s->params[0]) : NULL;

	if (name == NULL || (n > 1 && name[0] == '\0'))
		return false;
	for (size_t i = 1; i < n; i++) {
		const char *const other = batch_of(&s->params[i]);
		if (other == NULL || strcmp(other, name) != 0)
			return false;
	}
	return true;
}

static void compose_type(const struct msd_param *p, struct msd_buf *out)
{
	static const char *const names[] = {
		[MSD_P_UNKNOWN] = "?",   [MSD_P_TENSOR] = "Tensor", [MSD_P_INT] = "int",
		[MSD_P_FLOAT] = "float", [MSD_P_BOOL] = "bool",     [MSD_P_STR] = "str",
		[MSD_P_SHAPE] = "shape", [MSD_P_TUPLE] = "tuple",   [MSD_P_OTHER] = "?",
	};

	if (p->kind == MSD_P_TENSOR && (p->ndim >= 0 || p->has_dtype)) {
		msd_tensor_type_put(out, p->shape, p->ndim, p->dim_names,
				    p->has_dtype ? &p->dtype : NULL);
	} else {
		msd_buf_printf(out, "%s", names[p->kind]);
	}
}

msd_err msd_signature_compose(struct msd_signature *s, const char *name,
			      struct msd_diag *d)
{
	struct msd_buf out = {0};

	msd_buf_printf(&out, "%s(", name);
	for (size_t i = 0; i < s->n_params; i++) {
		const struct msd_param *p = &s->params[i];
		msd_buf_printf(&out, "%s", i > 0 ? ", " : "");
		if (p->name != NULL)
			msd_buf_printf(&out, "%s: ", p->name);
		compose_type(p, &out);
		if (i >= s->n_params - s->n_optional)
			msd_buf_printf(&out, " = default");
	}
	msd_buf_printf(&out, ")");
	msd_buf_put_u8(&out, '\0');
	if (out.bad) {
		msd_buf_finish(&out);
		return msd_diag_no_memory(d);
	}
	free(s->text);
	s->text = (char *)out.p;
	return MSD_OK;
}
