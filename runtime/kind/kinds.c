#include "runtime/kind/kinds.h"

/* Every kind of module that runs here. What has no row is refused by name. */
static const struct msd_node_ops *const rows[] = {
	&msd_kind_library,         &msd_kind_aot,
	&msd_kind_metadata,        &msd_kind_const_loader,
	&msd_kind_metadata_module, &msd_kind_cuda,
	&msd_kind_opencl,          &msd_kind_graph,
	&msd_kind_graph_07,        &msd_kind_relay_vm,
	&msd_kind_relax_vm,        &msd_kind_relax_executable,
};

const struct msd_node_ops *msd_node_ops_find(struct msd_span kind)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (msd_span_is(kind, rows[i]->kind))
			return rows[i];
	}
	return &msd_kind_refused;
}
