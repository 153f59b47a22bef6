#include <stdlib.h>

#include "runtime/module/check.h"
#include "runtime/kind/kinds.h"
#include "runtime/load/state.h"

void msd_loaded_close(struct msd_loaded *m)
{
	if (m == NULL)
		return;
	/* Importers first: compiled code keeps handles of what it imports. */
	if (m->graph != NULL) {
		m->graph->ops->close(m->graph);
		free(m->graph->refusal);
		free(m->graph);
	}
	for (uint32_t i = 0; m->nodes != NULL && i < m->tree.n_modules; i++) {
		if (m->nodes[i].ops != NULL)
			m->nodes[i].ops->close(&m->nodes[i]);
		free(m->nodes[i].refusal);
	}
	for (uint32_t i = 0; i < MSD_MAX_DEVICES; i++)
		msd_dev_close(m->reached[i]);
	free(m->nodes);
	free(m->edges);
	free(m->entries);
	free(m->infos);
	msd_inspect_destroy(m->inspect);
	msd_tree_finish(&m->tree);
	msd_elf_finish(&m->elf);
	free(m);
}

static bool is_library(const struct msd_tree_module *module)
{
	return msd_span_is(module->kind, "_lib");
}

/* Make the nodes with their kinds and imports; nothing is opened. */
static msd_err nodes_create(struct msd_loaded *m, struct msd_diag *d)
{
	const struct msd_tree *tree = &m->tree;
	bool has_library = false;
	size_t n_edges = 0;

	if (tree->n_modules == 0) /* the reader lets none through */
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "a tree without modules");
	for (uint32_t i = 0; i < tree->n_modules; i++)
		n_edges += tree->modules[i].n_imports;
	m->nodes = calloc(tree->n_modules + 1u, sizeof(*m->nodes));
	m->edges = calloc(n_edges + 1, sizeof(struct msd_node *));
	if (m->nodes == NULL || m->edges == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory");
	struct msd_node **edge = m->edges;
	for (uint32_t i = 0; i < tree->n_modules; i++) {
		const struct msd_tree_module *module = &tree->modules[i];
		struct msd_node *node = &m->nodes[i];
		msd_node_init(node);
		node->index = i;
		node->kind = module->kind;
		node->imports = edge;
		node->n_imports = module->n_imports;
		for (uint32_t k = 0; k < module->n_imports; k++)
			*edge++ = &m->nodes[module->imports[k]];
		if (is_library(module) && has_library)
			node->ops = &msd_kind_library_again;
		else
			node->ops = msd_node_ops_find(module->kind);
		has_library = has_library || is_library(module);
	}
	return MSD_OK;
}

/* A graph that was given imports the whole tree, as a factory at its root would. */
static msd_err graph_create(struct msd_loaded *m, struct msd_diag *d)
{
	static const char kind[] = "GraphExecutorFactory";

	m->graph = calloc(1, sizeof(*m->graph));
	if (m->graph == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory");
	*m->graph = (struct msd_node){
		.ops = &msd_kind_graph,
		.index = m->tree.n_modules,
		.kind = {(const uint8_t *)kind, sizeof(kind) - 1},
		.imports = &m->root,
		.n_imports = 1,
	};
	msd_node_init(m->graph);
	return MSD_OK;
}

msd_err msd_loaded_wrap(const struct msd_loaded *m, const struct msd_node *node,
			msd_err err, struct msd_diag *d)
{
	if (err == MSD_OK || m->tree.n_modules == 1)
		return err;
	return msd_diag_wrap(d, err, "module %u (%.*s)", node->index,
			     (int)(node->kind.n < 64 ? node->kind.n : 64),
			     (const char *)node->kind.p);
}

/* Where compiled code's lookups start: with TVM 0.7 several nodes stand for the
 * library. */
static struct msd_node *env_of(struct msd_loaded *m, struct msd_node *library)
{
	size_t n = 0;

	for (uint32_t i = 0; i < m->tree.n_modules; i++)
		n += is_library(&m->tree.modules[i]) ? 1 : 0;
	return n > 1 ? &m->nodes[0] : library;
}

static msd_err graph_open(struct msd_loaded *m, const struct msd_node_context *ctx,
			  struct msd_diag *d)
{
	struct msd_node_context own = *ctx;

	own.is_given_graph = true;
	own.env = m->graph;
	return m->graph->ops->open(m->graph, &own, d);
}

/* Open @which nodes: the others first, then the library, whose constructors are code.
 */
static msd_err nodes_open(struct msd_loaded *m, bool libraries,
			  struct msd_node_context *ctx, struct msd_diag *d)
{
	for (uint32_t i = 0; i < m->tree.n_modules; i++) {
		struct msd_node *node = &m->nodes[i];
		if (is_library(&m->tree.modules[i]) != libraries)
			continue;
		ctx->payload = m->tree.modules[i].payload;
		ctx->env = libraries ? env_of(m, node) : node;
		msd_err err = node->ops->open(node, ctx, d);
		if (err != MSD_OK)
			return msd_loaded_wrap(m, node, err, d);
	}
	return MSD_OK;
}

static msd_err node_start(struct msd_loaded *m, struct msd_node *node, bool *started,
			  struct msd_diag *d)
{
	if (started[node->index])
		return MSD_OK;
	started[node->index] = true;
	for (size_t i = 0; i < node->n_imports; i++) {
		msd_err err = node_start(m, node->imports[i], started, d);
		if (err != MSD_OK)
			return err;
	}
	if (node->ops->start == NULL)
		return MSD_OK;
	return msd_loaded_wrap(m, node, node->ops->start(node, d), d);
}

static msd_err nodes_start(struct msd_loaded *m, struct msd_diag *d)
{
	bool *started = calloc(m->tree.n_modules + 1u, sizeof(*started));
	msd_err err = MSD_OK;

	if (started == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory");
	for (uint32_t i = 0; err == MSD_OK && i < m->tree.n_modules; i++)
		err = node_start(m, &m->nodes[i], started, d);
	if (err == MSD_OK && m->graph != NULL)
		err = node_start(m, m->graph, started, d);
	free(started);
	return err;
}

static bool takes_params(struct msd_span kind)
{
	const struct msd_payload_kind *row = msd_payload_kind_find(kind);

	return row != NULL && row->takes_params;
}

/* Parameters that nobody would take were meant for another library. */
static msd_err check_params(const struct msd_loaded *m,
			    const struct msd_load_options *options, struct msd_diag *d)
{
	if (options->params.n == 0 || options->graph.n > 0)
		return MSD_OK;
	for (uint32_t i = 0; i < m->tree.n_modules; i++) {
		if (takes_params(m->tree.modules[i].kind))
			return MSD_OK;
	}
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "parameters were given, and none of its modules takes any");
}

static msd_err loaded_fill(struct msd_loaded *m, int fd, struct msd_span file,
			   const struct msd_load_options *options, struct msd_diag *d)
{
	struct msd_node_context ctx = {
		.fd = fd, .file = file, .elf = &m->elf, .options = options};
	msd_err err = msd_elf_read(file, &m->elf, d);

	if (err == MSD_OK)
		err = msd_elf_check_host(&m->elf, d);
	if (err != MSD_OK)
		return err;
	ctx.era = msd_era_of(&m->elf);
	if (ctx.era == MSD_ERA_NONE)
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a shared library without any symbol of TVM");
	err = msd_tree_read_library(&m->elf, ctx.era, &m->tree, d);
	if (err == MSD_OK)
		err = check_params(m, options, d);
	if (err == MSD_OK)
		err = msd_inspect_read(file, &m->inspect, d);
	if (err == MSD_OK)
		err = nodes_create(m, d);
	m->root = m->nodes;
	if (err == MSD_OK && options->graph.n > 0)
		err = graph_create(m, d);
	if (err == MSD_OK && m->graph != NULL)
		err = graph_open(m, &ctx, d);
	if (err == MSD_OK)
		err = nodes_open(m, false, &ctx, d);
	if (err == MSD_OK)
		err = nodes_open(m, true, &ctx, d);
	if (err == MSD_OK)
		err = nodes_start(m, d);
	if (err == MSD_OK)
		err = msd_loaded_list(m, d);
	return err;
}

msd_err msd_loaded_open(int fd, struct msd_span file,
			const struct msd_load_options *options, struct msd_loaded **ret,
			struct msd_diag *d)
{
	struct msd_loaded *m = calloc(1, sizeof(*m));
	msd_err err;

	if (m == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory");
	m->device = (struct msd_device){MSD_DEV_CPU, 0};
	err = loaded_fill(m, fd, file, options, d);
	if (err != MSD_OK) {
		msd_loaded_close(m);
		return msd_diag_wrap(d, err, "%s", options->label);
	}
	*ret = m;
	return MSD_OK;
}

msd_err msd_loaded_probe(struct msd_loaded *m, const struct msd_probe_gate *gate,
			 struct msd_diag *d)
{
	msd_err err = MSD_OK;
	size_t place = 0;

	for (uint32_t i = 0; err == MSD_OK && i < m->tree.n_modules; i++) {
		if (m->nodes[i].ops->probe != NULL)
			err = m->nodes[i].ops->probe(&m->nodes[i], gate, &place, d);
	}
	return err;
}

const struct msd_func_info *const *msd_loaded_functions(struct msd_loaded *m,
							size_t *ret_n)
{
	*ret_n = m->n_entries;
	return m->infos;
}

struct msd_node *msd_loaded_root(struct msd_loaded *m)
{
	return m->graph != NULL ? m->graph : m->root;
}

const struct msd_inspect *msd_loaded_inspect(const struct msd_loaded *m)
{
	return m->inspect;
}
