#ifndef MSD_ARTIFACT_RELAY_IMAGE_H
#define MSD_ARTIFACT_RELAY_IMAGE_H
/*
 * The image of a relay VM executable (kind VMExecutable), decoded and checked: every
 * register, function, constant and jump is in range, so the VM need not check again.
 * Layouts of TVM 0.8, 0.9 to 0.13, and 0.14 to 0.19.
 */
#include "artifact/params/params.h"
#include "proto/base/bytes.h"

enum msd_relay_op {
	MSD_RELAY_MOVE,           /* from, dst */
	MSD_RELAY_RET,            /* value */
	MSD_RELAY_INVOKE,         /* function, n, dst, n arguments */
	MSD_RELAY_INVOKE_CLOSURE, /* closure, n, dst, n arguments */
	MSD_RELAY_INVOKE_PACKED,  /* packed, n, number of outputs among them, n */
	MSD_RELAY_ALLOC_TENSOR, /* storage, offset, code, bits, lanes, n, dst, n dims */
	MSD_RELAY_ALLOC_TENSOR_REG, /* storage, offset, shape, code, bits, lanes, dst */
	MSD_RELAY_ALLOC_ADT,        /* tag, n, dst, n fields */
	MSD_RELAY_ALLOC_CLOSURE,    /* function, n, dst, n free variables */
	MSD_RELAY_GET_FIELD,        /* object, index, dst */
	MSD_RELAY_IF,               /* test, target, offset when equal, and when not */
	MSD_RELAY_LOAD_CONST,       /* constant, dst; 0.14+: constant, device, dst */
	MSD_RELAY_GOTO,             /* offset */
	MSD_RELAY_GET_TAG,          /* object, dst */
	MSD_RELAY_LOAD_CONSTI,      /* value, dst */
	MSD_RELAY_FATAL,            /* */
	/* size, alignment, code, bits, lanes, device, dst; 0.14+: size, alignment,
	 * code, bits, lanes, device, n, dst, n dims, and the size means nothing if n >
	 * 0 */
	MSD_RELAY_ALLOC_STORAGE,
	MSD_RELAY_SHAPE_OF,    /* tensor, dst */
	MSD_RELAY_RESHAPE,     /* tensor, shape, dst */
	MSD_RELAY_DEVICE_COPY, /* tensor, from, to, dst */
	MSD_RELAY_KILL,        /* dst; 0.9+ */
	MSD_RELAY_OP_COUNT
};

struct msd_relay_ins {
	enum msd_relay_op op;
	uint32_t n_fields;
	/* As above; jumps are relative to the instruction; a device is a device type
	 * in all versions, 0 if not given. Owned. */
	int64_t *fields;
};

/**
 * True if extents give the size of the storage; otherwise the register in its first
 * field has the size.
 */
static inline bool msd_relay_storage_has_shape(const struct msd_relay_ins *ins)
{
	return ins->n_fields > 7 && ins->fields[6] > 0;
}

struct msd_relay_func {
	struct msd_span name;
	struct msd_span *params; /* their names; they are the first registers */
	int32_t *param_types;    /* device type of each parameter; 0: any */
	uint32_t n_params;
	uint32_t n_regs;
	struct msd_relay_ins *code;
	uint32_t n_code;
};

struct msd_relay_const {
	struct msd_span name;           /* name of a late-bound constant; else empty */
	struct msd_tensor_blob *tensor; /* owned; NULL if it is bound later */
	int32_t device_type;            /* of its device; 0: the host */
};

#define MSD_RELAY_MAX_REGS ((int64_t)1 << 20) /* limit for one function */

struct msd_relay_image {
	struct msd_span version;
	struct msd_relay_const *consts;
	uint32_t n_consts;
	struct msd_span *packed; /* names of compiled functions */
	uint32_t n_packed;
	struct msd_relay_func *funcs;
	uint32_t n_funcs;
	int32_t device_type; /* first named, not the host; 0: none */
	int32_t other_type;  /* another one; 0: none */
	/* Private to the reader. */
	uint32_t minor;        /* minor version, 0.minor */
	int32_t *device_types; /* one for each virtual device, 0.9+ */
	uint32_t n_devices;
};

/**
 * Read the image in a module's payload, which is borrowed and must outlive *@ret; the
 * caller owns *@ret (finish it). Errors: MSD_BAD_ARTIFACT, MSD_UNSUPPORTED, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_relay_image_read(struct msd_span payload,
					    struct msd_relay_image *ret,
					    struct msd_diag *d);
/**
 * Bind late constants to their tensors, which borrow from @params' bytes; missing
 * ones stay unbound. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_relay_image_bind(struct msd_relay_image *img,
					    const struct msd_params *params,
					    struct msd_diag *d);
void msd_relay_image_finish(struct msd_relay_image *img); /* NULL is allowed */

/**
 * The type of the device @number of the file: the type itself in 0.8, the index of a
 * virtual device in later versions. 0: not given; -1: invalid. Records devices other
 * than the host; private to the reader.
 */
int32_t msd_relay_device(struct msd_relay_image *img, int64_t number);

/**
 * The instruction that allocates the function's return value, MSD_RELAY_ALLOC_TENSOR;
 * NULL: it returns another value.
 */
const struct msd_relay_ins *msd_relay_find_result(const struct msd_relay_func *f);

/** One function at @c, checked against img; private to the reader (code.c). */
MSD_MUST_CHECK msd_err msd_relay_read_func(struct msd_cur *c,
					   struct msd_relay_image *img,
					   struct msd_relay_func *f,
					   struct msd_diag *d);
/** Check the number of arguments of calls, after all functions are read. */
MSD_MUST_CHECK msd_err msd_relay_check_calls(const struct msd_relay_image *img,
					     const struct msd_relay_func *f,
					     struct msd_diag *d);

#endif
