#ifndef MSD_RUNTIME_DEVICE_PINNED_H
#define MSD_RUNTIME_DEVICE_PINNED_H
/*
 * Host memory that tensors travel through, made known to drivers: a device copies from
 * and to it directly and while the host goes on, where it would else copy through a
 * buffer of its driver's. Ranges may be named before and after devices open; each open
 * device that can (msd_device_ops.pin) is told. A device that refuses a range copies
 * more slowly, no more.
 *
 * The pages of a pinned range are the device's: they must not be given back to the
 * system (a hole in a memfd), or it would go on with pages that nobody else sees. The
 * supervisor, whose pages they are, knows from a module's description whether it pins.
 *
 * Any thread may call.
 */
#include "runtime/device/device.h"

/** Name @n bytes at @p, whole pages, until msd_pinned_remove(). False: no open device
 * has pinned them, and @d says why; nothing is in it when there is no such device. */
bool msd_pinned_add(void *p, size_t n, struct msd_diag *d);
/** Before the range is unmapped. A range that was not added is fine. */
void msd_pinned_remove(void *p);

/* Of device.c: when a device has opened, and before it closes. */
void msd_pinned_attach(struct msd_dev *dev);
void msd_pinned_detach(struct msd_dev *dev);

#endif
