#ifndef MSD_RUNTIME_EXECUTOR_EXECUTOR_H
#define MSD_RUNTIME_EXECUTOR_EXECUTOR_H
/*
 * An executor as in TVM, of a graph or an ahead-of-time compiled model. It has
 * numbered inputs, including the parameters, and numbered outputs, which it keeps
 * between calls. This file declares the functions that code written against TVM uses;
 * each kind of executor implements setting inputs and running.
 */
#include "runtime/module/instance.h"
#include "runtime/module/model_signature.h"

struct msd_executor;

/* Functions that return int raise their error: 0 or -1. */
struct msd_executor_ops {
	/* Input names are C identifiers: other characters are replaced by '_'. */
	bool has_c_names;
	struct msd_model_tensor (*input)(const struct msd_executor *x, uint32_t i);
	struct msd_model_tensor (*output)(const struct msd_executor *x, uint32_t i);
	bool (*is_param)(const struct msd_executor *x, uint32_t i);
	/** Copy @t, already checked, into input @i. */
	int (*set)(struct msd_executor *x, uint32_t i, const struct msd_dltensor *t);
	/**
	 * Use the memory of @t, already checked, which must stay; false: it must be
	 * copied.
	 */
	bool (*share)(struct msd_executor *x, uint32_t i, const struct msd_dltensor *t);
	/** Run on the inputs; inputs that were not set are zero. */
	int (*run)(struct msd_executor *x);
	/** The tensor of an input. */
	int (*get_input)(struct msd_executor *x, uint32_t i, struct msd_any *ret);
	/** The tensor of an output after a run. */
	int (*get_output)(struct msd_executor *x, uint32_t i, struct msd_any *ret);
	void (*destroy)(struct msd_executor *x); /* also partly built executors */
};

struct msd_executor { /* first member of the kind's struct */
	struct msd_instance base;
	const struct msd_executor_ops *ops;
	uint32_t n_inputs;
	uint32_t n_outputs;
	struct msd_obj **held;    /* per input: the tensor with shared memory */
	struct msd_tensor **outs; /* per output: the tensor that receives results */
};

/** @x is zeroed except for the kind's members. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_executor_init(struct msd_executor *x,
					 const struct msd_executor_ops *ops,
					 uint32_t n_inputs, uint32_t n_outputs,
					 struct msd_diag *d);
/** Called by the kind's destroy. */
void msd_executor_finish(struct msd_executor *x);

#define MSD_NO_SUCH_NAME UINT32_MAX

/**
 * Number of the input that @v names or numbers; MSD_NO_SUCH_NAME for an unknown name.
 */
int msd_executor_find_input(const struct msd_executor *x, const struct msd_any *v,
			    uint32_t *ret);
/**
 * Handle argument @at, an unknown input name: 0 if the module was loaded to ignore
 * it, else an error with the inputs' names.
 */
int msd_executor_no_input(const struct msd_executor *x, const struct msd_any *name,
			  int at);

/** Raise the error for an unknown output name. */
int msd_executor_no_output(const struct msd_executor *x, const struct msd_any *name);
/**
 * Append the numbers and names of the inputs that a caller sets, or of the outputs:
 * "0 (data)".
 */
void msd_executor_list(const struct msd_executor *x, bool is_input,
		       struct msd_buf *out);

/**
 * Set the input that @key names to @v, which is argument @at + 1 of the call. Returns
 * 0, or -1 with the error raised.
 */
int msd_executor_set_one(struct msd_executor *x, const struct msd_any *key,
			 const struct msd_any *v, int at);
/** Load the bytes of a .params file (params.c). */
int msd_executor_load_params(struct msd_instance *self, const struct msd_any *args,
			     int32_t n, struct msd_any *ret);

/* Query functions (info.c). */
int msd_executor_num_inputs(struct msd_instance *self, const struct msd_any *args,
			    int32_t n, struct msd_any *ret);
int msd_executor_num_outputs(struct msd_instance *self, const struct msd_any *args,
			     int32_t n, struct msd_any *ret);
int msd_executor_input_index(struct msd_instance *self, const struct msd_any *args,
			     int32_t n, struct msd_any *ret);
int msd_executor_input_name(struct msd_instance *self, const struct msd_any *args,
			    int32_t n, struct msd_any *ret);
int msd_executor_input_info(struct msd_instance *self, const struct msd_any *args,
			    int32_t n, struct msd_any *ret);
int msd_executor_output_info(struct msd_instance *self, const struct msd_any *args,
			     int32_t n, struct msd_any *ret);

#endif
