#include "artifact/graph_json/graph.h"
#include "tests/fuzz/fuzz.h"

/* Follow what the reader says is in range. */
static uint64_t walk(const struct msd_graph *g)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct msd_graph_node *node = &g->nodes[i];
		for (uint32_t k = 0; k < node->n_inputs; k++)
			sum += g->entries[node->inputs[k]].bytes;
		for (uint32_t k = 0; k < node->n_entries; k++)
			sum += g->entries[node->first_entry + k].storage;
	}
	for (uint32_t i = 0; i < g->n_entries; i++) {
		const struct msd_graph_entry *e = &g->entries[i];
		sum += (uint64_t)g->storage_ids[e->storage];
		for (uint32_t k = 0; k < e->ndim; k++)
			sum += (uint64_t)e->shape[k];
	}
	for (uint32_t i = 0; i < g->n_heads; i++)
		sum += g->entries[g->heads[i]].bytes;
	return sum;
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_graph g = {0};
	struct msd_diag d = {0};
	msd_err err = msd_graph_read((struct msd_span){data, n}, &g, &d);

	msd_diag_finish(&d);
	if (err != MSD_OK)
		return 0;
	volatile uint64_t sum = walk(&g);
	(void)sum;
	msd_graph_finish(&g);
	return 1;
}
