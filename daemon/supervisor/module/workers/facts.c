/*
 * Happy path: check the description, copy its parts to one text in the order of
 * module.describe, compile the signatures and sort them by name. Failures: the
 * description breaks the protocol; the old facts stay.
 */
#include "daemon/supervisor/module/workers/facts.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/stream/shared.h"
#include "daemon/supervisor/module/workers/signature.h"
#include "proto/base/spelling.h"
#include "proto/value.h"

static const char *const parts[MSD_FACTS_N_PARTS] = {
	"device", "era", "machine", "built_ms", "sandbox", "inspect", "functions"};
enum { DEVICE = 0, FUNCTIONS = MSD_FACTS_N_PARTS - 1 };

void msd_facts_finish(struct msd_facts *f)
{
	for (uint32_t i = 0; i < f->n_functions; i++)
		msd_function_signature_finish(&f->all[i]);
	msd_shared_unref(f->text);
	free(f->all);
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

	if (body->n_handles + body->n_tensors + body->n_objects > 0)
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

static int compare(struct msd_span x, struct msd_span y)
{
	const int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);

	return order != 0 ? order : (x.n > y.n) - (x.n < y.n);
}

/* Of functions with the same name, the first one counts. */
static int by_name(const void *a, const void *b)
{
	const struct msd_function_signature *x = a, *y = b;
	const int order = compare(x->name, y->name);

	return order != 0 ? order : (x->name.p > y->name.p) - (x->name.p < y->name.p);
}

/* An executor has other functions beside `run`, which describe its graph. */
static const struct msd_function_signature *find_model(const struct msd_facts *f)
{
	const struct msd_function_signature *found =
		msd_facts_function(f, msd_span_of("main"));
	uint32_t n_models = 0;

	if (found != NULL)
		return found;
	found = msd_facts_function(f, msd_span_of("run"));
	if (found != NULL && found->is_model)
		return found;
	if (f->n_functions == 1)
		return &f->all[0];
	for (uint32_t i = 0; i < f->n_functions; i++) {
		if (f->all[i].is_model) {
			found = &f->all[i];
			n_models++;
		}
	}
	return n_models == 1 ? found : NULL;
}

static msd_err compile(struct msd_facts *f, uint32_t n, struct msd_diag *d)
{
	struct msd_span function;
	struct msd_cur c;
	uint32_t n_all;
	msd_err err = MSD_OK;

	f->all = calloc(n + 1u, sizeof(*f->all)); /* never NULL, even if empty */
	if (f->all == NULL)
		return msd_diag_no_memory(d);
	if (!msd_array_open(f->functions, &c, &n_all))
		return fail(d, "no functions");
	while (f->n_functions < n && err == MSD_OK) {
		if (!msd_object_parse(&c, &function))
			return fail(d, "a function without a name");
		f->can_join |= msd_map_value(function, "batch").n > 0;
		err = msd_function_signature_read(&f->all[f->n_functions++], function,
						  d);
	}
	if (err != MSD_OK)
		return err;
	qsort(f->all, n, sizeof(*f->all), by_name);
	f->model = find_model(f);
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
		err = compile(&more, n, d);
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

void msd_facts_put_model(const struct msd_facts *f, struct msd_buf *out)
{
	msd_pack_cstr(out, "model");
	if (f->model != NULL) {
		msd_pack_text(out, (const char *)f->model->name.p, f->model->name.n);
	} else {
		msd_pack_nil(out);
	}
}

const struct msd_function_signature *msd_facts_function(const struct msd_facts *f,
							struct msd_span name)
{
	uint32_t low = 0, high = f->n_functions;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (compare(f->all[middle].name, name) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < f->n_functions && compare(f->all[low].name, name) == 0
		       ? &f->all[low]
		       : NULL;
}

struct msd_span msd_facts_near_function(const struct msd_facts *f, struct msd_span name)
{
	struct msd_spelling near;

	msd_spelling_start(&near, name);
	for (uint32_t i = 0; i < f->n_functions; i++)
		msd_spelling_look(&near, f->all[i].name);
	return near.best;
}
