#ifndef MSD_RUNTIME_DEVICE_DEVICE_H
#define MSD_RUNTIME_DEVICE_DEVICE_H
/*
 * Devices that tensors live on and kernels run on: the host, and whatever a driver
 * offers. Each kind of device is one backend: a file with a struct msd_device_ops and a
 * row in device.c. Nothing else knows the list. A driver is opened with dlopen at the
 * first use; a machine without it has a backend that says what was looked for.
 *
 * An open device has one queue. What is asked of it happens in that order: copies,
 * fills and launches return before they are done, msd_dev_sync() waits for all of them.
 * Memory of the host that a copy reads or writes must stay as it is until then.
 *
 * Device memory is an address. For OpenCL, whose buffers have none, it is a place in a
 * reserved range of this process's address space; so p + n is n bytes further on every
 * device, and compiled code may carry addresses around. Only the device reads there.
 *
 * Threads: every function may be called by any thread. A driver's child after fork() is
 * of no use: fork before the first device is opened, or not at all.
 */
#include "artifact/gpu/device_blob.h"
#include "proto/bytes.h"
#include "proto/diag.h"
#include "proto/dtype.h"

#define MSD_DEVICE_ABI 3u
#define MSD_MAX_KERNEL_ARGS 1024u
#define MSD_MAX_DEVICES 64u /* of one type */
#define MSD_DEVICE_TEXT_MAX 128u

/* What is known of a device. Texts are cut to fit; "" when the driver does not say. */
struct msd_device_info {
	struct msd_device device;
	char name[MSD_DEVICE_TEXT_MAX];
	char platform[MSD_DEVICE_TEXT_MAX];   /* whose driver */
	char capability[MSD_DEVICE_TEXT_MAX]; /* "9.0"; "OpenCL 3.0" */
	char driver[MSD_DEVICE_TEXT_MAX];     /* its version */
	uint64_t memory_bytes;
	uint32_t compute_units;
};

struct msd_dev;
struct msd_dev_program;
struct msd_dev_graph;

/* Where a device notes its own time. */
enum msd_dev_mark { MSD_DEV_BEGIN, MSD_DEV_END, MSD_DEV_MARKS };

/* One launch. Extents are at least 1. */
struct msd_launch {
	const struct msd_kernel
		*kernel; /* of the program's blob: types of the values */
	/* n_args addresses, each of a value of its type's size. A handle's value is a
	 * device address (NULL is fine), or, where kernel->extra says CUtensorMap, the
	 * 128 bytes of the map themselves. */
	void **values;
	uint32_t grid[3]; /* blocks */
	uint32_t block[3];
	uint32_t cluster[3];           /* all 1: no cluster was asked for */
	uint32_t preferred_cluster[3]; /* all 1: none */
	uint32_t shared_bytes;         /* dynamic shared memory */
	bool is_cooperative;
	bool is_programmatic; /* programmatic dependent launch */
};

/*
 * A backend. Every member is there unless it says optional. Errors: MSD_UNSUPPORTED (no
 * driver, no such device: the text says what was looked for; code that this device or
 * its compiler does not take: its log is in the text), MSD_NOMEM (device memory, too),
 * MSD_BAD_ARTIFACT (damaged code, or a kernel that is not in it), MSD_CALL_FAILED (the
 * driver refuses an operation), and MSD_GPU_FAULT when the device is lost to this
 * process for good.
 */
struct msd_device_ops {
	uint32_t abi;     /* MSD_DEVICE_ABI */
	int32_t type;     /* enum msd_device_type */
	const char *name; /* "cpu", "opencl": as in a device's name */
	/* Module kind whose blobs it takes ("opencl"); NULL: none. */
	const char *kind;

	/** Number of devices, at most MSD_MAX_DEVICES. MSD_UNSUPPORTED: no driver. */
	msd_err (*count)(uint32_t *ret_n, struct msd_diag *d);
	/** Facts about one, without opening it where that is dear. */
	msd_err (*describe)(uint32_t ordinal, struct msd_device_info *ret,
			    struct msd_diag *d);
	/** Open one: a context and a queue. *@ret has ops and device filled in. */
	msd_err (*open)(uint32_t ordinal, struct msd_dev **ret, struct msd_diag *d);
	void (*close)(struct msd_dev *dev); /* waits for what was queued */
	/** Make it the device that this thread's calls of the driver mean, for code
	 * that makes such calls itself. Optional: NULL when the driver knows no such
	 * thing. */
	msd_err (*enter)(struct msd_dev *dev, struct msd_diag *d);

	/** The driver's handle of its queue, for code that launches by itself.
	 * Optional: NULL when there is none. */
	void *(*stream)(struct msd_dev *dev);
	/**
	 * Make @stream the queue of this thread until the next time, after all that was
	 * asked for on the one before. Optional, as stream.
	 */
	msd_err (*set_stream)(struct msd_dev *dev, void *stream, struct msd_diag *d);

	/** Queued: note the time by the device's own clock. Optional, both. */
	void (*mark)(struct msd_dev *dev, enum msd_dev_mark which);
	/** From begin to end, when all was waited for. False: one was not noted. */
	bool (*elapsed)(struct msd_dev *dev, uint64_t *ret_ns);

	/** @bytes of memory, at least 1, aligned as the device wants tensors (128 or
	 * more). Contents undefined. */
	msd_err (*alloc)(struct msd_dev *dev, size_t bytes, void **ret,
			 struct msd_diag *d);
	void (*free)(struct msd_dev *dev, void *p); /* what is queued still has it */

	/* Queued; @n at least 1. */
	msd_err (*write)(struct msd_dev *dev, void *dst, const void *host_src, size_t n,
			 struct msd_diag *d);
	msd_err (*read)(struct msd_dev *dev, void *host_dst, const void *src, size_t n,
			struct msd_diag *d);
	msd_err (*copy)(struct msd_dev *dev, void *dst, const void *src, size_t n,
			struct msd_diag *d);
	msd_err (*fill)(struct msd_dev *dev, void *dst, uint8_t value, size_t n,
			struct msd_diag *d);
	/** Wait for everything; errors of queued work surface here. Optional: NULL
	 * means that nothing is ever queued. */
	msd_err (*sync)(struct msd_dev *dev, struct msd_diag *d);
	/**
	 * Let the device copy from and to @n bytes of host memory at @p directly, until
	 * unpin: whole pages, for every device of the backend. Optional, both.
	 */
	msd_err (*pin)(struct msd_dev *dev, void *p, size_t n, struct msd_diag *d);
	void (*unpin)(struct msd_dev *dev, void *p);

	/**
	 * Hand @blob to the driver, whole, so that its errors surface now. The blob
	 * stays until unload. Optional, as unload and launch: NULL when there are no
	 * kernels here.
	 */
	msd_err (*load)(struct msd_dev *dev, const struct msd_device_blob *blob,
			struct msd_dev_program **ret, struct msd_diag *d);
	void (*unload)(struct msd_dev_program *program); /* NULL is fine */
	/** Queue kernel @index of the blob. */
	msd_err (*launch)(struct msd_dev_program *program, size_t index,
			  const struct msd_launch *launch, struct msd_diag *d);
	/**
	 * Queued: nobody has come to the barrier over all blocks that TVM's compiler
	 * puts into a program. Optional: NULL when there are no such barriers here.
	 */
	msd_err (*reset_barrier)(struct msd_dev_program *program, struct msd_diag *d);

	/**
	 * What this thread queues from here on is not done, but becomes a graph: one
	 * piece of work that can be queued again and again. Where its memory lies stays
	 * in it; so until the end nothing is allocated, copied from or to the host or
	 * waited for (MSD_UNSUPPORTED, and there will be no graph). Optional, all four:
	 * NULL when the driver knows no such thing. MSD_UNSUPPORTED: this one does not.
	 */
	msd_err (*capture_begin)(struct msd_dev *dev, struct msd_diag *d);
	/** What was captured, owned, or NULL for @ret to drop it. */
	msd_err (*capture_end)(struct msd_dev *dev, struct msd_dev_graph **ret,
			       struct msd_diag *d);
	/** Queued: all of it, in its order. */
	msd_err (*graph_launch)(struct msd_dev_graph *graph, struct msd_diag *d);
	void (*graph_free)(
		struct msd_dev_graph *graph); /* NULL is fine; before close */
};

/* What every backend's open device begins with. The backend fills in ops and device,
 * device.c the rest. */
struct msd_dev {
	const struct msd_device_ops *ops;
	struct msd_device device;
	struct msd_dev_pool *pool; /* runtime/device/memory.h */
	struct msd_dev *next;      /* among the open ones */
	unsigned n_refs;
	bool is_capturing;
};

/* The rows. */
extern const struct msd_device_ops msd_device_host;
extern const struct msd_device_ops msd_device_opencl;
extern const struct msd_device_ops msd_device_cuda;

/** Backend of the kind of module whose blobs it takes, or NULL. */
const struct msd_device_ops *msd_device_ops_of_kind(struct msd_span kind);

/**
 * Open a device, or get the one that is open already. Close it as often as it was
 * opened.
 */
MSD_MUST_CHECK msd_err msd_dev_open(struct msd_device device, struct msd_dev **ret,
				    struct msd_diag *d);
void msd_dev_close(struct msd_dev *dev); /* NULL is fine */
/** One more reference, to be closed as well. */
void msd_dev_ref(struct msd_dev *dev);
/** The device when it is open, without a reference; NULL. */
struct msd_dev *msd_dev_peek(struct msd_device device);

/** Give the idle memory of all open devices back to their drivers. */
void msd_devices_trim(void);

/** The device that compiled code of this thread has named last (__tvm_set_device); the
 * CPU before. */
struct msd_device msd_dev_current(void);
void msd_dev_set_current(struct msd_device device);

/** Wait until all that was queued is done. */
MSD_MUST_CHECK msd_err msd_dev_sync(struct msd_dev *dev, struct msd_diag *d);
/**
 * Copy @n bytes between any two places; NULL devices are the host. Queued when one
 * device is involved, as the devices' own copies are; through the host, done on return,
 * when there are two.
 */
MSD_MUST_CHECK msd_err msd_dev_copy(struct msd_dev *to, void *dst, struct msd_dev *from,
				    const void *src, size_t n, struct msd_diag *d);

/**
 * Call @each for every device of every backend; the host is the first. @absent is
 * called for backends without a driver, with what was looked for. Both may be NULL.
 */
void msd_devices_list(void (*each)(void *ctx, const struct msd_device_info *info),
		      void (*absent)(void *ctx, const char *backend, const char *why),
		      void *ctx);

#endif
