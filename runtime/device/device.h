#ifndef MSD_RUNTIME_DEVICE_DEVICE_H
#define MSD_RUNTIME_DEVICE_DEVICE_H
/*
 * Devices that hold tensors and run kernels: the host, and the devices of drivers.
 * Each kind of device is one backend: a file with a struct msd_device_ops and a row
 * in device.c. Nothing else knows the list. A driver is opened with dlopen at the
 * first use. On a machine without the driver the backend reports the library names
 * that it tried.
 *
 * An open device has one in-order queue. Copies, fills and launches return before
 * they are done; msd_dev_sync() waits for all of them. Host memory that a copy reads
 * or writes must stay unchanged until the sync.
 *
 * Device memory is an address. OpenCL buffers have no address, so the address is in a
 * reserved range of this process's address space. Therefore p + n is n bytes further
 * on every device, and compiled code may pass addresses around. Only the device may
 * access them.
 *
 * Threads: any thread may call every function. A driver does not work in a child
 * after fork(): fork before the first device is opened, or not at all.
 */
#include "artifact/gpu/device_blob.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

#define MSD_DEVICE_ABI 3u
#define MSD_MAX_KERNEL_ARGS 1024u
#define MSD_MAX_DEVICES 64u /* per type */
#define MSD_DEVICE_TEXT_MAX 128u

/* Information about a device. Texts are cut to fit; "" and 0: the driver does not
 * report it. */
struct msd_device_info {
	struct msd_device device;
	char name[MSD_DEVICE_TEXT_MAX];
	char platform[MSD_DEVICE_TEXT_MAX];   /* vendor of the driver */
	char capability[MSD_DEVICE_TEXT_MAX]; /* "9.0"; "OpenCL 3.0" */
	char driver[MSD_DEVICE_TEXT_MAX];     /* driver version */
	uint64_t memory_bytes;
	uint32_t compute_units;
	/* Limits of kernels; a block is a work group. */
	uint64_t max_threads; /* of a block */
	uint64_t max_block[3];
	uint64_t shared_bytes; /* of a block */
	uint64_t registers;    /* of a block */
	uint64_t warp_threads;
	uint64_t clock_khz;
	uint64_t cache_bytes; /* L2 */
	uint64_t api_version; /* as TVM counts: 120 for OpenCL 1.2, 13000 for CUDA 13.0
			       */
};

struct msd_dev;
struct msd_dev_program;
struct msd_dev_graph;

/* Marks at which a device records its own time. */
enum msd_dev_mark { MSD_DEV_BEGIN, MSD_DEV_END, MSD_DEV_MARKS };

/* One launch. Extents are at least 1. */
struct msd_launch {
	const struct msd_kernel *kernel; /* kernel in the program's blob: defines the
					    types of the values */
	/*
	 * n_args addresses, each of a value of its type's size. The value of a handle
	 * is a device address (NULL is fine). If kernel->extra says CUtensorMap, it
	 * is the 128 bytes of the map itself.
	 */
	void **values;
	uint32_t grid[3]; /* blocks */
	uint32_t block[3];
	uint32_t cluster[3];           /* all 1: no cluster was requested */
	uint32_t preferred_cluster[3]; /* all 1: none */
	uint32_t shared_bytes;         /* dynamic shared memory */
	bool is_cooperative;
	bool is_programmatic; /* programmatic dependent launch */
};

/*
 * A backend. Every member is required unless it says optional. Errors:
 * MSD_UNSUPPORTED (no driver or device: the text lists what was tried; or this device
 * or its compiler rejects the code: its log is in the text), MSD_NOMEM (also device
 * memory), MSD_BAD_ARTIFACT (damaged code, or a kernel that is not in it),
 * MSD_CALL_FAILED (the driver rejects an operation), and MSD_GPU_FAULT if the device
 * is permanently lost for this process.
 */
struct msd_device_ops {
	uint32_t abi;     /* MSD_DEVICE_ABI */
	int32_t type;     /* enum msd_device_type */
	const char *name; /* "cpu", "opencl": prefix of a device's name */
	/* Module kind with blobs that it accepts ("opencl"); NULL: none. */
	const char *kind;

	/** Number of devices, at most MSD_MAX_DEVICES. MSD_UNSUPPORTED: no driver. */
	msd_err (*count)(uint32_t *ret_n, struct msd_diag *d);
	/** Describe one device, without opening it if that is expensive. */
	msd_err (*describe)(uint32_t ordinal, struct msd_device_info *ret,
			    struct msd_diag *d);
	/**
	 * Memory of an open device that nothing uses. Optional: NULL if the driver
	 * does not report it.
	 */
	msd_err (*free_bytes)(struct msd_dev *dev, uint64_t *ret, struct msd_diag *d);
	/** Open a device: a context and a queue. *@ret has ops and device filled in. */
	msd_err (*open)(uint32_t ordinal, struct msd_dev **ret, struct msd_diag *d);
	void (*close)(struct msd_dev *dev); /* waits for queued work */
	/**
	 * Make it the current device of this thread for the driver, for code that
	 * calls the driver itself. Optional: NULL if the driver has no current
	 * device.
	 */
	msd_err (*enter)(struct msd_dev *dev, struct msd_diag *d);

	/**
	 * The driver's handle of its queue, for code that launches kernels itself.
	 * Optional: NULL if there is none.
	 */
	void *(*stream)(struct msd_dev *dev);
	/**
	 * Make @stream the queue of this thread until the next call, ordered after
	 * all work on the previous one. Optional, as stream.
	 */
	msd_err (*set_stream)(struct msd_dev *dev, void *stream, struct msd_diag *d);

	/** Queued: record the device's clock. Optional, both. */
	void (*mark)(struct msd_dev *dev, enum msd_dev_mark which);
	/**
	 * Time from begin to end, after all work is done. False if one mark was not
	 * recorded.
	 */
	bool (*elapsed)(struct msd_dev *dev, uint64_t *ret_ns);

	/**
	 * Allocate @bytes of memory, at least 1, with the device's tensor alignment
	 * (128 or more). Contents undefined.
	 */
	msd_err (*alloc)(struct msd_dev *dev, size_t bytes, void **ret,
			 struct msd_diag *d);
	void (*free)(struct msd_dev *dev, void *p); /* queued work may still use it */

	/* Queued; @n at least 1. */
	msd_err (*write)(struct msd_dev *dev, void *dst, const void *host_src, size_t n,
			 struct msd_diag *d);
	msd_err (*read)(struct msd_dev *dev, void *host_dst, const void *src, size_t n,
			struct msd_diag *d);
	msd_err (*copy)(struct msd_dev *dev, void *dst, const void *src, size_t n,
			struct msd_diag *d);
	msd_err (*fill)(struct msd_dev *dev, void *dst, uint8_t value, size_t n,
			struct msd_diag *d);
	/**
	 * Wait for all queued work and report its errors. Optional: NULL means that
	 * nothing is ever queued.
	 */
	msd_err (*sync)(struct msd_dev *dev, struct msd_diag *d);
	/**
	 * Let the device copy directly from and to @n bytes of host memory at @p,
	 * until unpin: whole pages, for every device of the backend. Optional, both.
	 */
	msd_err (*pin)(struct msd_dev *dev, void *p, size_t n, struct msd_diag *d);
	void (*unpin)(struct msd_dev *dev, void *p);

	/**
	 * Pass the whole @blob to the driver, so that its errors are reported now.
	 * The blob must stay until unload. Optional, as unload and launch: NULL if
	 * the backend has no kernels.
	 */
	msd_err (*load)(struct msd_dev *dev, const struct msd_device_blob *blob,
			struct msd_dev_program **ret, struct msd_diag *d);
	void (*unload)(struct msd_dev_program *program); /* NULL is fine */
	/** Queue kernel @index of the blob. */
	msd_err (*launch)(struct msd_dev_program *program, size_t index,
			  const struct msd_launch *launch, struct msd_diag *d);
	/**
	 * Queued: reset the counter of the barrier over all blocks that TVM's
	 * compiler puts into a program. Optional: NULL if the backend has no such
	 * barriers.
	 */
	msd_err (*reset_barrier)(struct msd_dev_program *program, struct msd_diag *d);

	/**
	 * Record what this thread queues from here on into a graph instead of
	 * executing it. A graph is one piece of work that can be queued repeatedly.
	 * It contains memory addresses; therefore allocations, host copies and waits
	 * are rejected until the end (MSD_UNSUPPORTED, and there will be no graph).
	 * Optional, all four: NULL if the driver has no graphs. MSD_UNSUPPORTED: this
	 * device has none.
	 */
	msd_err (*capture_begin)(struct msd_dev *dev, struct msd_diag *d);
	/**
	 * End the capture. *@ret is the graph, owned; if @ret is NULL, the capture is
	 * dropped.
	 */
	msd_err (*capture_end)(struct msd_dev *dev, struct msd_dev_graph **ret,
			       struct msd_diag *d);
	/** Queued: the whole graph, in its order. */
	msd_err (*graph_launch)(struct msd_dev_graph *graph, struct msd_diag *d);
	void (*graph_free)(
		struct msd_dev_graph *graph); /* NULL is fine; before close */
};

/* Header of every backend's open device. The backend fills in ops and device,
 * device.c the rest. */
struct msd_dev {
	const struct msd_device_ops *ops;
	struct msd_device device;
	struct msd_dev_pool *pool; /* runtime/device/memory.h */
	struct msd_dev *next;      /* in the list of open devices */
	unsigned n_refs;
	bool is_capturing;
};

/* The rows. */
extern const struct msd_device_ops msd_device_host;
extern const struct msd_device_ops msd_device_opencl;
extern const struct msd_device_ops msd_device_cuda;

/** The backend that accepts blobs of this module kind, or NULL. */
const struct msd_device_ops *msd_device_ops_of_kind(struct msd_span kind);

/**
 * Open a device, or get the one that is already open. Close it as often as it was
 * opened.
 */
MSD_MUST_CHECK msd_err msd_dev_open(struct msd_device device, struct msd_dev **ret,
				    struct msd_diag *d);
void msd_dev_close(struct msd_dev *dev); /* NULL is fine */
/** Add a reference; it must be closed, too. */
void msd_dev_ref(struct msd_dev *dev);
/** The device if it is open, without a reference; else NULL. */
struct msd_dev *msd_dev_peek(struct msd_device device);

/** Return the idle memory of all open devices to their drivers. */
void msd_devices_trim(void);

/**
 * The device that compiled code of this thread set last (__tvm_set_device); initially
 * the CPU.
 */
struct msd_device msd_dev_current(void);
void msd_dev_set_current(struct msd_device device);

/** Wait until all queued work is done. */
MSD_MUST_CHECK msd_err msd_dev_sync(struct msd_dev *dev, struct msd_diag *d);
/**
 * Copy @n bytes between any two places; NULL devices are the host. A copy within one
 * device or between it and the host is queued. A copy between two devices goes
 * through the host and is done on return.
 */
MSD_MUST_CHECK msd_err msd_dev_copy(struct msd_dev *to, void *dst, struct msd_dev *from,
				    const void *src, size_t n, struct msd_diag *d);

/**
 * Describe @device without opening it. Errors: MSD_UNSUPPORTED (no such device, as
 * msd_dev_open()).
 */
MSD_MUST_CHECK msd_err msd_dev_describe(struct msd_device device,
					struct msd_device_info *ret,
					struct msd_diag *d);
/**
 * Call @each for every device of every backend; the host is the first. Call @absent
 * for backends without a driver, with what was tried. Both may be NULL.
 */
void msd_devices_list(void (*each)(void *ctx, const struct msd_device_info *info),
		      void (*absent)(void *ctx, const char *backend, const char *why),
		      void *ctx);

#endif
