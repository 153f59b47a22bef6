#ifndef MSD_RUNTIME_MODULE_CHECK_H
#define MSD_RUNTIME_MODULE_CHECK_H
/*
 * What must hold before compiled code is entered. Code of TVM checks much by itself,
 * but crashes on what it does not: an int where it expects a tensor (<= 0.15 reads the
 * pointer before its type), foreign objects, misaligned data. Here those become errors.
 */
#include "proto/diag.h"
#include "runtime/module/module.h"
#include "runtime/value/value.h"

/* How a library names bool elements; both have one byte per element. */
enum msd_bool_style {
	MSD_BOOL_UNKNOWN, /* 0.22 or 0.23 and nothing said yet: try, and keep what works
			   */
	MSD_BOOL_UINT1,   /* {uint, 1 bit}: up to 0.22 */
	MSD_BOOL_BOOL8,   /* {bool, 8 bits}: since 0.23; what callers of ours use */
};

struct msd_call_rules {
	struct msd_func_info info;
	enum msd_bool_style bool_style; /* learned at a call: one thread at a time */
	uint32_t data_align; /* bytes that tensor data on the host must be aligned to */
	/* Where tensors may be besides the host: the module's place; type 0: nowhere.
	 */
	struct msd_device device;
	bool is_any_ordinal; /* and any other device of that type */
};

/**
 * Check @args against @rules. Errors: MSD_BAD_ARGUMENT with a text like "addone:
 * argument 0 (A): expected a float32 tensor of rank 1, got int".
 */
MSD_MUST_CHECK msd_err msd_check_args(const struct msd_call_rules *rules,
				      const struct msd_any *args, size_t n,
				      struct msd_diag *d);

/** The same of argument @i alone. */
MSD_MUST_CHECK msd_err msd_check_arg(const struct msd_call_rules *rules, size_t i,
				     const struct msd_any *v, struct msd_diag *d);
/** Whether a tensor of @got may stand for one of @want: the same, or bool in both of
 * its spellings. */
bool msd_dtype_fits(struct msd_dtype want, struct msd_dtype got);

#endif
