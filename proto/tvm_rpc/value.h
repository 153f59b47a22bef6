#ifndef MSD_PROTO_TVM_RPC_VALUE_H
#define MSD_PROTO_TVM_RPC_VALUE_H
/*
 * Values in packets of TVM's RPC, and sequences of them. TVM has two encodings under
 * one protocol version: "classic" up to TVM 0.20 and "ffi" since 0.21. All integers
 * are little-endian. Values borrow their bytes from the packet.
 */

#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

#define MSD_RPC_MAX_VALUES 4096u /* in one sequence */

enum msd_rpc_era { MSD_RPC_FFI, MSD_RPC_CLASSIC, MSD_RPC_ERA_COUNT };

enum msd_rpc_kind {
	MSD_RPC_NONE,
	MSD_RPC_INT,
	MSD_RPC_BOOL,
	MSD_RPC_FLOAT,
	MSD_RPC_POINTER,
	MSD_RPC_DTYPE,
	MSD_RPC_DEVICE,
	MSD_RPC_TENSOR,
	MSD_RPC_TEXT,
	MSD_RPC_BYTES,
	MSD_RPC_FUNCTION,
	MSD_RPC_MODULE,
	MSD_RPC_OBJECT,
	MSD_RPC_KIND_COUNT
};

/* A tensor on the other side. Always compact. */
struct msd_rpc_tensor {
	uint64_t data; /* a handle */
	struct msd_device device;
	struct msd_dtype dtype;
	uint32_t ndim;        /* at most MSD_MAX_NDIM */
	const uint8_t *shape; /* ndim times i64, unaligned; none is negative */
	uint64_t byte_offset;
	uint64_t bytes; /* of all elements */
};

struct msd_rpc_value {
	enum msd_rpc_kind kind;
	int32_t type; /* its type code in the packet; 0: the usual one of the kind */
	union {
		int64_t i64;     /* INT, BOOL */
		double f64;      /* FLOAT */
		uint64_t handle; /* POINTER, FUNCTION, MODULE, OBJECT */
		struct msd_dtype dtype;
		struct msd_device device;
		struct msd_rpc_tensor tensor;
		struct msd_span bytes; /* TEXT, BYTES */
	} as;
};

/* A sequence that is being read. */
struct msd_rpc_seq {
	enum msd_rpc_era era;
	uint32_t n;           /* values that are left */
	const uint8_t *types; /* classic: the type codes that are left */
	struct msd_cur at;
};

/**
 * Begin to read the sequence that fills @bytes. Errors: MSD_BAD_REQUEST (more values
 * than MSD_RPC_MAX_VALUES, or than the bytes can hold).
 */
MSD_MUST_CHECK msd_err msd_rpc_seq_begin(struct msd_rpc_seq *s, enum msd_rpc_era era,
					 struct msd_span bytes, struct msd_diag *d);
/** Read the next value; s->n must not be 0. Errors: MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_rpc_seq_next(struct msd_rpc_seq *s,
					struct msd_rpc_value *ret, struct msd_diag *d);
/** Check that no bytes follow the last value. Errors: MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_rpc_seq_end(const struct msd_rpc_seq *s, struct msd_diag *d);
/** Check a whole sequence in this way. Errors: MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_rpc_seq_check(enum msd_rpc_era era, struct msd_span bytes,
					 struct msd_diag *d);
/** Append a sequence. If memory is short, out->bad is set. */
void msd_rpc_seq_write(struct msd_buf *out, enum msd_rpc_era era,
		       const struct msd_rpc_value *values, uint32_t n);

/** Read a tensor's description. Errors: MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_rpc_tensor_read(struct msd_cur *c,
					   struct msd_rpc_tensor *ret,
					   struct msd_diag *d);
void msd_rpc_tensor_write(struct msd_buf *out, const struct msd_rpc_tensor *t);
/** The extent of dimension @i. */
static inline int64_t msd_rpc_tensor_extent(const struct msd_rpc_tensor *t, uint32_t i)
{
	return (int64_t)msd_le64(t->shape + (size_t)i * 8);
}

#endif
