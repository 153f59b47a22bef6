#include <inttypes.h>

#include "graph/inspect/inspect.h"
#include "graph/inspect/tally.h"
#include "graph/ir/defaults.h"
#include "graph/ir/dump.h"
#include "graph/ir/graph.h"
#include "proto/base/json.h"

static void put_end(struct msd_buf *out, const modser_sg_tensor *t, const char *more)
{
	msd_buf_printf(out, "  ");
	msd_json_cstr(out, t->name);
	msd_buf_printf(out, ": ");
	msd_sg_put_shape(out, t);
	msd_buf_printf(out, "%s\n", more);
}

static void put_ends(struct msd_buf *out, const char *title,
		     modser_sg_tensor *const *list, size_t n)
{
	msd_buf_printf(out, "%s\n", title);
	for (size_t i = 0; i < n; i++)
		put_end(out, list[i], "");
}

const modser_sg_tensor *msd_sg_inspect_default(const modser_graph *g, size_t i)
{
	return i < msd_sg_default_count(g) ? msd_sg_default_at(g, i)->declared : NULL;
}

static void put_tally(struct msd_buf *out, const struct msd_sg_tally *t)
{
	msd_buf_printf(out, "operators\n");
	for (size_t i = 0; i < t->n_rows; i++)
		msd_buf_printf(out, "  %s %zu\n", t->rows[i].op, t->rows[i].n);
	msd_buf_printf(out, "constants %zu, %" PRIu64 " bytes", t->n_constants,
		       t->constant_bytes);
	if (t->stripped_bytes > 0) {
		msd_buf_printf(out, "; %" PRIu64 " of them were taken out of the file",
			       t->stripped_bytes);
	}
	msd_buf_put_u8(out, '\n');
}

const modser_sg_attr *msd_sg_inspect_attr(const modser_graph *g, size_t i,
					  const char **ret_name)
{
	for (size_t k = 0; k < g->attrs.n; k++) {
		const modser_sg_attr *a = &g->attrs.items[k].value;

		if (a->kind != MODSER_ATTR_INT && a->kind != MODSER_ATTR_STR)
			continue;
		if (i-- == 0) {
			*ret_name = g->attrs.items[k].name;
			return a;
		}
	}
	return NULL;
}

const char *msd_sg_inspect_source(const modser_graph *g, size_t i, size_t *ret_n)
{
	if (i >= g->n_sources)
		return NULL;
	*ret_n = g->sources[i].n;
	return g->sources[i].op;
}

static void put_attrs(struct msd_buf *out, const modser_graph *g)
{
	const modser_sg_attr *a;
	const char *name;

	for (size_t i = 0; (a = msd_sg_inspect_attr(g, i, &name)) != NULL; i++) {
		msd_buf_printf(out, "%s ", name);
		if (a->kind == MODSER_ATTR_INT) {
			msd_buf_printf(out, "%" PRId64, a->as.i);
		} else {
			msd_json_cstr(out, a->as.s);
		}
		msd_buf_put_u8(out, '\n');
	}
}

void msd_sg_inspect_text_of(const modser_graph *g, const struct msd_sg_tally *tally,
			    struct msd_buf *out)
{
	msd_buf_printf(out, "%s model ",
		       modser_graph_text(g, MODSER_GRAPH_SOURCE_FORMAT));
	msd_json_cstr(out, modser_graph_text(g, MODSER_GRAPH_NAME));
	msd_buf_printf(out, ", %zu nodes, %zu tensors\n", tally->n_nodes,
		       tally->n_tensors);
	put_attrs(out, g);
	put_ends(out, "inputs", g->inputs, g->n_inputs);
	for (size_t i = 0; i < msd_sg_default_count(g); i++)
		put_end(out, msd_sg_default_at(g, i)->declared, ", or its default");
	put_ends(out, "outputs", g->outputs, g->n_outputs);
	put_tally(out, tally);
	if (g->n_sources > 0)
		msd_buf_printf(out, "operators of the file\n");
	for (size_t i = 0; i < g->n_sources; i++)
		msd_buf_printf(out, "  %s %zu\n", g->sources[i].op, g->sources[i].n);
}

void msd_sg_inspect_text(const modser_graph *g, struct msd_buf *out)
{
	struct msd_sg_tally tally;

	if (msd_sg_tally_count(g, &tally)) {
		msd_sg_inspect_text_of(g, &tally, out);
	} else {
		out->bad = true;
	}
	msd_sg_tally_finish(&tally);
}
