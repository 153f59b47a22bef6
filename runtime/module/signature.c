/*
 * Parse signatures that compiled code prints in its errors into parameters; compose
 * them again if modserd knows more than the text.
 *
 * Happy path: `name(A: Tensor([n], float32), b: int64)` is split at the commas
 * outside of brackets, each part at its colon. Extents that are not numbers are
 * unknown. A text of another form is kept unchanged, and its parameters stay unknown.
 */
#include "runtime/module/signature.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/script.h"

#define MAX_PARAMS 4096u
#define ANY_SHAPE "[...]" /* shape of a tensor of unknown rank */

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

/* Bytes before the next @stop outside of brackets, or the whole rest. */
static struct msd_span take_item(struct msd_span *in, char stop)
{
	struct msd_span item = {in->p, 0};
	int depth = 0;

	for (; item.n < in->n; item.n++) {
		char c = (char)in->p[item.n];
		if (depth == 0 && c == stop)
			break;
		if (c == '(' || c == '[') {
			depth++;
		} else if (c == ')' || c == ']') {
			depth--;
		}
	}
	size_t used = item.n < in->n ? item.n + 1 : item.n;
	in->p += used;
	in->n -= used;
	return item;
}

static struct msd_span trim(struct msd_span s)
{
	while (s.n > 0 && s.p[0] == ' ') {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && s.p[s.n - 1] == ' ')
		s.n--;
	return s;
}

/* Strip @head and @tail; false if they are missing. */
static bool unwrap(struct msd_span *s, const char *head, const char *tail)
{
	const size_t h = strlen(head);
	const size_t t = strlen(tail);

	if (s->n < h + t || memcmp(s->p, head, h) != 0 ||
	    memcmp(s->p + s->n - t, tail, t) != 0)
		return false;
	s->p += h;
	s->n -= h + t;
	return true;
}

/* "64" or "T.int64(64)"; everything else is symbolic. */
static int64_t extent(struct msd_span s)
{
	int64_t v = 0;

	s = trim(s);
	(void)(unwrap(&s, "T.int64(", ")") || unwrap(&s, "T.int32(", ")"));
	if (s.n == 0 || s.n > 18)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return -1;
		v = v * 10 + (s.p[i] - '0');
	}
	return v;
}

static bool parse_shape(struct msd_span dims, struct msd_param *p)
{
	struct msd_span rest = dims;
	int32_t n = 0;

	while (trim(rest).n > 0) {
		(void)take_item(&rest, ',');
		n++;
	}
	p->shape = calloc((size_t)n + 1, sizeof(*p->shape));
	p->dim_names = calloc((size_t)n + 1, sizeof(*p->dim_names));
	if (p->shape == NULL || p->dim_names == NULL)
		return false;
	p->ndim = n;
	for (int32_t i = 0; i < n; i++) {
		const struct msd_span item = trim(take_item(&dims, ','));

		p->shape[i] = extent(item);
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
	type = trim(type);
	if (msd_span_is(type, "Tensor")) {
		p->kind = MSD_P_TENSOR;
		return true;
	}
	if (unwrap(&type, "Tensor(", ")")) {
		struct msd_span dims = trim(take_item(&type, ','));
		struct msd_span dtype = trim(type);
		p->kind = MSD_P_TENSOR;
		p->has_dtype =
			msd_dtype_parse((const char *)dtype.p, dtype.n, &p->dtype);
		return msd_span_is(dims, ANY_SHAPE) || !unwrap(&dims, "[", "]") ||
		       parse_shape(dims, p);
	}
	p->has_dtype = msd_dtype_parse((const char *)type.p, type.n, &p->dtype);
	p->kind = p->has_dtype ? scalar_kind(p->dtype) : MSD_P_UNKNOWN;
	return true;
}

static uint32_t count_items(struct msd_span list)
{
	uint32_t n = 0;

	for (; trim(list).n > 0; n++)
		(void)take_item(&list, ',');
	return n;
}

static bool parse_params(struct msd_span list, struct msd_signature *s)
{
	for (size_t i = 0; i < s->n_params; i++) {
		struct msd_span type = take_item(&list, ',');
		struct msd_span name = trim(take_item(&type, ':'));
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
	struct msd_span list = text;

	(void)take_item(&list, '('); /* skip to the '(' that opens the list */
	if (list.n == 0 || text.p[text.n - 1] != ')')
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "not a signature");
	list.n--;
	msd_err err = msd_signature_init(&s, count_items(list), d);
	if (err != MSD_OK)
		return err;
	s.text = plain_text(text);
	if (s.text == NULL || !parse_params(list, &s)) {
		msd_signature_finish(&s);
		return msd_diag_no_memory(d);
	}
	*ret = s;
	return MSD_OK;
}

/* Split @text before its results. @ret_results gets them; n is 0 if there are none. */
static struct msd_span split_results(struct msd_span text, struct msd_span *ret_results)
{
	struct msd_span rest = text;

	(void)take_item(&rest, '(');
	(void)take_item(&rest, ')');
	const struct msd_span params = {text.p, (size_t)(rest.p - text.p)};
	*ret_results = trim(rest);
	if (!unwrap(ret_results, "-> ", ""))
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
	(void)unwrap(&list, "(", ")");
	msd_err err = msd_signature_init(&s, count_items(list), d);
	if (err != MSD_OK)
		return err;
	for (size_t i = 0; i < s.n_params; i++) {
		if (!parse_type(take_item(&list, ','), &s.params[i])) {
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
	const char *const name =
		s->known && s->n_params > 0 ? batch_of(&s->params[0]) : NULL;

	if (name == NULL || (s->n_params > 1 && name[0] == '\0'))
		return false;
	for (size_t i = 1; i < s->n_params; i++) {
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
	char dtype[MSD_DTYPE_NAME_MAX];

	msd_buf_printf(out, "%s", names[p->kind]);
	if (p->kind != MSD_P_TENSOR || (p->ndim < 0 && !p->has_dtype))
		return;
	msd_buf_printf(out, "([");
	for (int32_t i = 0; i < p->ndim; i++) {
		const char *comma = i > 0 ? ", " : "";
		if (p->shape != NULL && p->shape[i] >= 0) {
			msd_buf_printf(out, "%s%" PRId64, comma, p->shape[i]);
		} else {
			const char *name =
				p->dim_names != NULL ? p->dim_names[i] : NULL;
			msd_buf_printf(out, "%s%s", comma, name != NULL ? name : "?");
		}
	}
	msd_buf_printf(out, "%s]", p->ndim < 0 ? "..." : "");
	msd_buf_printf(out, ", %s)",
		       p->has_dtype ? msd_dtype_format(p->dtype, dtype) : "?");
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
