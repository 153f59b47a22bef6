#ifndef MSD_FETCH_PLATFORM_H
#define MSD_FETCH_PLATFORM_H
/* Match the platform of a module with this machine: the architecture must be equal,
 * and a device at least as capable. */
#include "proto/base/diag.h"
#include "proto/unpack.h"

#define MSD_PLATFORM_WORD 64u
#define MSD_PLATFORM_DEVICES 16u /* further devices are ignored */

/* Borrowed strings; "" means any. */
struct msd_platform {
	const char *arch;       /* GOARCH name: "amd64"; or "any" */
	const char *device;     /* "cuda", "opencl"; every machine has "cpu" */
	const char *capability; /* "sm_90", "9.0", "OpenCL 3.0" */
};

/* One device of the machine. */
struct msd_platform_device {
	char type[MSD_PLATFORM_WORD];
	char capability[MSD_PLATFORM_WORD];
};

struct msd_platform_machine {
	const char *arch;
	bool is_known; /* the devices are known; listing them costs a process */
	struct msd_platform_device devices[MSD_PLATFORM_DEVICES];
	unsigned n_devices;
};

enum msd_platform_fit {
	MSD_PLATFORM_OTHER,
	MSD_PLATFORM_UNKNOWN, /* depends on the devices, which are not known */
	MSD_PLATFORM_SUITS
};

/** This machine's architecture. Static. */
const char *msd_platform_arch(void);
/**
 * Test whether a module for @p runs on @m. A capability is a minimum. With a trailing
 * letter ("sm_90a") it must match exactly.
 */
enum msd_platform_fit msd_platform_fit(const struct msd_platform_machine *m,
				       const struct msd_platform *p);
/**
 * True if @a is preferred to @b; both must fit. A platform with a device wins over
 * one without. For the same kind of device, the higher capability wins.
 */
bool msd_platform_is_better(const struct msd_platform *a, const struct msd_platform *b);
/**
 * Parse the @result of fetch.devices into the devices of @m. MSD_BAD_REQUEST,
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_platform_read(struct msd_unpack *unpack,
					 struct msd_span result,
					 struct msd_platform_machine *m,
					 struct msd_diag *d);
/** Returns MSD_UNSUPPORTED with the reason @why and a description of @m. */
MSD_MUST_CHECK msd_err msd_platform_refuse(const struct msd_platform_machine *m,
					   const char *why, struct msd_diag *d);

#endif
