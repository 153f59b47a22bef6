#ifndef MSD_RUNTIME_DEVICE_CUDA_CUDA_H
#define MSD_RUNTIME_DEVICE_CUDA_CUDA_H
/*
 * Private to the CUDA backend. An open device is its primary context, shared with all
 * other users of CUDA in this process, and one stream. The stream is an ordinary one,
 * so library code on the default stream stays in order with it. A library may set
 * another stream for its thread (stream.c). Every operation first makes the context
 * current because any thread may call.
 */
#include "runtime/device/cuda/api.h"

struct msd_cuda {
	struct msd_dev dev; /* first member: msd_cuda_of() downcasts */
	const struct msd_cuda_api *api;
	int device; /* CUdevice */
	struct cu_context *context;
	uint64_t opening;             /* unique within the process */
	struct cu_stream *own_stream; /* msd_cuda_stream() returns the thread's */
	struct cu_event *order;       /* orders two streams */
	struct cu_event
		*marks[MSD_DEV_MARKS]; /* NULL: the driver refused to create them */
	struct msd_device_info info;
	int capability;             /* 90: 9.0 */
	struct cu_stream *captured; /* the captured stream while dev.is_capturing */
};

static inline struct msd_cuda *msd_cuda_of(struct msd_dev *dev)
{
	return (struct msd_cuda *)(void *)dev; /* first member */
}

/**
 * The open device that this thread set last, else the first open one, because a pool
 * thread sets none. MSD_UNSUPPORTED: none is open.
 */
MSD_MUST_CHECK msd_err msd_cuda_of_thread(struct msd_cuda **ret, struct msd_diag *d);

/** Make the device's context current in this thread. */
MSD_MUST_CHECK static inline msd_err msd_cuda_enter(const struct msd_cuda *cuda,
						    struct msd_diag *d)
{
	const int code = cuda->api->context_set(cuda->context);

	return code == MSD_CU_SUCCESS ? MSD_OK
				      : msd_cuda_error(d, "cuCtxSetCurrent", code);
}

/** The same for an operation that a graph cannot contain; @what explains why. */
MSD_MUST_CHECK static inline msd_err
msd_cuda_enter_uncaptured(const struct msd_cuda *cuda, const char *what,
			  struct msd_diag *d)
{
	if (cuda->dev.is_capturing)
		return msd_diag_set(d, MSD_UNSUPPORTED, "%s", what);
	return msd_cuda_enter(cuda, d);
}

/** The same for a release, which is attempted in any case. */
static inline void msd_cuda_reenter(const struct msd_cuda *cuda)
{
	(void)cuda->api->context_set(cuda->context);
}

/* stream.c */
/** The stream for this thread's work. */
struct cu_stream *msd_cuda_stream(const struct msd_cuda *cuda);
msd_err msd_cuda_stream_open(struct msd_cuda *cuda, struct msd_diag *d);
/** Waits for all work of the device. */
void msd_cuda_stream_close(struct msd_cuda *cuda);
msd_err msd_cuda_set_stream(struct msd_dev *dev, void *stream, struct msd_diag *d);
void msd_cuda_mark(struct msd_dev *dev, enum msd_dev_mark which);
bool msd_cuda_elapsed(struct msd_dev *dev, uint64_t *ret_ns);

/* One kernel of a loaded module. */
struct msd_cuda_kernel {
	struct cu_function *function;
	uint32_t static_shared;  /* bytes */
	uint32_t shared_allowed; /* dynamic bytes requested so far; the caller holds the
				    lock */
	bool has_large_clusters; /* large clusters are enabled; the caller holds the
				    lock */
	/* The driver confirmed that the parameters match the module's. */
	bool is_checked;
};

/* module.c */
msd_err msd_cuda_load(struct msd_dev *dev, const struct msd_device_blob *blob,
		      struct msd_dev_program **ret, struct msd_diag *d);
void msd_cuda_unload(struct msd_dev_program *program);
msd_err msd_cuda_reset_barrier(struct msd_dev_program *program, struct msd_diag *d);
/** Borrowed until unload. */
struct msd_cuda *msd_cuda_program_device(struct msd_dev_program *program);
/**
 * Return kernel @index with the program's lock held. The lock guards the kernel's
 * settings.
 */
struct msd_cuda_kernel *msd_cuda_kernel_lock(struct msd_dev_program *program,
					     size_t index);
void msd_cuda_kernel_unlock(struct msd_dev_program *program);

/* graph.c */
msd_err msd_cuda_capture_begin(struct msd_dev *dev, struct msd_diag *d);
msd_err msd_cuda_capture_end(struct msd_dev *dev, struct msd_dev_graph **ret,
			     struct msd_diag *d);
msd_err msd_cuda_graph_launch(struct msd_dev_graph *graph, struct msd_diag *d);
void msd_cuda_graph_free(struct msd_dev_graph *graph);

/* launch.c */
msd_err msd_cuda_launch(struct msd_dev_program *program, size_t index,
			const struct msd_launch *launch, struct msd_diag *d);

#endif
