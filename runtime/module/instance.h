#ifndef MSD_RUNTIME_MODULE_INSTANCE_H
#define MSD_RUNTIME_MODULE_INSTANCE_H
/*
 * An object of a module that keeps state between calls, with functions under TVM's
 * names: a graph executor's set_input, run, get_output. Kinds that support it provide
 * msd_node_ops.instance. The functions of an instance are a table; the argument count
 * is checked before a function is called.
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
	int32_t least, most; /* allowed number of arguments */
	bool takes_out;      /* the last argument may be a tensor to fill */
};

struct msd_instance_ops {
	const struct msd_instance_row *rows;
	size_t n_rows;
	/** Optional: a function of the module that instances also offer. */
	struct msd_function *(*other)(struct msd_instance *self, const char *name);
	void (*close)(struct msd_instance *self);
};

struct msd_instance { /* first member of the kind's struct */
	const struct msd_instance_ops *ops;
	/*
	 * The module, how to call its functions with checked arguments, and whether
	 * unknown input names are ignored. The loader sets these after the instance
	 * is created.
	 */
	struct msd_loaded *module;
	msd_module_call call;
	bool tvm_inputs;
	struct msd_instance_func *funcs; /* ops->n_rows; owned */
};

/** Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_instance_init(struct msd_instance *i,
					 const struct msd_instance_ops *ops,
					 struct msd_diag *d);
/** Called by the kind's close. */
void msd_instance_finish(struct msd_instance *i);

/* Functions for callers. */
/**
 * Find its function @name, to be called with msd_loaded_call(). *@ret_takes_out: the
 * caller may pass a tensor to fill. MSD_NOT_FOUND lists its functions.
 */
MSD_MUST_CHECK msd_err msd_instance_find(struct msd_instance *i, const char *name,
					 struct msd_function **ret, bool *ret_takes_out,
					 struct msd_diag *d);
void msd_instance_close(struct msd_instance *i); /* NULL is fine */

/* Functions for kinds. */
/** Raise @d with @err and finish @d. Returns -1. */
int msd_instance_raise(struct msd_diag *d, msd_err err);
/** Return a str: 0 or -1. */
int msd_instance_give_text(const char *text, struct msd_any *ret);
/**
 * Copy the elements of @t to a tensor with its own memory on the same device, for
 * arguments that are kept after the call. NULL with the error raised.
 */
struct msd_tensor *msd_instance_keep(const struct msd_dltensor *t);
/**
 * True if @v is a resident tensor with lasting memory. Memory of other tensors is
 * valid only during the call.
 */
bool msd_instance_is_resident(const struct msd_any *v);
/** Copy the elements of @from to @to, which have the same size: 0 or -1. */
int msd_instance_copy(const struct msd_dltensor *to, const struct msd_dltensor *from);

#endif
