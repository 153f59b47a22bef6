#ifndef MSD_RUNTIME_EXECUTOR_RELAX_VM_H
#define MSD_RUNTIME_EXECUTOR_RELAX_VM_H
/*
 * The Relax virtual machine: one loaded executable, its code decoded once into a form
 * that the interpreter runs without looking at bits, and the stack that its calls run
 * on.
 *
 * Calls between VM functions do not use the C stack. Registers, constants and arguments
 * are msd_any and are handed to compiled code as they are. Life: create, link, then
 * calls, close. One thread at a time.
 */
#include "artifact/relax/image.h"
#include "runtime/abi/anylist.h"
#include "runtime/global/vm_memory.h"
#include "runtime/module/check.h"

#define MSD_VM_FIRST_CONST 2       /* in values: behind None and %vm */
#define MSD_RELAX_MAX_DEPTH 16384u /* VM functions active at one time */
#define MSD_RELAX_MAX_NESTED                                                           \
	512u /* of them entered through C: closures, call_tir_dyn */

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
	int32_t dst;     /* register, -1: the result is dropped */
	uint32_t callee; /* index into funcs */
	uint32_t n_args;
	uint32_t args;        /* index of the first into operands */
	msd_vm_operand value; /* what RET returns, what IF tests */
	uint32_t target;      /* of GOTO, of IF when false */
};

/* One entry of the function table: packed, bytecode or VMTIR. */
struct msd_vm_func {
	struct msd_function fn; /* what callers of a VM function hold */
	struct msd_relax_vm *vm;
	enum msd_relax_func_kind kind;
	char *name;                  /* owned */
	struct msd_function *target; /* packed: the resolved function */
	struct msd_function *tir;    /* VMTIR: its code */
	uint32_t start;              /* instruction index */
	uint32_t end;
	uint32_t n_args;
	uint32_t n_regs;
	uint32_t n_scratch; /* arguments of its widest call */
	struct msd_signature signature;
	struct msd_call_rules rules; /* with the msd_func_info that callers see */
};

struct msd_vm_frame {
	const struct msd_vm_func *func;
	struct msd_any *regs; /* n_regs, then n_scratch for outgoing arguments */
	uint32_t pc;
};

/* Registers of active calls, in blocks that never move while they are in use. */
struct msd_vm_chunk {
	struct msd_vm_chunk *prev;
	struct msd_vm_chunk *next; /* at most one spare, kept for the next call */
	size_t n;
	size_t used;
	struct msd_any v[];
};

struct msd_relax_vm {
	struct msd_vm_memory memory; /* first: compiled code passes the VM on as this */
	struct msd_vm_func *funcs;
	size_t n_funcs;
	struct msd_vm_ins *code;
	size_t n_code;
	msd_vm_operand *operands;
	size_t n_operands;
	/* None, %vm, the constants, the functions, then every immediate. Owned. */
	struct msd_any *values;
	size_t n_values;
	size_t first_func;       /* of the functions among values */
	enum msd_list_era lists; /* whose code compiled functions are */
	char *refusal;           /* why its functions cannot run here, or NULL; owned */

	struct msd_vm_frame *frames; /* grows; index 0 is the outermost call */
	size_t n_frames;
	size_t frames_cap;
	struct msd_vm_chunk *chunk; /* the one in use */
	unsigned nested;            /* C entries on the stack */
};

/**
 * Decode @img (not needed afterwards; its names are copied). Constants become objects.
 * Errors: MSD_BAD_ARTIFACT, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_relax_vm_create(const struct msd_relax_image *img,
					   struct msd_relax_vm **ret,
					   struct msd_diag *d);
/**
 * Resolve packed functions with @find; names that it does not know are appended to
 * @missing, separated by ", ". Call functions only after a link that left nothing
 * missing.
 */
void msd_relax_vm_link(struct msd_relax_vm *vm,
		       struct msd_function *(*find)(void *ctx, const char *name),
		       void *ctx, struct msd_buf *missing);
/**
 * Run on @device from now on: the constants move there, and storages of device 0 are
 * there. Once, before the first call. Errors: as msd_dev_open(), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_relax_vm_place(struct msd_relax_vm *vm,
					  struct msd_device device, struct msd_diag *d);
void msd_relax_vm_close(struct msd_relax_vm *vm); /* NULL and half-built are fine */
/** The VM function @name (bytecode or VMTIR), or NULL. */
struct msd_vm_func *msd_relax_vm_find(struct msd_relax_vm *vm, const char *name);

/** msd_safe_call of every VM function: @self is its msd_vm_func.fn. */
int msd_relax_call(void *self, const struct msd_any *args, int32_t n,
		   struct msd_any *ret);

/* The parts, one file each. */

/** The code of a VMTIR function, or NULL (vmtir.c). */
struct msd_function *
msd_relax_vmtir_find(const struct msd_vm_func *f,
		     struct msd_function *(*find)(void *ctx, const char *name),
		     void *ctx);
/** msd_safe_call of a VMTIR function: @self is its msd_vm_func.fn. */
int msd_relax_vmtir_call(void *self, const struct msd_any *args, int32_t n,
			 struct msd_any *ret);

/** Fill code, operands and values from the image (decode.c). */
MSD_MUST_CHECK msd_err msd_relax_decode(struct msd_relax_vm *vm,
					const struct msd_relax_image *img,
					struct msd_diag *d);
/** Learn what functions say about their parameters (signature.c). */
MSD_MUST_CHECK msd_err msd_relax_learn_signatures(struct msd_relax_vm *vm,
						  const struct msd_relax_image *img,
						  struct msd_diag *d);
/** Push a frame for @func with None in all registers; false with the error raised
 * (stack.c). */
MSD_MUST_CHECK bool msd_vm_push(struct msd_relax_vm *vm,
				const struct msd_vm_func *func);
/** Drop the top frame and what its registers hold. */
void msd_vm_pop(struct msd_relax_vm *vm);
void msd_vm_stack_finish(struct msd_relax_vm *vm);

#endif
