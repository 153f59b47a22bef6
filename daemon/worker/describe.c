/*
 * The reply to worker.open: describes a module to the supervisor and its clients.
 *
 * If the functions do not fit into a frame, their details are left out first, then
 * whole functions, with their number.
 */
#include "daemon/worker/describe.h"

#include <stdio.h>

#include "proto/limits.h"
#include "proto/value.h"
#include "runtime/device/build_log.h"
#include "runtime/module/signature.h"

#define MAX_TEXT_BYTES (128u * 1024u)
/* Limits within a body; the rest is for the envelope and a wide margin. */
#define DETAILS_BYTES (MSD_MAX_BODY_BYTES / 2)
#define DETAILS_OBJECTS (MSD_MAX_OBJECTS / 2)
#define NAMES_BYTES (MSD_MAX_BODY_BYTES / 8 * 7 - MAX_TEXT_BYTES)
#define NAMES_OBJECTS (MSD_MAX_OBJECTS / 8 * 7)

/* Size of the output so far. */
struct budget {
	struct msd_buf *out;
	size_t objects;
	uint64_t batch; /* limit of rows for joined calls; 0: calls are not joined */
};

static const char *hint_name(enum msd_kind_hint kind)
{
	switch (kind) {
	case MSD_P_TENSOR:
		return "tensor";
	case MSD_P_INT:
		return "int";
	case MSD_P_FLOAT:
		return "float";
	case MSD_P_BOOL:
		return "bool";
	case MSD_P_STR:
		return "str";
	case MSD_P_SHAPE:
		return "shape";
	case MSD_P_TUPLE:
		return "tuple";
	case MSD_P_OTHER:
		return "other";
	case MSD_P_UNKNOWN:
		break;
	}
	return "unknown";
}

/* The names of variable extents, "" for fixed ones. */
static void put_extents(struct budget *b, const struct msd_param *p)
{
	msd_pack_cstr(b->out, "extents");
	msd_pack_array(b->out, (size_t)p->ndim);
	for (int32_t i = 0; i < p->ndim; i++) {
		msd_pack_cstr(b->out, p->dim_names[i] != NULL ? p->dim_names[i] : "");
	}
	b->objects += (size_t)p->ndim;
}

static bool has_names(const struct msd_param *p)
{
	for (int32_t i = 0; p->dim_names != NULL && i < p->ndim; i++) {
		if (p->dim_names[i] != NULL)
			return true;
	}
	return false;
}

/* Extent names are from @shown, to match the signature's text. */
static void put_param(struct budget *b, const struct msd_param *p,
		      const struct msd_param *shown, bool is_optional)
{
	char name[MSD_DTYPE_NAME_MAX];
	bool has_shape = p->ndim >= 0 && (p->ndim == 0 || p->shape != NULL);
	const bool is_named = has_shape && shown != NULL && shown->ndim == p->ndim &&
			      has_names(shown);
	size_t n = 1u + (p->name != NULL) + p->has_dtype + has_shape + is_named +
		   is_optional;

	msd_pack_map(b->out, n);
	if (p->name != NULL)
		msd_pack_pair_str(b->out, "name", p->name);
	msd_pack_pair_str(b->out, "kind", hint_name(p->kind));
	if (p->has_dtype)
		msd_pack_pair_str(b->out, "dtype", msd_dtype_format(p->dtype, name));
	if (has_shape) {
		msd_pack_cstr(b->out, "shape");
		msd_pack_array(b->out, (size_t)p->ndim);
		for (int32_t i = 0; i < p->ndim; i++)
			msd_pack_int(b->out, p->shape[i]);
	}
	if (is_named)
		put_extents(b, shown);
	if (is_optional) {
		msd_pack_cstr(b->out, "optional");
		msd_pack_bool(b->out, true);
	}
	b->objects += 1 + 2 * n + (has_shape ? (size_t)p->ndim : 0);
}

static void put_params(struct budget *b, const struct msd_signature *s)
{
	struct msd_signature shown = {0};
	struct msd_diag ignored = {0};

	if (s->text != NULL && msd_signature_parse_params(msd_span_of(s->text), &shown,
							  &ignored) == MSD_NOMEM)
		b->out->bad = true;
	msd_diag_finish(&ignored);
	const bool is_shown = shown.n_params == s->n_params;
	msd_pack_cstr(b->out, "params");
	msd_pack_array(b->out, s->n_params);
	for (size_t i = 0; i < s->n_params; i++) {
		const struct msd_param *p = &s->params[i];
		put_param(b, p, is_shown && !has_names(p) ? &shown.params[i] : p,
			  i >= s->n_params - s->n_optional);
	}
	msd_signature_finish(&shown);
}

/* Read results from the signature's text, because an executor's text has more, such
 * as its own names. */
static void read_results(struct budget *b, const struct msd_signature *s,
			 struct msd_signature *ret)
{
	struct msd_diag ignored = {0};

	if (s->text != NULL && msd_signature_parse_results(msd_span_of(s->text), ret,
							   &ignored) == MSD_NOMEM)
		b->out->bad = true;
	msd_diag_finish(&ignored);
}

static void put_results(struct budget *b, const struct msd_param *results, size_t n)
{
	msd_pack_cstr(b->out, "results");
	msd_pack_array(b->out, n);
	for (size_t i = 0; i < n; i++)
		put_param(b, &results[i], &results[i], false);
}

static bool can_batch(const struct msd_func_info *f)
{
	return f->style == MSD_FUNC_MODEL && f->refusal == NULL &&
	       msd_signature_has_batch(f->signature);
}

static void put_function(struct budget *b, const struct msd_func_info *f, bool details)
{
	const struct msd_signature *s = f->signature;
	bool has_text = details && s->text != NULL;
	bool has_params = details && s->known;
	bool has_doc = details && f->doc != NULL;
	const bool has_batch = b->batch > 0 && can_batch(f);
	struct msd_signature read = {0};
	if (details && s->n_results == 0)
		read_results(b, s, &read);
	const struct msd_param *results = s->n_results > 0 ? s->results : read.params;
	const size_t n_results = s->n_results > 0 ? s->n_results : read.n_params;
	const bool has_results = details && n_results > 0;
	size_t n = 3u + has_text + has_params + has_results + has_doc + has_batch +
		   (f->refusal != NULL);

	msd_pack_map(b->out, n);
	msd_pack_pair_str(b->out, "name", f->name);
	msd_pack_pair_str(b->out, "style",
			  f->style == MSD_FUNC_MODEL ? "model" : "prim");
	msd_pack_pair_str(b->out, "kind", f->module_kind != NULL ? f->module_kind : "");
	if (has_text)
		msd_pack_pair_str(b->out, "signature", s->text);
	if (has_params)
		put_params(b, s);
	if (has_results)
		put_results(b, results, n_results);
	msd_signature_finish(&read);
	if (has_doc)
		msd_pack_pair_str(b->out, "doc", f->doc);
	if (has_batch)
		msd_pack_pair_uint(b->out, "batch", b->batch);
	if (f->refusal != NULL)
		msd_pack_pair_str(b->out, "refusal", f->refusal);
	b->objects += 1 + 2 * n;
}

/* Write functions until the limit is reached; returns how many were written. */
static size_t put_functions(struct budget *b, const struct msd_func_info *const *all,
			    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t begin = b->out->n;
		size_t objects = b->objects;

		put_function(b, all[i], true);
		if (b->out->n > DETAILS_BYTES || b->objects > DETAILS_OBJECTS) {
			b->out->n = begin;
			b->objects = objects;
			put_function(b, all[i], false);
		}
		if (b->out->n > NAMES_BYTES || b->objects > NAMES_OBJECTS) {
			b->out->n = begin;
			return i;
		}
	}
	return n;
}

static void put_inspect(struct msd_buf *out, const struct msd_buf *text)
{
	msd_pack_cstr(out, "inspect");
	msd_pack_map(out, 1);
	msd_pack_cstr(out, "text");
	msd_pack_text(out, (const char *)text->p,
		      text->n < MAX_TEXT_BYTES ? text->n : MAX_TEXT_BYTES);
}

msd_err msd_describe_write(struct msd_loaded *m, const struct msd_sandbox *sandbox,
			   uint64_t batch, uint64_t shared_weights, struct msd_buf *out,
			   struct msd_diag *d)
{
	const struct msd_loaded_about *about = msd_loaded_about(m);
	size_t n;
	const struct msd_func_info *const *all = msd_loaded_functions(m, &n);
	struct msd_buf functions = {0};
	struct budget b = {.out = &functions, .batch = batch};
	size_t n_in = put_functions(&b, all, n);

	const struct msd_device device = msd_loaded_device(m);
	char type[MSD_DTYPE_NAME_MAX];
	char place[MSD_DTYPE_NAME_MAX + 16];

	(void)snprintf(place, sizeof(place), "%s:%d",
		       msd_device_type_format(device.type, type), device.id);
	msd_pack_map(out, 7u + (n_in < n) + (shared_weights > 0));
	msd_pack_pair_str(out, "device", place);
	msd_pack_pair_str(out, "era", about->era);
	msd_pack_pair_str(out, "machine", about->machine);
	msd_pack_pair_uint(out, "built_ms", msd_build_ms());
	if (shared_weights > 0)
		msd_pack_pair_uint(out, "shared_weights", shared_weights);
	msd_pack_cstr(out, "sandbox");
	msd_sandbox_put(sandbox, out);
	put_inspect(out, &about->text);
	msd_pack_cstr(out, "functions");
	msd_pack_array(out, n_in);
	msd_buf_put(out, functions.p, functions.n);
	if (n_in < n) {
		msd_pack_cstr(out, "left_out");
		msd_pack_uint(out, n - n_in);
	}
	bool bad = out->bad || functions.bad;
	msd_buf_finish(&functions);
	return bad ? msd_diag_no_memory(d) : MSD_OK;
}
