/*
 * Happy path: the name is cut at its colon, the module looked up, its function found in
 * what its worker said; the parameters of that are the tensors. A function that fills
 * its outputs has them behind its inputs: the last is taken for one. What a whole model
 * gives back its artifact does not tell, so no outputs are listed.
 */
#include "daemon/supervisor/http/model.h"

#include <string.h>

#include "daemon/supervisor/module/catalog.h"
#include "daemon/supervisor/module/expected.h"
#include "proto/json.h"
#include "proto/value.h"

struct msd_span msd_model_module_name(struct msd_span name)
{
	const uint8_t *colon = name.n > 0 ? memchr(name.p, ':', name.n) : NULL;

	return colon == NULL ? name
			     : (struct msd_span){name.p, (size_t)(colon - name.p)};
}

msd_err msd_model_find(struct msd_house *house, struct msd_span name,
		       struct msd_model *ret, struct msd_diag *d)
{
	const struct msd_span module = msd_model_module_name(name);
	struct msd_model m = {0};
	msd_err err = msd_module_require(house, module, &m.module, d);

	if (err != MSD_OK)
		return err;
	const struct msd_facts *facts = &m.module->crew.facts;
	if (module.n == name.n) {
		m.function = msd_facts_model(facts);
	} else {
		const struct msd_span function = {name.p + module.n + 1,
						  name.n - module.n - 1};
		m.function = msd_facts_function(facts, function);
		if (m.function.n == 0 && msd_facts_are_known(facts)) {
			return msd_diag_set(d, MSD_NOT_FOUND, "%s has no function %.*s",
					    m.module->crew.name, (int)function.n,
					    (const char *)function.p);
		}
	}
	*ret = m;
	return MSD_OK;
}

static struct msd_span text_of(struct msd_span map, const char *key)
{
	const struct msd_span object = msd_map_value(map, key);
	struct msd_cur c = msd_cur_of(object);
	struct msd_wire_value v;

	return object.n > 0 && msd_value_read(&c, &v, NULL) == MSD_OK &&
			       v.kind == MSD_K_STR
		       ? v.as.str
		       : (struct msd_span){0};
}

/* What the protocol has no name for keeps its own. */
static void write_datatype(struct msd_span dtype, struct msd_buf *out)
{
	static const struct {
		const char *ours, *theirs;
	} rows[] = {{"bool", "BOOL"},     {"uint8", "UINT8"},   {"uint16", "UINT16"},
		    {"uint32", "UINT32"}, {"uint64", "UINT64"}, {"int8", "INT8"},
		    {"int16", "INT16"},   {"int32", "INT32"},   {"int64", "INT64"},
		    {"float16", "FP16"},  {"float32", "FP32"},  {"float64", "FP64"},
		    {"bfloat16", "BF16"}, {"int", "INT64"},     {"float", "FP64"}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (msd_span_is(dtype, rows[i].ours)) {
			msd_json_cstr(out, rows[i].theirs);
			return;
		}
	}
	msd_json_str(out, dtype);
}

static void write_shape(struct msd_span shape, struct msd_buf *out)
{
	struct msd_wire_value v;
	struct msd_cur c;
	uint32_t n;

	msd_buf_printf(out, "[");
	if (!msd_array_open(shape, &c, &n))
		n = 0;
	for (uint32_t i = 0; i < n && msd_value_read(&c, &v, NULL) == MSD_OK; i++) {
		msd_buf_printf(out, "%s%lld", i > 0 ? "," : "",
			       v.kind == MSD_K_INT ? (long long)v.as.i : -1LL);
	}
	msd_buf_printf(out, "]");
}

static void write_tensor(struct msd_span param, struct msd_buf *out)
{
	const struct msd_span dtype = text_of(param, "dtype");

	msd_buf_printf(out, "{\"name\":");
	msd_json_str(out, text_of(param, "name"));
	msd_buf_printf(out, ",\"datatype\":");
	write_datatype(dtype.n > 0 ? dtype : text_of(param, "kind"), out);
	msd_buf_printf(out, ",\"shape\":");
	write_shape(msd_map_value(param, "shape"), out);
	msd_buf_printf(out, "}");
}

void msd_model_write_tensors(const struct msd_model *m, struct msd_buf *out)
{
	const bool is_prim = msd_span_is(text_of(m->function, "style"), "prim");
	struct msd_span param;
	struct msd_cur c;
	uint32_t n = 0;

	if (m->function.n == 0 ||
	    !msd_array_open(msd_map_value(m->function, "params"), &c, &n))
		n = 0;
	const uint32_t n_inputs = is_prim && n > 0 ? n - 1 : n;
	msd_buf_printf(out, "\"inputs\":[");
	for (uint32_t i = 0; i < n && msd_object_take(&c, &param); i++) {
		if (i == n_inputs) {
			msd_buf_printf(out, "],\"outputs\":[");
		} else if (i > 0) {
			msd_buf_printf(out, ",");
		}
		write_tensor(param, out);
	}
	msd_buf_printf(out, n_inputs == n ? "],\"outputs\":[]" : "]");
}

const char *msd_model_state(const struct msd_module *m)
{
	if (msd_expected_serves(m))
		return "READY";
	return m->life.state == MSD_STATE_LOADING || m->life.state == MSD_STATE_TRIAL
		       ? "LOADING"
		       : "UNAVAILABLE";
}
