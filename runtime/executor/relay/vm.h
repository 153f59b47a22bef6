#ifndef MSD_RUNTIME_EXECUTOR_RELAY_VM_H
#define MSD_RUNTIME_EXECUTOR_RELAY_VM_H
/*
 * The Relay virtual machine (TVM 0.8 to 0.19): one executable and the stack for its
 * calls. Registers hold tensors, storages, and two kinds of VM objects: data
 * constructors (tuples have tag 0) and closures. Calls between VM functions do not
 * use the C stack because Relay writes loops as recursion. Device data is on the
 * device, shapes and conditions are on the host. One thread at a time.
 */
#include "artifact/relay/image.h"
#include "runtime/device/device.h"
#include "runtime/module/check.h"

#define MSD_RELAY_MAX_DEPTH (1u << 16) /* active VM functions */

struct msd_relay_vm;

struct msd_relay_entry {        /* a VM function in the form that callers hold */
	struct msd_function fn; /* first member: calls get it as self */
	struct msd_relay_vm *vm;
	char *name; /* owned */
	struct msd_signature signature;
	struct msd_call_rules rules;
};

struct msd_relay_frame {
	const struct msd_relay_func *func;
	uint32_t pc;
	size_t base;  /* index of its registers in vm->regs */
	uint32_t dst; /* the caller's register for the result */
};

struct msd_relay_vm {
	struct msd_relay_image image;
	struct msd_relay_entry *entries; /* image.n_funcs */
	struct msd_function **packed;    /* image.n_packed */
	struct msd_any *consts;          /* image.n_consts */
	struct msd_storage_pool *pool;   /* for the host */
	struct msd_dev *dev; /* device of data that is not on the host; NULL: none */
	char *refusal; /* reason why its functions cannot run here, or NULL; owned */

	struct msd_relay_frame *frames;
	size_t n_frames, cap_frames;
	struct msd_any *regs; /* registers of all frames, concatenated; may move when it
				 grows */
	size_t n_regs, cap_regs;
	struct msd_any *args; /* arguments of the current packed call */
	size_t cap_args;
};

/** Takes over @image on success. Constants become aligned tensors. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_relay_vm_create(struct msd_relay_image *image,
					   struct msd_relay_vm **ret,
					   struct msd_diag *d);
/**
 * Resolve the compiled functions with @find; unknown names are appended to @missing,
 * separated by ", ". Call functions only if none is missing.
 */
void msd_relay_vm_link(struct msd_relay_vm *vm,
		       struct msd_function *(*find)(void *ctx, const char *name),
		       void *ctx, struct msd_buf *missing);
/**
 * Set the module's device: open @device and move constants there, if the executable
 * uses it. MSD_UNSUPPORTED: it works on another device (its functions then fail).
 */
MSD_MUST_CHECK msd_err msd_relay_vm_place(struct msd_relay_vm *vm,
					  struct msd_device device, struct msd_diag *d);
void msd_relay_vm_close(
	struct msd_relay_vm *vm); /* NULL and partly built VMs are fine */

/** msd_safe_call of every VM function: @self is its entry. */
int msd_relay_call(void *self, const struct msd_any *args, int32_t n,
		   struct msd_any *ret);

/**
 * Infer types of parameters and results from the compiled functions' signatures,
 * after those are known (signature.c).
 */
MSD_MUST_CHECK msd_err msd_relay_learn_signatures(struct msd_relay_vm *vm,
						  struct msd_diag *d);

/* Internal functions, one file each. An instruction that fails has raised the error:
 * -1. */

/** Run one instruction that neither calls VM functions nor jumps (ops.c). */
int msd_relay_step(struct msd_relay_vm *vm, const struct msd_relay_ins *ins,
		   struct msd_any *regs);
/** Call a compiled function with the tensors of its arguments (ops.c). */
int msd_relay_call_packed(struct msd_relay_vm *vm, const struct msd_relay_ins *ins,
			  const struct msd_any *regs);

/* Tensors (tensor.c), possibly on the device. */

/** Number of elements; 0 on overflow. */
size_t msd_relay_elements(const struct msd_dltensor *t);
/** Read the number in a tensor of one element. */
int msd_relay_scalar(const struct msd_any *v, int64_t *ret);
/** Read the extents in a tensor of integers. */
int msd_relay_shape(const struct msd_any *v, int64_t dims[MSD_MAX_NDIM],
		    size_t *ret_ndim);
/** A copy of @t on the device of @type; complete on return. */
int msd_relay_copy(const struct msd_relay_vm *vm, const struct msd_dltensor *t,
		   int32_t type, struct msd_any *ret);
/** The device of @type; NULL: the host. */
static inline struct msd_dev *msd_relay_dev(const struct msd_relay_vm *vm, int64_t type)
{
	return vm->dev != NULL && type == vm->dev->device.type ? vm->dev : NULL;
}

/* Objects of the VM (object.c). */

/** A constructor object of @n values None; NULL if memory is short. */
struct msd_array *msd_relay_adt_new(int64_t tag, size_t n);
/** Its fields, or NULL if @v is not such an object. */
struct msd_any *msd_relay_adt(const struct msd_any *v, int64_t *ret_tag, size_t *ret_n);
/**
 * Convert a caller's value for the VM: tensors, and tuples of them, on the device of
 * @type (0: their current device).
 */
int msd_relay_take(const struct msd_relay_vm *vm, int32_t type, const struct msd_any *v,
		   struct msd_any *ret);
/** Convert a VM value for the caller; a nonzero tag becomes the first item. */
int msd_relay_give(const struct msd_any *v, struct msd_any *ret);

#endif
