/*
 * Happy path: check the description, copy its parts to one text in the order of
 * module.describe, and sort the function names. Failures: the description breaks the
 * protocol; the old facts stay.
 */
#include "daemon/supervisor/module/workers/facts.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/stream/shared.h"
#include "proto/base/spelling.h"
#include "proto/value.h"

static const char *const parts[MSD_FACTS_N_PARTS] = {
	"device", "era", "machine", "built_ms", "sandbox", "inspect", "functions"};
enum { DEVICE = 0, FUNCTIONS = MSD_FACTS_N_PARTS - 1 };

void msd_facts_finish(struct msd_facts *f)
{
	msd_shared_unref(f->text);
	free(f->names);
	*f = (struct msd_facts){0};
}

static bool read_str(struct msd_span object, struct msd_span *ret)
{
	struct msd_cur c = msd_cur_of(object);
	struct msd_wire_value v;

	if (object.n == 0 || msd_value_read(&c, &v, NULL) != MSD_OK ||
	    v.kind != MSD_K_STR)
		return false;
	*ret = v.as.str;
	return true;
}

static bool is_cuda(struct msd_span device)
{
	struct msd_span text;

	return read_str(device, &text) && text.n > strlen("cuda:") &&
	       memcmp(text.p, "cuda:", strlen("cuda:")) == 0;
}

static msd_err fail(struct msd_diag *d, const char *what)
{
	return msd_diag_set(d, MSD_INTERNAL, "the worker's description: %s", what);
}

static msd_err check(const struct msd_body *body, uint32_t *ret_n, struct msd_diag *d)
{
	struct msd_cur c;

	if (body->n_handles + body->n_tensors > 0)
		return fail(d, "it holds a handle or a tensor");
	if (!msd_array_open(msd_map_value(body->result, parts[FUNCTIONS]), &c, ret_n))
		return fail(d, "no functions");
	return MSD_OK;
}

/* Append the parts, key and value each; the functions are last. */
static void write_parts(struct msd_buf *b, struct msd_span result)
{
	for (unsigned i = 0; i < MSD_FACTS_N_PARTS; i++) {
		struct msd_span value = msd_map_value(result, parts[i]);
		msd_pack_cstr(b, parts[i]);
		if (value.n > 0) {
			msd_buf_put(b, value.p, value.n);
		} else {
			msd_pack_nil(b);
		}
	}
}

/* The first part is the device. */
static struct msd_span first_value(const struct msd_shared *text)
{
	struct msd_cur c = msd_cur_of((struct msd_span){text->bytes, text->n});
	struct msd_span key, value = {0};

	return msd_object_parse(&c, &key) && msd_object_parse(&c, &value)
		       ? value
		       : (struct msd_span){0};
}

static msd_err keep_text(struct msd_facts *f, struct msd_span result,
			 struct msd_diag *d)
{
	const size_t n_functions = msd_map_value(result, parts[FUNCTIONS]).n;
	struct msd_buf b = {0};

	write_parts(&b, result);
	if (!b.bad)
		f->text = msd_shared_new(b.n);
	if (f->text != NULL) {
		memcpy(f->text->bytes, b.p, b.n);
		f->device = first_value(f->text);
		f->functions = (struct msd_span){f->text->bytes + b.n - n_functions,
						 n_functions};
	}
	msd_buf_finish(&b);
	return f->text != NULL ? MSD_OK : msd_diag_no_memory(d);
}

static int compare(const void *a, const void *b)
{
	const struct msd_span *x = a, *y = b;
	const int order = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);

	return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

static msd_err keep_names(struct msd_facts *f, uint32_t n, struct msd_diag *d)
{
	struct msd_span function;
	struct msd_cur c;
	uint32_t n_all;

	f->names = calloc(n + 1u, sizeof(*f->names)); /* never NULL, even if empty */
	if (f->names == NULL)
		return msd_diag_no_memory(d);
	if (!msd_array_open(f->functions, &c, &n_all))
		return fail(d, "no functions");
	while (f->n_functions < n) {
		if (!msd_object_parse(&c, &function) ||
		    !read_str(msd_map_value(function, "name"),
			      &f->names[f->n_functions]))
			return fail(d, "a function without a name");
		f->n_functions++;
	}
	qsort(f->names, n, sizeof(*f->names), compare);
	return MSD_OK;
}

msd_err msd_facts_set(struct msd_facts *f, const struct msd_body *body,
		      struct msd_diag *d)
{
	struct msd_facts more = {0};
	uint32_t n = 0;
	msd_err err = check(body, &n, d);

	if (err == MSD_OK)
		err = keep_text(&more, body->result, d);
	if (err == MSD_OK)
		err = keep_names(&more, n, d);
	if (err != MSD_OK) {
		msd_facts_finish(&more);
		return err;
	}
	more.has_pins = is_cuda(msd_map_value(body->result, parts[DEVICE]));
	msd_facts_finish(f);
	*f = more;
	return MSD_OK;
}

void msd_facts_put_unknown(struct msd_buf *out)
{
	write_parts(out, (struct msd_span){0});
}

bool msd_facts_have_function(const struct msd_facts *f, struct msd_span name)
{
	return f->n_functions > 0 && bsearch(&name, f->names, f->n_functions,
					     sizeof(*f->names), compare) != NULL;
}

struct msd_span msd_facts_function(const struct msd_facts *f, struct msd_span name)
{
	struct msd_span function = {0}, is = {0};
	struct msd_cur c;
	uint32_t n;

	if (!msd_array_open(f->functions, &c, &n))
		return (struct msd_span){0};
	while (n-- > 0 && msd_object_parse(&c, &function)) {
		if (read_str(msd_map_value(function, "name"), &is) && is.n == name.n &&
		    memcmp(is.p, name.p, name.n) == 0)
			return function;
	}
	return (struct msd_span){0};
}

static bool has_style(struct msd_span function, const char *style)
{
	struct msd_span is = {0};

	return function.n > 0 && read_str(msd_map_value(function, "style"), &is) &&
	       msd_span_is(is, style);
}

bool msd_facts_is_prim(const struct msd_facts *f, struct msd_span name)
{
	return has_style(msd_facts_function(f, name), "prim");
}

struct msd_span msd_facts_model(const struct msd_facts *f)
{
	struct msd_span function = {0};
	struct msd_span found = msd_facts_function(f, msd_span_of("main"));
	struct msd_cur c;
	uint32_t n, n_models = 0;

	if (found.n > 0 || !msd_array_open(f->functions, &c, &n))
		return found;
	/* An executor has other functions, which describe its graph. */
	found = msd_facts_function(f, msd_span_of("run"));
	if (has_style(found, "model"))
		return found;
	found = (struct msd_span){0};
	for (uint32_t i = 0; i < n && msd_object_parse(&c, &function); i++) {
		if (has_style(function, "model")) {
			found = function;
			n_models++;
		} else if (n == 1) {
			return function;
		}
	}
	return n_models == 1 ? found : (struct msd_span){0};
}

struct msd_span msd_facts_near_function(const struct msd_facts *f, struct msd_span name)
{
	struct msd_spelling near;

	msd_spelling_start(&near, name);
	for (uint32_t i = 0; i < f->n_functions; i++)
		msd_spelling_look(&near, f->names[i]);
	return near.best;
}
