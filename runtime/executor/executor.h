#ifndef MSD_RUNTIME_EXECUTOR_EXECUTOR_H
#define MSD_RUNTIME_EXECUTOR_EXECUTOR_H
/*
 * An executor as TVM has it, of a graph or an ahead-of-time compiled model: numbered
 * inputs, the parameters among them, and numbered outputs, that stay between calls.
 * The functions by which code written against TVM works with one are here; each kind of
 * executor says how its inputs are set and how it runs.
 */
#include "runtime/module/instance.h"
#include "runtime/module/model_signature.h"

struct msd_executor;

/* Those that give an int raise their error: 0 or -1. */
struct msd_executor_ops {
	/* Names of inputs are C's: what C does not have is '_' in them. */
	bool has_c_names;
	struct msd_model_tensor (*input)(const struct msd_executor *x, uint32_t i);
	struct msd_model_tensor (*output)(const struct msd_executor *x, uint32_t i);
	bool (*is_param)(const struct msd_executor *x, uint32_t i);
	/** Copy @t, which fits, into input @i. */
	int (*set)(struct msd_executor *x, uint32_t i, const struct msd_dltensor *t);
	/** Use the memory of @t, which fits and stays; false: it must be copied. */
	bool (*share)(struct msd_executor *x, uint32_t i, const struct msd_dltensor *t);
	/** On what was set; what was not is zero. */
	int (*run)(struct msd_executor *x);
	/** The tensor of an input. */
	int (*get_input)(struct msd_executor *x, uint32_t i, struct msd_any *ret);
	/** The tensor of an output after a run. */
	int (*get_output)(struct msd_executor *x, uint32_t i, struct msd_any *ret);
	void (*destroy)(struct msd_executor *x); /* half-built ones too */
};

struct msd_executor { /* first member of the kind's own */
	struct msd_instance base;
	const struct msd_executor_ops *ops;
	uint32_t n_inputs;
	uint32_t n_outputs;
	struct msd_obj **held;    /* per input: the tensor whose memory is used */
	struct msd_tensor **outs; /* per output: the tensor that results go to */
};

/** @x is zeroed but for its kind's own. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_executor_init(struct msd_executor *x,
					 const struct msd_executor_ops *ops,
					 uint32_t n_inputs, uint32_t n_outputs,
					 struct msd_diag *d);
/** Of the kind's destroy. */
void msd_executor_finish(struct msd_executor *x);

#define MSD_NO_SUCH_NAME UINT32_MAX

/** Number of an input that a caller names or numbers; MSD_NO_SUCH_NAME for an unknown
 * name. */
int msd_executor_find_input(const struct msd_executor *x, const struct msd_any *v,
			    uint32_t *ret);
/** What to do about argument @at, a name that no input has: 0 when the module was
 * loaded to ignore it, else an error with the inputs' names. */
int msd_executor_no_input(const struct msd_executor *x, const struct msd_any *name,
			  int at);

/** The error of a name that no output has. */
int msd_executor_no_output(const struct msd_executor *x, const struct msd_any *name);
/** Append the numbers and names of what a caller sets, or of the outputs: "0 (data)".
 */
void msd_executor_list(const struct msd_executor *x, bool is_input,
		       struct msd_buf *out);

/** Set the input that @key names to @value, which is argument @at + 1 of the call. 0 or
 * -1 with the error raised. */
int msd_executor_set_one(struct msd_executor *x, const struct msd_any *key,
			 const struct msd_any *v, int at);
/** The bytes of a .params file (params.c). */
int msd_executor_load_params(struct msd_instance *self, const struct msd_any *args,
			     int32_t n, struct msd_any *ret);

/* Functions that only tell something (info.c). */
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
