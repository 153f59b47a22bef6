#ifndef MSD_RUNTIME_MODULE_CHECK_H
#define MSD_RUNTIME_MODULE_CHECK_H
/*
 * Checks before compiled code is called. TVM's code checks many arguments itself, but
 * crashes on some: an int instead of a tensor (<= 0.15 reads the pointer before its
 * type), foreign objects, misaligned data. These become errors here.
 */
#include "proto/base/diag.h"
#include "runtime/module/module.h"
#include "runtime/value/value.h"

/* Type name of bool elements in a library; both have one byte per element. */
enum msd_bool_style {
	MSD_BOOL_UNKNOWN, /* 0.22 or 0.23, not yet determined: try both, and keep the
			     one that works */
	MSD_BOOL_UINT1,   /* {uint, 1 bit}: up to 0.22 */
	MSD_BOOL_BOOL8,   /* {bool, 8 bits}: since 0.23; used by our callers */
};

struct msd_call_rules {
	struct msd_func_info info;
	enum msd_bool_style
		bool_style;  /* may be learned in a call: one thread at a time */
	uint32_t data_align; /* required alignment of host tensor data in bytes */
	/* Allowed device of tensors in addition to the host: the module's device;
	 * type 0: none. */
	struct msd_device device;
	bool is_any_ordinal; /* also any other device of that type */
	/* Last parameters that callers may leave out; the signature does not have
	 * them. */
	uint32_t n_bound;
	/* Code built with tvm-ffi's headers: it checks the type of every argument,
	 * takes all kinds of objects and may keep them. */
	bool is_typed;
};

/**
 * Check @args against @rules. Errors: MSD_BAD_ARGUMENT with a text like "addone:
 * argument 0 (A): expected a float32 tensor of rank 1, got int".
 */
MSD_MUST_CHECK msd_err msd_check_args(const struct msd_call_rules *rules,
				      const struct msd_any *args, size_t n,
				      struct msd_diag *d);

/** The same for argument @i only. */
MSD_MUST_CHECK msd_err msd_check_arg(const struct msd_call_rules *rules, size_t i,
				     const struct msd_any *v, struct msd_diag *d);
/**
 * True if a tensor of @got is accepted for @want: the same dtype, or bool in either
 * form.
 */
bool msd_dtype_fits(struct msd_dtype want, struct msd_dtype got);

#endif
