#ifndef MSD_RUNTIME_MODULE_INSTANCE_H
#define MSD_RUNTIME_MODULE_INSTANCE_H
/*
 * Something of a module that keeps state between calls, with functions by TVM's names:
 * a graph executor's set_input, run, get_output. Kinds that have it offer
 * msd_node_ops.instance. What an instance can do is a table; the number of arguments is
 * checked before a function is called.
 */
#include "runtime/module/node.h"
#include "runtime/value/value.h"

struct msd_instance;

/* Raises its error: 0 or -1. */
typedef int (*msd_instance_call)(struct msd_instance *self, const struct msd_any *args,
				 int32_t n, struct msd_any *ret);

struct msd_loaded;
typedef msd_err (*msd_module_call)(struct msd_loaded *m, struct msd_function *fn,
				   struct msd_any *args, size_t n, struct msd_any *ret,
				   struct msd_diag *d);

#define MSD_INSTANCE_ANY_ARGS INT32_MAX

struct msd_instance_row {
	const char *name;
	msd_instance_call call;
	int32_t least, most; /* how many arguments it takes */
	bool takes_out;      /* the last may be a tensor for it to fill */
};

struct msd_instance_ops {
	const struct msd_instance_row *rows;
	size_t n_rows;
	/** Optional: a function of the module that instances call as theirs. */
	struct msd_function *(*other)(struct msd_instance *self, const char *name);
	void (*close)(struct msd_instance *self);
};

struct msd_instance { /* first member of the kind's own */
	const struct msd_instance_ops *ops;
	/* Whose it is, how a function of that is called, with its arguments checked,
	 * and whether names of inputs that the model lacks are ignored: given by who
	 * loaded the module, once the instance is made. */
	struct msd_loaded *module;
	msd_module_call call;
	bool tvm_inputs;
	struct msd_instance_func *funcs; /* ops->n_rows; owned */
};

/** Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_instance_init(struct msd_instance *i,
					 const struct msd_instance_ops *ops,
					 struct msd_diag *d);
/** Of the kind's close. */
void msd_instance_finish(struct msd_instance *i);

/* For callers. */
/** Its function @name, to be called with msd_loaded_call(); *@ret_takes_out: the caller
 * may give a tensor for it to fill. MSD_NOT_FOUND lists what it has. */
MSD_MUST_CHECK msd_err msd_instance_find(struct msd_instance *i, const char *name,
					 struct msd_function **ret, bool *ret_takes_out,
					 struct msd_diag *d);
void msd_instance_close(struct msd_instance *i); /* NULL is fine */

/* For kinds. */
/** Raise @d with @err and finish @d: -1. */
int msd_instance_raise(struct msd_diag *d, msd_err err);
/** A str as a result: 0 or -1. */
int msd_instance_give_text(const char *text, struct msd_any *ret);
/**
 * A tensor with the elements of @t in memory of its own, on the same device: what a
 * call's arguments become that are kept. NULL with the error raised.
 */
struct msd_tensor *msd_instance_keep(const struct msd_dltensor *t);
/** Memory that stays: a resident tensor's. Others are the call's alone. */
bool msd_instance_is_resident(const struct msd_any *v);
/** Copy the elements of @from to @to, which are of one size: 0 or -1. */
int msd_instance_copy(const struct msd_dltensor *to, const struct msd_dltensor *from);

#endif
