/* A module from load to close, for all formats: its row in format.c opens it, its
 * nodes start imports first, and its functions are listed. */
#include "runtime/load/loaded.h"

#include <stdlib.h>

#include "runtime/load/format.h"

static void node_close(struct msd_node *node)
{
	if (node->ops != NULL)
		node->ops->close(node);
	free(node->refusal);
}

void msd_loaded_close(struct msd_loaded *m)
{
	if (m == NULL)
		return;
	/* Importers first: compiled code keeps handles of its imports. */
	if (m->root != NULL)
		node_close(m->root);
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		if (&m->nodes[i] != m->root)
			node_close(&m->nodes[i]);
	}
	if (m->format != NULL && m->format->close != NULL)
		m->format->close(m->form);
	for (uint32_t i = 0; i < MSD_MAX_DEVICES; i++)
		msd_dev_close(m->reached[i]);
	free(m->nodes);
	free(m->edges);
	free(m->entries);
	free(m->infos);
	free(m->about.machine);
	msd_buf_finish(&m->about.text);
	free(m);
}

msd_err msd_loaded_wrap(const struct msd_loaded *m, const struct msd_node *node,
			msd_err err, struct msd_diag *d)
{
	if (err == MSD_OK || m->n_modules == 1)
		return err;
	return msd_diag_wrap(d, err, "module %u (%.*s)", node->index,
			     (int)(node->kind.n < 64 ? node->kind.n : 64),
			     (const char *)node->kind.p);
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
	bool *started = calloc(m->n_nodes + 1u, sizeof(*started));
	msd_err err = MSD_OK;

	if (started == NULL)
		return msd_diag_no_memory(d);
	for (uint32_t i = 0; err == MSD_OK && i < m->n_nodes; i++)
		err = node_start(m, &m->nodes[i], started, d);
	free(started);
	return err;
}

/* A given graph or program that cannot run, while all modules of the library can,
 * belongs to another library. */
static msd_err check_given(const struct msd_loaded *m, struct msd_diag *d)
{
	struct msd_buf why = {0};
	const char *refusal = NULL;

	if (m->root->index < m->n_modules)
		return MSD_OK;
	for (size_t i = 0; i < m->n_entries; i++) {
		if (m->entries[i].node == m->root)
			refusal = m->entries[i].info->refusal;
	}
	msd_node_refusals(m->root->imports[0], &why);
	const bool is_other = refusal != NULL && why.n == 0 && !why.bad;
	msd_buf_finish(&why);
	return is_other ? msd_diag_set(d, MSD_UNSUPPORTED,
				       "%s; does this library belong to the other "
				       "given files?",
				       refusal)
			: MSD_OK;
}

msd_err msd_loaded_open(int fd, struct msd_span file,
			const struct msd_load_options *options, struct msd_loaded **ret,
			struct msd_diag *d)
{
	const struct msd_load_source from = {
		.fd = fd, .file = file, .options = options};
	struct msd_loaded *m = calloc(1, sizeof(*m));
	msd_err err;

	if (m == NULL)
		return msd_diag_no_memory(d);
	m->device = (struct msd_device){MSD_DEV_CPU, 0};
	m->tvm_inputs = options->run.tvm_inputs;
	m->format = msd_format_find(file, options);
	err = m->format->open(m, &from, d);
	if (err == MSD_OK)
		err = nodes_start(m, d);
	if (err == MSD_OK)
		err = msd_loaded_list(m, d);
	if (err == MSD_OK)
		err = check_given(m, d);
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

	for (uint32_t i = 0; err == MSD_OK && i < m->n_nodes; i++) {
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
	return m->root;
}

const struct msd_loaded_about *msd_loaded_about(const struct msd_loaded *m)
{
	return &m->about;
}
