#ifndef MSD_RUNTIME_ABI_TENSORS_H
#define MSD_RUNTIME_ABI_TENSORS_H
/*
 * Tensors as code built with tvm-ffi's headers makes them: memory from the
 * environment's allocator, DLPack in both directions, views. Functions that fail raise
 * their error and return -1.
 */
#include "runtime/value/dltensor.h"

/* DLManagedTensor. */
struct msd_dlpack_old {
	struct msd_dltensor tensor;
	void *ctx;
	void (*deleter)(struct msd_dlpack_old *self);
};

/* DLManagedTensorVersioned. */
struct msd_dlpack {
	uint32_t major, minor;
	void *ctx;
	void (*deleter)(struct msd_dlpack *self);
	uint64_t flags;
	struct msd_dltensor tensor;
};

/* DLPackManagedTensorAllocator. */
typedef int (*msd_dlpack_alloc)(const struct msd_dltensor *prototype,
				struct msd_dlpack **ret, void *ctx,
				void (*fail)(void *ctx, const char *kind,
					     const char *message));

/** Replace this thread's allocator, with @is_global also that of threads without one;
 * NULL: the runtime's own. */
void msd_tensors_set_allocator(msd_dlpack_alloc alloc, bool is_global,
			       msd_dlpack_alloc *ret_before);
/** The allocator that this thread uses, never NULL. */
msd_dlpack_alloc msd_tensors_allocator(void);
/** A new tensor like @prototype, of which only dtype, shape and device count. */
int msd_tensors_alloc(const struct msd_dltensor *prototype, void **ret);
/** Take over @from. @align 0: any alignment. On failure the caller still owns it. */
int msd_tensors_from_old(struct msd_dlpack_old *from, int32_t align,
			 bool must_be_compact, void **ret);
int msd_tensors_from(struct msd_dlpack *from, int32_t align, bool must_be_compact,
		     void **ret);
/** A DLPack tensor that holds a reference to @tensor. */
int msd_tensors_to_old(void *tensor, struct msd_dlpack_old **ret);
int msd_tensors_to(void *tensor, struct msd_dlpack **ret);
/** A tensor over the memory of @source with the other properties of @t. */
int msd_tensors_view(void *source, const struct msd_dltensor *t, void **ret);

#endif
