#ifndef MSD_RPC_SESSION_DEVICES_H
#define MSD_RPC_SESSION_DEVICES_H
/*
 * The devices of a session. A device is opened when the client first uses it, and
 * stays open. Each has one in-order queue: it is the stream 0, and the only one.
 */
#include "proto/tvm_rpc/value.h"
#include "runtime/device/device.h"

struct msd_rpc_devices {
	struct msd_dev **list;
	uint32_t n;
};

/**
 * The open device; NULL: the host, which is cpu(0), cpu(1), ... for TVM. Errors:
 * msd_dev_open().
 */
MSD_MUST_CHECK msd_err msd_rpc_devices_reach(struct msd_rpc_devices *all,
					     struct msd_device device,
					     struct msd_dev **ret, struct msd_diag *d);
/** Wait for the queued work of all devices. Errors: msd_dev_sync(). */
MSD_MUST_CHECK msd_err msd_rpc_devices_sync(const struct msd_rpc_devices *all,
					    struct msd_diag *d);
/** Close them. Their memory must be freed before. */
void msd_rpc_devices_finish(struct msd_rpc_devices *all);

/**
 * Attribute @which of @device, by TVM's numbers: 0 says whether it exists. *@ret is
 * None where TVM has none; a text is in @text. Errors: msd_rpc_devices_reach().
 */
MSD_MUST_CHECK msd_err msd_rpc_devices_attribute(struct msd_rpc_devices *all,
						 struct msd_device device,
						 int64_t which,
						 char text[static MSD_DEVICE_TEXT_MAX],
						 struct msd_rpc_value *ret,
						 struct msd_diag *d);

#endif
