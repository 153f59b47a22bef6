#include "runtime/device/device.h"
#include "runtime/load/state.h"

/* The first device that the tree has code for, in lookup order; else the CPU. */
static struct msd_device default_device(const struct msd_loaded *m)
{
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		const struct msd_device_ops *ops =
			msd_device_ops_of_kind(m->nodes[i].kind);
		if (ops != NULL && m->nodes[i].ops->place != NULL)
			return (struct msd_device){ops->type, 0};
	}
	return (struct msd_device){MSD_DEV_CPU, 0};
}

static bool has_code_for(const struct msd_loaded *m, int32_t type)
{
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		const struct msd_device_ops *ops =
			msd_device_ops_of_kind(m->nodes[i].kind);
		if (ops != NULL && ops->type == type)
			return true;
	}
	return type == MSD_DEV_CPU;
}

static msd_err node_place(const struct msd_loaded *m, struct msd_node *node,
			  struct msd_device device, struct msd_diag *d)
{
	if (node->ops->place == NULL)
		return MSD_OK;
	return msd_loaded_wrap(m, node, node->ops->place(node, device, d), d);
}

msd_err msd_loaded_place(struct msd_loaded *m, struct msd_device device,
			 struct msd_diag *d)
{
	char name[MSD_DTYPE_NAME_MAX];
	msd_err err = MSD_OK;

	if (device.type == 0)
		device = default_device(m);
	if (!has_code_for(m, device.type)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "device %s:%d: the module has no code for %s",
				    msd_device_type_format(device.type, name),
				    device.id, name);
	}
	if (device.type == MSD_DEV_CPU && device.id != 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "cpu:%d: the host is cpu:0",
				    device.id);
	}
	/* Imports first: they are after their importers; the root is last. */
	for (uint32_t i = m->n_nodes; err == MSD_OK && i-- > 0;) {
		if (&m->nodes[i] != m->root)
			err = node_place(m, &m->nodes[i], device, d);
	}
	if (err == MSD_OK)
		err = node_place(m, m->root, device, d);
	if (err == MSD_OK)
		m->device = device;
	return err;
}

msd_err msd_loaded_reach_device(struct msd_loaded *m, struct msd_device device,
				struct msd_dev **ret, struct msd_diag *d)
{
	char wanted[MSD_DTYPE_NAME_MAX];
	char place[MSD_DTYPE_NAME_MAX];

	*ret = msd_dev_peek(device);
	if (*ret != NULL)
		return MSD_OK;
	if (device.type != m->device.type || device.type == MSD_DEV_CPU ||
	    device.id < 0 || device.id >= (int32_t)MSD_MAX_DEVICES) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"device %s:%d: the module is placed on %s:%d",
			msd_device_type_format(device.type, wanted), device.id,
			msd_device_type_format(m->device.type, place), m->device.id);
	}
	msd_err err = msd_dev_open(device, &m->reached[device.id], d);
	*ret = m->reached[device.id];
	return err;
}

struct msd_device msd_loaded_device(const struct msd_loaded *m)
{
	return m->device;
}
