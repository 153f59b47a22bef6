#ifndef MSD_RUNTIME_VALUE_ERROR_H
#define MSD_RUNTIME_VALUE_ERROR_H
/*
 * The error of the calling thread, as compiled code reports it. The hooks of both
 * ABIs (TVMAPISetLastError, TVMFFIErrorSetRaisedFromCStr[Parts]) and our own packed
 * functions set it. The caller moves it into a diag right after a call returned
 * non-zero. This is the only thread-local error in the project.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/**
 * Store "kind: message" for this thread. Copies the text and cuts it at MSD_DIAG_MAX.
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
/**
 * Move the error of a pool thread to the calling thread: detach it there, attach it
 * here.
 */
struct msd_abi_error;
struct msd_abi_error *msd_abi_detach(void);   /* NULL if there is none */
void msd_abi_attach(struct msd_abi_error *e); /* consumes; NULL is fine */

#endif
