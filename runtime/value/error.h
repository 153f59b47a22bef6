#ifndef MSD_RUNTIME_VALUE_ERROR_H
#define MSD_RUNTIME_VALUE_ERROR_H
/*
 * The error of the calling thread, as compiled code reports it: an object with the
 * layout of tvm-ffi's error, of ours or of a library. The hooks of both ABIs
 * (TVMAPISetLastError, TVMFFIErrorSetRaised...) and our own packed functions set it.
 * The caller moves it into a diag right after a call returned non-zero, or passes the
 * object on. This is the only thread-local error in the project.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "runtime/value/value.h"

/* TVMFFIByteArray. */
struct msd_bytes {
	const char *data;
	size_t size;
};

/* TVMFFIErrorCell after the header. Errors of libraries before 0.1.8 end before
 * cause; only the fields before it are read in errors that are not ours. */
struct msd_error {
	struct msd_obj obj;
	struct msd_bytes kind;
	struct msd_bytes message;
	struct msd_bytes backtrace;
	/* Replace the backtrace (mode 0), or append to it (mode 1). */
	void (*update_backtrace)(void *self, const struct msd_bytes *more,
				 int32_t mode);
	struct msd_obj *cause;   /* the error that led to this one, or NULL; owned */
	struct msd_obj *context; /* more of the raiser, or NULL; owned */
	/* Only in ours: */
	msd_err code;
	bool has_kind; /* its text begins with the kind */
	char *traced;  /* backtrace.data; owned */
	char text[];   /* kind, NUL, message, NUL */
};

/**
 * An error object with copies of the texts, for code MSD_CALL_FAILED; NULL: memory is
 * short.
 */
struct msd_error *msd_error_new(struct msd_span kind, struct msd_span message);

/**
 * Raise "kind: message" in this thread. Copies the text and cuts it at MSD_DIAG_MAX.
 * Returns -1.
 */
int msd_abi_raise(const char *kind, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int msd_abi_raise_bytes(const char *kind, struct msd_span message);
/**
 * The same with our own code, for failures that are not the callee's (BAD_ARGUMENT,
 * ...).
 */
int msd_abi_raise_code(msd_err code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** The same for MSD_NOMEM: out of memory. */
int msd_abi_no_memory(void);
/**
 * Move this thread's error into @d and clear it. Returns its code (MSD_CALL_FAILED if
 * the callee raised it).
 */
msd_err msd_abi_fetch_error(struct msd_diag *d);
/** Clear this thread's error, so that a later call does not report a stale one. */
void msd_abi_clear(void);
/** Take this thread's error, or NULL if there is none. The caller owns the object. */
struct msd_error *msd_abi_detach(void);
/** Make @e, whose reference moves, this thread's error; NULL is fine. */
void msd_abi_attach(struct msd_error *e);

#endif
