#ifndef MSD_RUNTIME_EXECUTOR_RELAX_VM_H
#define MSD_RUNTIME_EXECUTOR_RELAX_VM_H
/*
 * The Relax virtual machine: one loaded executable, its code decoded once into a
 * directly executable form, and the stack for its calls.
 *
 * Calls between VM functions do not use the C stack. Registers, constants and
 * arguments are msd_any and are passed to compiled code unchanged. Life cycle:
 * create, link, calls, close. One thread at a time.
 */
#include "artifact/relax/image.h"
#include "runtime/abi/anylist.h"
#include "runtime/module/check.h"
#include "runtime/packed/vm_memory.h"

#define MSD_VM_FIRST_CONST 2       /* in values: after None and %vm */
#define MSD_RELAX_MAX_DEPTH 16384u /* active VM functions */
#define MSD_RELAX_MAX_NESTED 512u  /* nested calls through C: closures, call_tir_dyn */

enum msd_vm_op {
	MSD_VM_CALL,    /* a library function or a builtin */
	MSD_VM_CALL_VM, /* a VM function */
	MSD_VM_CLEAR,   /* dst = None: vm.builtin.null_value, half of all calls */
	MSD_VM_RET,
	MSD_VM_GOTO,
	MSD_VM_IF,
};

/* An operand: a register when >= 0, else ~index into msd_relax_vm.values. */
typedef int32_t msd_vm_operand;

struct msd_vm_ins {
	uint8_t op;      /* enum msd_vm_op */
	int32_t dst;     /* register; -1: drop the result */
	uint32_t callee; /* index into funcs */
	uint32_t n_args;
	uint32_t args;        /* index of the first into operands */
	msd_vm_operand value; /* value that RET returns or IF tests */
	uint32_t target;      /* target of GOTO, or of IF if false */
};

/* One entry of the function table: packed, bytecode or VMTIR. */
struct msd_vm_func {
	struct msd_function fn; /* callers of a VM function hold a pointer to it */
	struct msd_relax_vm *vm;
	enum msd_relax_func_kind kind;
	char *name;                  /* owned */
	struct msd_function *target; /* packed: the resolved function */
	struct msd_function *tir;    /* VMTIR: its code */
	uint32_t start;              /* instruction index */
	uint32_t end;
	uint32_t n_args;
	uint32_t n_regs;
	uint32_t n_scratch;    /* maximum number of arguments of its calls */
	struct msd_any *bound; /* rules.n_bound values, owned; NULL until the VM is on
				  its device */
	struct msd_signature signature;
	struct msd_call_rules rules; /* includes the msd_func_info that callers see */
};

struct msd_vm_frame {
	const struct msd_vm_func *func;
	struct msd_any *regs; /* n_regs, then n_scratch for outgoing arguments */
	uint32_t pc;
};

/* Registers of active calls, in blocks that do not move while they are in use. */
struct msd_vm_chunk {
	struct msd_vm_chunk *prev;
	struct msd_vm_chunk *next; /* at most one spare, kept for the next call */
	size_t n;
	size_t used;
	struct msd_any v[];
};

struct msd_relax_params;
struct msd_relax_vm {
	struct msd_vm_memory
		memory; /* first member: compiled code passes it on as the VM */
	struct msd_vm_func *funcs;
	size_t n_funcs;
	struct msd_vm_ins *code;
	size_t n_code;
	msd_vm_operand *operands;
	size_t n_operands;
	/* None, %vm, the constants, the functions, then every immediate. Owned. */
	struct msd_any *values;
	size_t n_values;
	size_t first_func;       /* index of the functions in values */
	enum msd_list_era lists; /* ABI of the compiled functions */
	char *refusal; /* reason why its functions cannot run here, or NULL; owned */
	struct msd_relax_params *params; /* owned; NULL: none were given */

	struct msd_vm_frame
		*frames; /* may move when it grows; index 0 is the outermost call */
	size_t n_frames;
	size_t frames_cap;
	struct msd_vm_chunk *chunk; /* the current one */
	unsigned nested;            /* C calls on the stack */
};

/**
 * Decode @img (not needed afterwards; its names are copied). Constants become
 * objects. The VM takes @params, which may be NULL, on failure too. Errors:
 * MSD_BAD_ARTIFACT, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_relax_vm_create(const struct msd_relax_image *img,
					   struct msd_relax_params *params,
					   struct msd_relax_vm **ret,
					   struct msd_diag *d);
/**
 * Resolve packed functions with @find; unknown names are appended to @missing,
 * separated by ", ". Call functions only if none is missing.
 */
void msd_relax_vm_link(struct msd_relax_vm *vm,
		       struct msd_function *(*find)(void *ctx, const char *name),
		       void *ctx, struct msd_buf *missing);
/**
 * Run on @device from now on: constants and storages of device 0 are there. Call
 * once, before the first call. Errors: as msd_dev_open(), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_relax_vm_place(struct msd_relax_vm *vm,
					  struct msd_device device, struct msd_diag *d);
void msd_relax_vm_close(
	struct msd_relax_vm *vm); /* NULL and partly built VMs are fine */
/** The VM function @name (bytecode or VMTIR), or NULL. */
struct msd_vm_func *msd_relax_vm_find(struct msd_relax_vm *vm, const char *name);

/** msd_safe_call of every VM function: @self is its msd_vm_func.fn. */
int msd_relax_call(void *self, const struct msd_any *args, int32_t n,
		   struct msd_any *ret);

/* Internal functions, one file each. */

/** The code of a VMTIR function, or NULL (vmtir.c). */
struct msd_function *
msd_relax_vmtir_find(const struct msd_vm_func *f,
		     struct msd_function *(*find)(void *ctx, const char *name),
		     void *ctx);
/**
 * The @n arguments and the bound ones after them, all borrowed; the caller frees the
 * list. NULL with the error raised, also if that is not the number that @f takes
 * (bound.c).
 */
struct msd_any *msd_relax_add_bound(const struct msd_vm_func *f,
				    const struct msd_any *args, int32_t n);
/** msd_safe_call of a VMTIR function: @self is its msd_vm_func.fn. */
int msd_relax_vmtir_call(void *self, const struct msd_any *args, int32_t n,
			 struct msd_any *ret);

/** Fill code, operands and values from the image (decode.c). */
MSD_MUST_CHECK msd_err msd_relax_decode(struct msd_relax_vm *vm,
					const struct msd_relax_image *img,
					struct msd_diag *d);
/** Infer the parameters of functions (signature.c). */
MSD_MUST_CHECK msd_err msd_relax_learn_signatures(struct msd_relax_vm *vm,
						  const struct msd_relax_image *img,
						  struct msd_diag *d);
/**
 * Push a frame for @func with None in all registers; false with the error raised
 * (stack.c).
 */
MSD_MUST_CHECK bool msd_vm_push(struct msd_relax_vm *vm,
				const struct msd_vm_func *func);
/** Pop the top frame and drop the values in its registers. */
void msd_vm_pop(struct msd_relax_vm *vm);
void msd_vm_stack_finish(struct msd_relax_vm *vm);

#endif
