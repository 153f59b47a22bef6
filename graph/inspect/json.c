#include "proto/json.h"

#include <inttypes.h>

#include "graph/inspect/inspect.h"
#include "graph/inspect/tally.h"
#include "graph/ir/graph.h"

static void put_text(struct msd_buf *out, const char *key, const char *text)
{
	msd_json_cstr(out, key);
	msd_buf_printf(out, ": ");
	msd_json_cstr(out, text);
	msd_buf_printf(out, ", ");
}

static void put_shape(struct msd_buf *out, const modser_sg_tensor *t)
{
	if (t->ndim < 0) {
		msd_buf_printf(out, "null");
		return;
	}
	msd_buf_put_u8(out, '[');
	for (int i = 0; i < t->ndim; i++) {
		msd_buf_printf(out, i > 0 ? ", " : "");
		if (t->dims[i] >= 0) {
			msd_buf_printf(out, "%" PRId64, t->dims[i]);
		} else {
			msd_json_cstr(out, modser_sg_tensor_dim_name(t, (size_t)i));
		}
	}
	msd_buf_put_u8(out, ']');
}

static void put_ends(struct msd_buf *out, const char *key,
		     modser_sg_tensor *const *list, size_t n)
{
	msd_buf_printf(out, "\"%s\": [", key);
	for (size_t i = 0; i < n; i++) {
		msd_buf_printf(out, i > 0 ? ", {" : "{");
		put_text(out, "name", list[i]->name);
		put_text(out, "dtype", list[i]->dtype_name);
		msd_buf_printf(out, "\"shape\": ");
		put_shape(out, list[i]);
		msd_buf_put_u8(out, '}');
	}
	msd_buf_printf(out, "], ");
}

static void put_tally(struct msd_buf *out, const struct msd_sg_tally *t)
{
	msd_buf_printf(out, "\"operators\": {");
	for (size_t i = 0; i < t->n_rows; i++) {
		msd_buf_printf(out, i > 0 ? ", " : "");
		msd_json_cstr(out, t->rows[i].op);
		msd_buf_printf(out, ": %zu", t->rows[i].n);
	}
	msd_buf_printf(out,
		       "}, \"constants\": %zu, \"constant_bytes\": %" PRIu64
		       ", \"stripped_bytes\": %" PRIu64,
		       t->n_constants, t->constant_bytes, t->stripped_bytes);
}

void msd_sg_inspect_json(const modser_graph *g, struct msd_buf *out)
{
	struct msd_sg_tally tally;

	msd_buf_put_u8(out, '{');
	put_text(out, "format", modser_graph_text(g, MODSER_GRAPH_SOURCE_FORMAT));
	put_text(out, "name", modser_graph_text(g, MODSER_GRAPH_NAME));
	put_text(out, "domain", modser_graph_text(g, MODSER_GRAPH_DOMAIN));
	put_text(out, "identity", modser_graph_text(g, MODSER_GRAPH_IDENTITY));
	put_text(out, "version", modser_graph_text(g, MODSER_GRAPH_VERSION));
	msd_buf_printf(out, "\"nodes\": %zu, \"tensors\": %zu, ", g->n_nodes,
		       g->n_tensors);
	put_ends(out, "inputs", g->inputs, g->n_inputs);
	put_ends(out, "outputs", g->outputs, g->n_outputs);
	if (msd_sg_tally_take(g, &tally)) {
		put_tally(out, &tally);
	} else {
		out->bad = true;
	}
	msd_buf_put_u8(out, '}');
	msd_sg_tally_finish(&tally);
}
