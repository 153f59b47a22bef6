/* Files of frameworks that a serializer can read. The tree has one node, the model.
 * Nothing in the file is executed. */
#include <stdlib.h>
#include <string.h>

#include "graph/modser_graph.h"
#include "graph/serializer/model_files.h"
#include "runtime/executor/static_graph/kind.h"
#include "runtime/load/format.h"

static bool is_known(struct msd_span file)
{
	if (msd_model_files_are(file))
		return true;
	modser_serializer *s = modser_serializer_probe(file.p, file.n);
	const bool is_found = s != NULL;

	modser_serializer_unref(s);
	return is_found;
}

static msd_err node_create(struct msd_loaded *m, struct msd_diag *d)
{
	static const char name[] = "StaticGraph";

	m->nodes = calloc(1, sizeof(*m->nodes));
	if (m->nodes == NULL)
		return msd_diag_no_memory(d);
	m->nodes[0] = (struct msd_node){
		.ops = &msd_kind_static_graph,
		.kind = {(const uint8_t *)name, sizeof(name) - 1},
		.kind_name = name,
	};
	msd_node_init(m->nodes);
	m->root = m->nodes;
	m->n_nodes = 1;
	m->n_modules = 1;
	return MSD_OK;
}

static msd_err open_model(struct msd_loaded *m, const struct msd_load_source *from,
			  struct msd_diag *d)
{
	const struct msd_node_context ctx = {.fd = from->fd,
					     .file = from->file,
					     .payload = from->file,
					     .options = from->options};

	if (from->options->graph.n > 0 || from->options->params.n > 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a graph or parameters were given, and a "
				    "framework's model has its own");
	}
	msd_err err = node_create(m, d);
	if (err == MSD_OK)
		err = m->root->ops->open(m->root, &ctx, d);
	if (err != MSD_OK)
		return err;
	msd_static_graph_text(m->root, &m->about.text);
	m->about.era = "none: a framework's model";
	m->about.machine = strdup("any");
	return m->about.machine == NULL || m->about.text.bad ? msd_diag_no_memory(d)
							     : MSD_OK;
}

const struct msd_format msd_format_static_graph = {
	.name = "framework's model",
	.is = is_known,
	.open = open_model,
};
