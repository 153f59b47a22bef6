#ifndef MSD_FETCH_PLATFORM_H
#define MSD_FETCH_PLATFORM_H
/*
 * What a module was made for, and whether this machine is that: its architecture, and
 * of the devices one that is at least as capable.
 */
#include "proto/diag.h"
#include "proto/unpack.h"

#define MSD_PLATFORM_WORD 64u
#define MSD_PLATFORM_DEVICES 16u /* further ones of a machine are not looked at */

/* Borrowed words; "": any. */
struct msd_platform {
	const char *arch;       /* in Go's words: "amd64"; or "any" */
	const char *device;     /* "cuda", "opencl"; "cpu" is on every machine */
	const char *capability; /* "sm_90", "9.0", "OpenCL 3.0" */
};

/* One device of the machine. */
struct msd_platform_device {
	char type[MSD_PLATFORM_WORD];
	char capability[MSD_PLATFORM_WORD];
};

struct msd_platform_machine {
	const char *arch;
	bool is_known; /* its devices are; asking for them costs a process */
	struct msd_platform_device devices[MSD_PLATFORM_DEVICES];
	unsigned n_devices;
};

enum msd_platform_fit {
	MSD_PLATFORM_OTHER,
	MSD_PLATFORM_UNKNOWN, /* its devices decide, and are not known */
	MSD_PLATFORM_SUITS
};

/** This machine's architecture. Static. */
const char *msd_platform_arch(void);
/** Whether what is made for @p runs on @m. A capability is a lowest one; but with a
 * letter behind it ("sm_90a") it is that one alone. */
enum msd_platform_fit msd_platform_fit(const struct msd_platform_machine *m,
				       const struct msd_platform *p);
/** Whether @a is to be taken before @b, both of which suit: what has a device of its
 * own before what has none, and of one kind of device the more capable. */
bool msd_platform_is_better(const struct msd_platform *a, const struct msd_platform *b);
/** Read the devices of the answer @result of a fetch.devices into @m. MSD_BAD_REQUEST,
 * MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_platform_read(struct msd_unpack *unpack,
					 struct msd_span result,
					 struct msd_platform_machine *m,
					 struct msd_diag *d);
/** MSD_UNSUPPORTED for the reason @why, and what @m is. */
MSD_MUST_CHECK msd_err msd_platform_refuse(const struct msd_platform_machine *m,
					   const char *why, struct msd_diag *d);

#endif
