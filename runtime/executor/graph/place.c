/* Graphs on devices: selects the storages on the device and moves their parameters. */
#include "runtime/device/memory.h"
#include "runtime/executor/graph/plan.h"

int32_t msd_graph_plan_other_device(const struct msd_graph_plan *p, int32_t type)
{
	for (uint32_t i = 0; i < p->graph.n_entries; i++) {
		const int32_t wanted = p->graph.entries[i].device_type;
		if (wanted != 0 && wanted != MSD_DEV_CPU && wanted != type)
			return wanted;
	}
	return 0;
}

static msd_err param_move(struct msd_graph_storage *s, struct msd_dev *dev,
			  struct msd_diag *d)
{
	struct msd_storage *there = NULL;
	msd_err err = msd_dev_storage(dev, s->bytes, &there, d);

	if (err != MSD_OK)
		return err;
	err = msd_dev_copy(dev, there->data, NULL, s->data, s->bytes, d);
	if (err == MSD_OK) /* the host copy is freed now */
		err = msd_dev_sync(dev, d);
	if (err != MSD_OK) {
		msd_obj_unref(&there->obj);
		return err;
	}
	if (s->own != NULL)
		msd_obj_unref(&s->own->obj);
	s->own = there;
	s->data = there->data;
	return MSD_OK;
}

msd_err msd_graph_plan_place(struct msd_graph_plan *p, struct msd_dev *dev,
			     struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; i < p->graph.n_entries; i++) {
		const struct msd_graph_entry *e = &p->graph.entries[i];
		if (e->device_type == MSD_DEV_CPU)
			p->storages[e->storage].is_host = true;
	}
	for (uint32_t s = 0; err == MSD_OK && s < p->graph.n_storages; s++) {
		struct msd_graph_storage *storage = &p->storages[s];
		if (storage->role == MSD_GRAPH_PARAM && !storage->is_host)
			err = param_move(storage, dev, d);
	}
	if (err == MSD_OK)
		p->dev = dev;
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "graph: parameters");
}
