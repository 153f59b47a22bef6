#ifndef MSD_SUPERVISOR_TLS_HANDSHAKE_H
#define MSD_SUPERVISOR_TLS_HANDSHAKE_H
/*
 * From an accepted socket to an encrypted transport. A handshake takes half a
 * millisecond of CPU time, too much for a loop iteration. So a thread (work.h) runs
 * it, at most two at a time; peers take turns. The loop waits only for sockets.
 *
 *   WAITS for its socket <--> is QUEUED for a thread --> WORKS --> done, or failed
 *
 * A peer with another protocol gets an error in that protocol, if it is known. After
 * an error, the connection is read until the peer closes it or a timeout expires. A
 * close with unread bytes would be a reset, which may overtake the error.
 */
#include <uv.h>

#include "daemon/loop/list.h"
#include "daemon/loop/work.h"
#include "daemon/supervisor/request/deadline.h"
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/supervisor/tls/library.h"

struct msd_handshake;

/* Why a handshake fails. X(enumerator, word) */
#define MSD_HANDSHAKE_FAULT_MAP(X)                                                     \
	X(CERTIFICATE, "certificate") /* no certificate, or not a valid one */         \
	X(TLS, "tls") /* an older version, a violation, no trust in our certificate */ \
	X(STRANGER, "stranger") /* the protocol is not TLS */                          \
	X(LATE, "late")                                                                \
	X(GONE, "gone") /* the peer or the daemon closed it */

enum msd_handshake_fault {
#define MSD_HANDSHAKE_FAULT_ENUM(e, word) MSD_HANDSHAKE_##e,
	MSD_HANDSHAKE_FAULT_MAP(MSD_HANDSHAKE_FAULT_ENUM)
#undef MSD_HANDSHAKE_FAULT_ENUM
		MSD_HANDSHAKE_FAULT_COUNT
};

#define MSD_HANDSHAKE_THREADS 2u

/* All handshakes of a loop. */
struct msd_handshakes {
	uv_loop_t *loop;
	struct msd_deadlines *deadlines;
	const struct msd_tls *tls;
	struct msd_list all; /* msd_handshake.link */
	struct msd_work_lane steps;
	/** It has failed because of @why. */
	void (*on_failed)(struct msd_handshake *h, enum msd_handshake_fault fault,
			  const char *why);
	/**
	 * Called once for each handshake, in a later loop iteration; the last
	 * callback. The callee owns @t; NULL: it has failed, and its socket is
	 * closed.
	 */
	void (*on_done)(struct msd_handshake *h, struct msd_transport *t);
};

/** "certificate", ... */
const char *msd_handshake_fault_word(enum msd_handshake_fault fault);
void msd_handshakes_init(struct msd_handshakes *hs, uv_loop_t *loop,
			 struct msd_deadlines *deadlines, const struct msd_tls *tls);
/**
 * Begin a handshake on @fd, which is taken. It must finish within @limit_ms (0:
 * unlimited); its CPU time counts for @who. msd_handshake_user() returns @user. On an
 * error, the caller keeps @fd. Errors: MSD_NOMEM, MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_handshake_start(struct msd_handshakes *hs, int fd,
					   uint64_t limit_ms, struct msd_peer_id who,
					   void *user);
void *msd_handshake_user(const struct msd_handshake *h);
struct msd_handshakes *msd_handshake_all(const struct msd_handshake *h);
/**
 * Abort all handshakes: on_done follows for each, as soon as its thread has finished.
 */
void msd_handshakes_close(struct msd_handshakes *hs);

#endif
