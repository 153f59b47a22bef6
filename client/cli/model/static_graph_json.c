#include "client/cli/model/static_graph_json.h"

#include "artifact/json.h"
#include "graph/inspect/inspect.h"
#include "graph/inspect/tally.h"

/* null if unknown; an open extent is its name. */
static json_t *shape_of(const modser_sg_tensor *t)
{
	const int ndim = modser_sg_tensor_ndim(t);
	const int64_t *dims = modser_sg_tensor_dims(t);
	json_t *list = ndim < 0 ? json_null() : json_array();

	for (int i = 0; i < ndim; i++) {
		msd_json_add(&list, dims[i] >= 0
					    ? json_integer(dims[i])
					    : msd_json_string(modser_sg_tensor_dim_name(
						      t, (size_t)i)));
	}
	return list;
}

static json_t *end_of(const modser_sg_tensor *t, bool has_default)
{
	json_t *end = json_object();

	msd_json_set(&end, "name", msd_json_string(modser_sg_tensor_name(t)));
	msd_json_set(&end, "dtype", msd_json_string(modser_sg_tensor_dtype(t)));
	msd_json_set(&end, "shape", shape_of(t));
	if (has_default)
		msd_json_set(&end, "has_default", json_true());
	return end;
}

/* By the names of the file. */
static json_t *sources_of(const modser_graph *g)
{
	json_t *map = json_object();
	const char *op;
	size_t n;

	for (size_t i = 0; (op = msd_sg_inspect_source(g, i, &n)) != NULL; i++)
		msd_json_set(&map, op, json_integer((json_int_t)n));
	return map;
}

static void put_tally(json_t **doc, const modser_graph *g)
{
	struct msd_sg_tally t;
	json_t *operators = msd_sg_tally_count(g, &t) ? json_object() : NULL;

	for (size_t i = 0; operators != NULL && i < t.n_rows; i++) {
		msd_json_set(&operators, t.rows[i].op,
			     json_integer((json_int_t)t.rows[i].n));
	}
	msd_json_set(doc, "operators", operators);
	msd_json_set(doc, "source_operators", sources_of(g));
	msd_json_set(doc, "constants", json_integer((json_int_t)t.n_constants));
	msd_json_set(doc, "constant_bytes", json_integer((json_int_t)t.constant_bytes));
	msd_json_set(doc, "stripped_bytes", json_integer((json_int_t)t.stripped_bytes));
	msd_sg_tally_finish(&t);
}

static json_t *attributes_of(const modser_graph *g)
{
	json_t *map = json_object();
	const modser_sg_attr *a;
	const char *name;

	for (size_t i = 0; (a = msd_sg_inspect_attr(g, i, &name)) != NULL; i++) {
		msd_json_set(&map, name,
			     a->kind == MODSER_ATTR_INT ? json_integer(a->as.i)
							: msd_json_string(a->as.s));
	}
	return map;
}

/* null: unknown before a run. */
static json_t *run_bytes_of(modser_graph *g)
{
	uint64_t bytes = 0;

	return msd_sg_inspect_run(g, &bytes) == 0 ? json_integer((json_int_t)bytes)
						  : json_null();
}

json_t *msd_static_graph_json(modser_graph *g)
{
	static const struct {
		const char *key;
		modser_graph_fact what;
	} texts[] = {{"format", MODSER_GRAPH_SOURCE_FORMAT},
		     {"name", MODSER_GRAPH_NAME},
		     {"domain", MODSER_GRAPH_DOMAIN},
		     {"identity", MODSER_GRAPH_IDENTITY},
		     {"version", MODSER_GRAPH_VERSION}};
	json_t *doc = json_object();
	json_t *inputs = json_array();
	json_t *outputs = json_array();
	const modser_sg_tensor *t;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		msd_json_set(&doc, texts[i].key,
			     msd_json_string(modser_graph_text(g, texts[i].what)));
	}
	for (size_t i = 0; i < modser_graph_input_count(g); i++)
		msd_json_add(&inputs, end_of(modser_graph_input(g, i), false));
	for (size_t i = 0; (t = msd_sg_inspect_default(g, i)) != NULL; i++)
		msd_json_add(&inputs, end_of(t, true));
	for (size_t i = 0; i < modser_graph_output_count(g); i++)
		msd_json_add(&outputs, end_of(modser_graph_output(g, i), false));
	msd_json_set(&doc, "attributes", attributes_of(g));
	msd_json_set(&doc, "nodes",
		     json_integer((json_int_t)modser_graph_node_count(g)));
	msd_json_set(&doc, "tensors",
		     json_integer((json_int_t)modser_graph_tensor_count(g)));
	msd_json_set(&doc, "inputs", inputs);
	msd_json_set(&doc, "outputs", outputs);
	put_tally(&doc, g);
	/* Computed last, because it infers shapes. */
	msd_json_set(&doc, "run_bytes", run_bytes_of(g));
	return doc;
}
