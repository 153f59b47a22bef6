#ifndef MSD_RUNTIME_DEVICE_PINNED_H
#define MSD_RUNTIME_DEVICE_PINNED_H
/*
 * Host memory for tensor transfers, registered with drivers. A device copies from and
 * to it directly and concurrently with the host, without a buffer of its driver.
 * Ranges may be added before and after devices open; each open device that can pin
 * (msd_device_ops.pin) is notified. If a device rejects a range, its copies are only
 * slower.
 *
 * The device uses the pages of a pinned range. Do not return them to the system (a
 * hole in a memfd), or the device continues with pages that no process sees. The
 * supervisor owns the pages and learns from a module's description whether it pins.
 *
 * Any thread may call.
 */
#include "runtime/device/device.h"

/**
 * Add @n bytes at @p, whole pages, until msd_pinned_remove(). False: no open device
 * has pinned them, and @d gives the reason; @d is empty if no device can pin.
 */
bool msd_pinned_add(void *p, size_t n, struct msd_diag *d);
/** Call before the range is unmapped. A range that was not added is fine. */
void msd_pinned_remove(void *p);

/* Called by device.c after a device has opened and before it closes. */
void msd_pinned_attach(struct msd_dev *dev);
void msd_pinned_detach(struct msd_dev *dev);

#endif
