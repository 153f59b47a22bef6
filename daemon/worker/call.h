#ifndef MSD_WORKER_CALL_H
#define MSD_WORKER_CALL_H
/*
 * One call while it runs: its decoded arguments and everything that it must give back
 * afterwards. Lives in the worker's arena.
 */
#include "daemon/worker/worker.h"
#include "proto/value.h"

/* Where a client wants what the function returns, in a segment that it lends. */
struct msd_call_place {
	struct msd_call_place *next;
	struct msd_wire_tensor tensor; /* of the dtype and shape that fit there */
	uint8_t *p;
};

/* A tensor that the callee fills, as the reply will describe it. */
struct msd_call_out {
	struct msd_call_out *next;
	struct msd_wire_tensor tensor;
	uint8_t *slot;
	struct msd_tensor
		*there; /* on a device, owned; NULL: the callee has the slot */
};

/* Which rows of a joined call's results are one call's. */
struct msd_rows {
	int64_t first;
	int64_t n; /* 0: all of them are */
};

struct msd_call {
	struct msd_peer *peer;
	const struct msd_request *request; /* NULL: not a call but a copy */
	struct msd_func *func;
	struct msd_loaded *module;
	struct msd_device device; /* where tensors belong that name none */
	uint64_t begun_ns;        /* of a traced call: when it was begun */
	uint64_t entered_ns;      /* when its function was */
	struct msd_dev *queued;   /* the device that has work of this call; or NULL */
	struct msd_dev *timed; /* the one that has noted its function's time; or NULL */
	struct msd_arena *arena;
	bool takes_out;     /* the callee fills tensors; else it returns its outputs */
	bool sends_bytes;   /* a tensor's bytes came with the call and end with it */
	bool has_resident;  /* an argument stays when the call ends */
	bool wants_objects; /* the callee keeps references: no borrowed DLTensors */
	struct msd_any *args;
	uint32_t n_args;
	struct msd_call_out *outs; /* in argument order */
	uint32_t n_outs;
	struct msd_call_place *places; /* not yet taken, in argument order */
	uint32_t n_places;             /* of all arguments, the last so many */
	uint32_t n_result_tensors;
	uint32_t n_result_values;
	struct msd_rows rows;
	uint32_t n_joined;       /* calls that ran as one with it; 0: it ran alone */
	struct call_hold *holds; /* objects to drop */
	struct call_slot *slots; /* out slots to free when the call fails, last first */
	uint64_t sent_bytes;     /* of a guest's: what its reply's payload has so far */
};

/**
 * Decode @n values at @c into call->args. Tensors are views of the peer's segments and
 * residents, checked to lie inside them. Errors name the argument.
 */
MSD_MUST_CHECK msd_err msd_call_read_args(struct msd_call *call, struct msd_cur *c,
					  uint32_t n, struct msd_diag *d);
/** The same of those that the plan of call->request has. */
MSD_MUST_CHECK msd_err msd_call_take_args(struct msd_call *call, struct msd_diag *d);
/** Room for @n arguments, which are values when all were set. */
MSD_MUST_CHECK msd_err msd_call_make_args(struct msd_call *call, uint32_t n,
					  struct msd_diag *d);
/** Take over @obj until the call ends, as the value *@ret; NULL: memory was short. */
MSD_MUST_CHECK msd_err msd_call_hold(struct msd_call *call, struct msd_obj *obj,
				     struct msd_any *ret, struct msd_diag *d);
/**
 * Put the arguments into the order of the function's parameters: @names is an array,
 * for each argument a parameter's name, or nil for the first one that no other argument
 * is for. Errors: MSD_BAD_REQUEST, MSD_BAD_ARGUMENT (a name that the function does not
 * have, a parameter without argument, a function whose parameters are not known).
 */
MSD_MUST_CHECK msd_err msd_call_order_args(struct msd_call *call, struct msd_span names,
					   struct msd_diag *d);
/**
 * Append @v to @out. Tensors are copied into out slots of the peer: the reply may be
 * read after the input's slot is gone. MSD_UNSUPPORTED names a kind that cannot travel.
 */
MSD_MUST_CHECK msd_err msd_call_write_result(struct msd_call *call,
					     const struct msd_any *v,
					     struct msd_buf *out, struct msd_diag *d);
/** Whether @v is a tensor of @rows rows that can be cut between any two, or an array of
 * such. */
bool msd_call_has_rows(const struct msd_any *v, int64_t rows);
/** Run the function with the call's arguments. The caller owns *@ret. */
MSD_MUST_CHECK msd_err msd_call_invoke(struct msd_worker *w, struct msd_call *call,
				       struct msd_any *ret, uint64_t *ret_ns,
				       struct msd_diag *d);
/** Append the response to @out: [[out...], return] and the meta. */
MSD_MUST_CHECK msd_err msd_call_write_reply(struct msd_call *call,
					    const struct msd_any *result,
					    uint64_t exec_ns, struct msd_buf *out,
					    struct msd_diag *d);
/** Note @t, a place in a segment, for the next tensor that is returned. */
MSD_MUST_CHECK msd_err msd_call_add_place(struct msd_call *call,
					  const struct msd_wire_tensor *t,
					  struct msd_diag *d);
/** Where a tensor as @t goes that is returned: a place, or an out slot, all of which is
 * then written. @t's place is filled in. MSD_BAD_ARGUMENT: the next place is for
 * another dtype or shape. */
MSD_MUST_CHECK msd_err msd_call_seat(struct msd_call *call, struct msd_wire_tensor *t,
				     uint8_t **ret_p, struct msd_diag *d);
/** Reserve an out slot for @t, whose place is filled in. The call frees it on failure.
 */
MSD_MUST_CHECK msd_err msd_call_add_slot(struct msd_call *call,
					 struct msd_wire_tensor *t,
					 enum msd_outpool_as as, uint8_t **ret_p,
					 struct msd_diag *d);
/** Of a guest's call: its slots become its reply's. */
MSD_MUST_CHECK msd_err msd_call_hand_over(struct msd_call *call, struct msd_diag *d);
/** Free the call's out slots: it failed. */
void msd_call_free_slots(struct msd_call *call);
/** Drop the call's objects; with @failed its out slots, too. */
void msd_call_finish(struct msd_call *call, bool failed);

/** Errors: MSD_BAD_ARGUMENT, for elements that no client can have. */
MSD_MUST_CHECK msd_err msd_tensor_check_kind(const struct msd_wire_tensor *t,
					     struct msd_diag *d);
/** The address of @t in a segment of a client's. Errors: MSD_NO_SPACE, when it could
 * not be mapped here. */
MSD_MUST_CHECK msd_err msd_lent_locate(const struct msd_peer *peer,
				       const struct msd_wire_tensor *t, uint8_t **ret,
				       struct msd_diag *d);
/**
 * A tensor argument's memory: inside a segment, or a resident's (then *@ret_owner is
 * its object, borrowed). *@ret_device is where that memory is. Not for *out* tensors.
 */
MSD_MUST_CHECK msd_err msd_call_locate(const struct msd_peer *peer,
				       const struct msd_wire_tensor *t, uint8_t **ret_p,
				       struct msd_device *ret_device,
				       struct msd_obj **ret_owner, struct msd_diag *d);

#endif
