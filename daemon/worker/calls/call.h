#ifndef MSD_WORKER_CALL_H
#define MSD_WORKER_CALL_H
/* A running call: its decoded arguments and all resources that it must free. Lives in
 * the worker's arena. */
#include "daemon/worker/worker.h"
#include "proto/value.h"
#include "runtime/value/result_memory.h"

/* Place for a returned tensor, in a segment that the client shares. */
struct msd_call_reserve {
	struct msd_call_reserve *next;
	struct msd_wire_tensor tensor; /* dtype and shape that fit there */
	uint8_t *p;
};

/* A tensor that the callee fills, as the reply will describe it. */
struct msd_call_out {
	struct msd_call_out *next;
	struct msd_wire_tensor tensor;
	uint8_t *slot;
	struct msd_tensor
		*there; /* on a device, owned; NULL: the callee uses the slot */
};

/* The rows of a joined call's results that belong to one call. */
struct msd_rows {
	int64_t first;
	int64_t n; /* 0: all rows */
};

struct msd_call {
	struct msd_peer *peer;
	const struct msd_request *request; /* NULL: a copy, not a call */
	struct msd_func *func;
	struct msd_loaded *module;
	struct msd_device device; /* default device of its tensors */
	uint64_t begun_ns;        /* traced calls only: start time */
	uint64_t entered_ns;      /* start time of its function */
	struct msd_dev *queued;   /* device with queued work of this call; or NULL */
	struct msd_dev *timed; /* device that measures its function's time; or NULL */
	struct msd_arena *arena;
	bool takes_out;     /* the callee fills tensors; otherwise it returns outputs */
	bool sends_bytes;   /* a tensor's bytes are freed with the call */
	bool has_resident;  /* an argument outlives the call */
	bool lends;         /* returned tensors may be in lent slots */
	bool wants_objects; /* the callee keeps references: no borrowed DLTensors */
	bool is_typed;      /* the callee was made with tvm-ffi's headers */
	struct msd_any *args;
	uint32_t n_args;
	struct msd_call_out *outs; /* in argument order */
	uint32_t n_outs;
	struct msd_call_reserve *places; /* unused ones, in argument order */
	uint32_t n_places; /* number of them, at the end of the arguments */
	uint32_t n_result_tensors;
	uint32_t n_result_values;
	struct msd_rows rows;
	uint32_t n_joined; /* calls in the joint run, or runs; 0: one call's one run */
	struct call_hold *holds;     /* objects to drop */
	struct call_object *objects; /* objects in the reply, last first */
	struct call_slot *slots; /* out slots to free if the call fails, last first */
	uint64_t sent_bytes; /* direct peer only: bytes of the reply's payload so far */
};

/**
 * Decode @n values at @c into call->args. Tensors are views of the peer's segments
 * and resident tensors, checked to be inside them. Errors name the argument.
 */
MSD_MUST_CHECK msd_err msd_call_read_args(struct msd_call *call, struct msd_cur *c,
					  uint32_t n, struct msd_diag *d);
/** Same as msd_call_read_args(), for the plan of call->request. */
MSD_MUST_CHECK msd_err msd_call_apply_args(struct msd_call *call, struct msd_diag *d);
/** Allocate @n arguments; all must be set before use. */
MSD_MUST_CHECK msd_err msd_call_make_args(struct msd_call *call, uint32_t n,
					  struct msd_diag *d);
/** Take @obj until the call ends, as the value *@ret; NULL: memory was short. */
MSD_MUST_CHECK msd_err msd_call_hold(struct msd_call *call, struct msd_obj *obj,
				     struct msd_any *ret, struct msd_diag *d);
/**
 * Put the arguments into the order of the function's parameters. @names is an array
 * with one entry per argument: a parameter's name, or nil for the first parameter
 * without a named argument. Errors: MSD_BAD_REQUEST, MSD_BAD_ARGUMENT (unknown name,
 * missing argument, function with unknown parameters).
 */
MSD_MUST_CHECK msd_err msd_call_order_args(struct msd_call *call, struct msd_span names,
					   struct msd_diag *d);
/**
 * Append @v to @out. Tensors are copied into out slots of the peer, because the reply
 * may be read after the input's slot is freed. MSD_UNSUPPORTED names a kind that
 * cannot be sent.
 */
MSD_MUST_CHECK msd_err msd_call_write_result(struct msd_call *call,
					     const struct msd_any *v,
					     struct msd_buf *out, struct msd_diag *d);
/**
 * True if @v is a tensor of @rows rows that can be split between any two, or an array
 * of such tensors.
 */
bool msd_call_has_rows(const struct msd_any *v, int64_t rows);
/** Run the function with the call's arguments. The caller owns *@ret. */
MSD_MUST_CHECK msd_err msd_call_invoke(struct msd_worker *w, struct msd_call *call,
				       struct msd_any *ret, uint64_t *ret_ns,
				       struct msd_diag *d);
/**
 * As msd_call_invoke(), for a profile or a call with the option `repeat`; *@ret_ns is
 * the time of all runs. Sets @w->times. Errors: MSD_BAD_REQUEST (a bad option),
 * MSD_UNSUPPORTED (no profiles), MSD_NOMEM, and those of a run.
 */
MSD_MUST_CHECK msd_err msd_call_measure(struct msd_worker *w, struct msd_call *call,
					struct msd_any *ret, uint64_t *ret_ns,
					struct msd_diag *d);
/** Append the response to @out: [[out...], return] and the meta. */
MSD_MUST_CHECK msd_err msd_call_write_reply(struct msd_call *call,
					    const struct msd_any *result,
					    uint64_t exec_ns, struct msd_buf *out,
					    struct msd_diag *d);
/** Register @t, a place in a segment, for the next returned tensor. */
MSD_MUST_CHECK msd_err msd_call_add_place(struct msd_call *call,
					  const struct msd_wire_tensor *t,
					  struct msd_diag *d);
/**
 * Get the destination of a returned tensor like @t: a place, or an out slot. The
 * caller must write all of it. Fills in the place of @t. MSD_BAD_ARGUMENT: the next
 * place has another dtype or shape.
 */
MSD_MUST_CHECK msd_err msd_call_seat(struct msd_call *call, struct msd_wire_tensor *t,
				     uint8_t **ret_p, struct msd_diag *d);
/** Reserve an out slot for @t and fill in its place. The call frees it on failure. */
MSD_MUST_CHECK msd_err msd_call_add_slot(struct msd_call *call,
					 struct msd_wire_tensor *t,
					 enum msd_outpool_as as, uint8_t **ret_p,
					 struct msd_diag *d);
/* Room for returned tensors in the call's out slots. */
struct msd_call_lender {
	struct msd_result_memory base; /* first member */
	struct msd_call *call;
};
/**
 * Let the callee write the tensors that it returns into out slots of @call, until
 * msd_result_memory_set(NULL).
 */
void msd_call_lend(struct msd_call *call, struct msd_call_lender *l);
/** Direct peer only: move the call's slots to its reply. */
MSD_MUST_CHECK msd_err msd_call_hand_over(struct msd_call *call, struct msd_diag *d);
/**
 * Append @v to @out; @depth arrays are open around it. The other parameters are those
 * of msd_call_write_result().
 */
MSD_MUST_CHECK msd_err msd_call_write_value(struct msd_call *call,
					    const struct msd_any *v, unsigned depth,
					    struct msd_buf *out, struct msd_diag *d);
/** Free the out slots of a failed call. */
void msd_call_free_slots(struct msd_call *call);
/** Drop the call's objects; with @failed also its out slots. */
void msd_call_finish(struct msd_call *call, bool failed);

/** Errors: MSD_BAD_ARGUMENT, for element types that no client can have. */
MSD_MUST_CHECK msd_err msd_tensor_check_kind(const struct msd_wire_tensor *t,
					     struct msd_diag *d);
/**
 * Get the address of @t in a client segment. Errors: MSD_NO_SPACE, if it could not be
 * mapped in this process.
 */
MSD_MUST_CHECK msd_err msd_client_memory_locate(const struct msd_peer *peer,
						const struct msd_wire_tensor *t,
						uint8_t **ret, struct msd_diag *d);
/**
 * Get a tensor argument's memory: inside a segment, or of a resident tensor (then
 * *@ret_owner is its object, borrowed). *@ret_device is the device of that memory.
 * Not for *out* tensors.
 */
MSD_MUST_CHECK msd_err msd_call_locate(const struct msd_peer *peer,
				       const struct msd_wire_tensor *t, uint8_t **ret_p,
				       struct msd_device *ret_device,
				       struct msd_obj **ret_owner, struct msd_diag *d);

#endif
