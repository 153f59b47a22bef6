#ifndef MSD_SUPERVISOR_TLS_HANDSHAKE_H
#define MSD_SUPERVISOR_TLS_HANDSHAKE_H
/*
 * From an accepted socket to a transport that encrypts. A handshake is half a
 * millisecond of arithmetic, more than a turn of the loop may take, so it is done on
 * libuv's threads as a chore; all others wait for their turn, and the loop only for
 * sockets.
 *
 *   WAITS for its socket <--> is QUEUED for a thread --> WORKS --> done, or failed
 *
 * A peer that speaks something else is told so in its own language, as far as it can
 * be known. Whoever was told something is listened to until it goes or its time is
 * over: a close with unread bytes would be a reset, which may overtake what was said.
 */
#include <uv.h>

#include "daemon/supervisor/request/chore.h"
#include "daemon/supervisor/request/deadline.h"
#include "daemon/supervisor/tls/library.h"
#include "daemon/wire/list.h"

struct msd_handshake;

/* Why a handshake fails. X(enumerator, word) */
#define MSD_HANDSHAKE_FAULT_MAP(X)                                                     \
	X(CERTIFICATE, "certificate") /* it shows none, or none that is good */        \
	X(TLS, "tls")                 /* an older version, a breach, no trust in us */ \
	X(STRANGER, "stranger")       /* what it speaks is not TLS */                  \
	X(LATE, "late")                                                                \
	X(GONE, "gone") /* it, or the daemon */

enum msd_handshake_fault {
#define MSD_HANDSHAKE_FAULT_ENUM(e, word) MSD_HANDSHAKE_##e,
	MSD_HANDSHAKE_FAULT_MAP(MSD_HANDSHAKE_FAULT_ENUM)
#undef MSD_HANDSHAKE_FAULT_ENUM
		MSD_HANDSHAKE_FAULT_COUNT
};

/* All of a loop. */
struct msd_handshakes {
	uv_loop_t *loop;
	struct msd_deadlines *deadlines;
	const struct msd_tls *tls;
	struct msd_list all; /* msd_handshake.link */
	struct msd_chores steps;
	/** It has failed, and @why. */
	void (*on_failed)(struct msd_handshake *h, enum msd_handshake_fault fault,
			  const char *why);
	/** Of each that was begun, once, on a later turn, and the last of it. @t is the
	 * callee's; NULL: it has failed, and its socket is closed. */
	void (*on_done)(struct msd_handshake *h, struct msd_transport *t);
};

/** "certificate", ... */
const char *msd_handshake_fault_word(enum msd_handshake_fault fault);
void msd_handshakes_init(struct msd_handshakes *hs, uv_loop_t *loop,
			 struct msd_deadlines *deadlines, const struct msd_tls *tls);
/** Begin with @fd, which is taken, to be done within @limit_ms (0: for ever), in the
 * turns of @who. @user is msd_handshake_user()'s. Errors, with @fd still the caller's:
 * MSD_NOMEM, MSD_IO. */
MSD_MUST_CHECK msd_err msd_handshake_start(struct msd_handshakes *hs, int fd,
					   uint64_t limit_ms, struct msd_peer_id who,
					   void *user);
void *msd_handshake_user(const struct msd_handshake *h);
struct msd_handshakes *msd_handshake_all(const struct msd_handshake *h);
/** End them all: on_done follows for each, as soon as its thread has left it. */
void msd_handshakes_close(struct msd_handshakes *hs);

#endif
