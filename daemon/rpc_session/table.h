#ifndef MSD_RPC_SESSION_TABLE_H
#define MSD_RPC_SESSION_TABLE_H
/*
 * The objects of a session by handle. A handle is a number that the session chose:
 * never 0, and never given again, so a client that sends a wrong one gets an error.
 */
#include "proto/tvm_rpc/value.h"
#include "runtime/value/value.h"

struct msd_dev;
struct msd_loaded;
struct msd_rpc_executor;
struct msd_rpc_builtin;
struct msd_rpc_timer;

#define MSD_RPC_MAX_IMPORTS 32u
#define MSD_RPC_SLOT_BITS 20u /* of a handle; the rest says how often it was used */

/* Lives as long as the session: its functions may be held by other modules. */
struct msd_rpc_module {
	struct msd_loaded *loaded; /* NULL: the system library, which is empty */
	int fd;                    /* of its library; owned */
	struct msd_span map;       /* the bytes of it */
	struct msd_span graph;     /* of an executor, beside the library; owned */
	struct msd_rpc_module *imports[MSD_RPC_MAX_IMPORTS];
	uint32_t n_imports;
	struct msd_rpc_module *next; /* msd_rpc_session.modules */
};

enum msd_rpc_object_kind {
	MSD_RPC_FREE,
	MSD_RPC_IS_ARRAY,
	MSD_RPC_IS_BUILTIN,
	MSD_RPC_IS_FUNCTION,
	MSD_RPC_IS_MAKER, /* makes an executor of its module */
	MSD_RPC_IS_MODULE,
	MSD_RPC_IS_INSTANCE,
	MSD_RPC_IS_VALUE
};

struct msd_rpc_object {
	enum msd_rpc_object_kind kind;
	struct msd_rpc_module *module; /* MODULE, FUNCTION, MAKER, INSTANCE */
	struct msd_function *function; /* FUNCTION; borrowed */
	/* INSTANCE, its FUNCTIONs, and what they returned: a reference. */
	struct msd_rpc_executor *executor;
	bool is_get_input;           /* FUNCTION */
	struct msd_rpc_timer *timer; /* FUNCTION that is timed: owned; NULL: none */
	const struct msd_rpc_builtin *builtin;
	struct msd_any value; /* VALUE, FUNCTION that a call returned: owned */
	uint64_t array;       /* VALUE, a tensor: the handle of its elements */
	uint8_t *data;        /* ARRAY */
	uint64_t bytes;
	struct msd_dev *dev; /* ARRAY: borrowed from the session; NULL: the host */
	/* ARRAY: a reference, of what the client allocated and frees. NULL: it is a
	 * result's. */
	struct msd_storage *memory;
	uint64_t uses; /* of the slot */
	uint32_t next_free;
};

/* An address, and the device that has it; NULL: the host. */
struct msd_rpc_place {
	uint8_t *data;
	struct msd_dev *dev;
	struct msd_storage *memory; /* borrowed; NULL: it is a result's */
};

struct msd_rpc_table {
	struct msd_rpc_object *slots;
	uint32_t n, cap;
	uint32_t first_free; /* slot + 1; 0: none */
};

/** Add a copy of @o, with a reference to its executor. Errors: MSD_NOMEM, MSD_TOO_LARGE
 * (too many handles). */
MSD_MUST_CHECK msd_err msd_rpc_table_add(struct msd_rpc_table *t,
					 const struct msd_rpc_object *o, uint64_t *ret,
					 struct msd_diag *d);
/** The object of @handle; NULL: it was never given, or is freed. Valid until add. */
struct msd_rpc_object *msd_rpc_table_find(const struct msd_rpc_table *t,
					  uint64_t handle);
/** Remove all objects, and free the table. */
void msd_rpc_table_finish(struct msd_rpc_table *t);
/** Free an object and what it owns. */
void msd_rpc_table_remove(struct msd_rpc_table *t, struct msd_rpc_object *o);
/**
 * The place of the @bytes bytes of @x from its byte_offset on. Errors:
 * MSD_BAD_ARGUMENT (no such array, or not within it, or it is on another device).
 */
MSD_MUST_CHECK msd_err msd_rpc_table_reach(const struct msd_rpc_table *t,
					   const struct msd_rpc_tensor *x,
					   uint64_t bytes, struct msd_rpc_place *ret,
					   struct msd_diag *d);

#endif
