#ifndef MSD_WIRE_TRANSPORT_H
#define MSD_WIRE_TRANSPORT_H
/*
 * How bytes get to the other side of a connection and back. A connection (conn.h)
 * knows frames and uses a transport for every operation on its descriptor. So another
 * kind of transport is one more file. socket.c is a plain stream socket.
 *
 * No call blocks: after -EAGAIN the caller waits for the events that wants() names.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define MSD_TRANSPORT_FDS 4u

/* Received descriptors that are not yet taken; owned. */
struct msd_fds {
	int fd[MSD_TRANSPORT_FDS];
	unsigned n;
};

struct msd_transport;
struct msd_tls_peer;

struct msd_transport_ops {
	/**
	 * Fill @n pieces in order with received bytes. A short read means that no
	 * more is available now. Received descriptors are appended to @fds; those
	 * that do not fit (all if @fds is NULL) are closed on a thread (closer.h).
	 * Returns bytes; 0: the other side has ended; -EAGAIN: nothing is available;
	 * -EBUSY: the next bytes carry descriptors and too many of the same passer
	 * are not closed yet, and no event tells when they are; another -errno: it is
	 * broken.
	 */
	ssize_t (*read)(struct msd_transport *t, struct iovec *pieces, size_t n,
			struct msd_fds *fds);
	/**
	 * Write as much of the @n pieces as it takes, and pass @fd (-1: none;
	 * borrowed) with the first byte. Returns bytes; -EAGAIN: none now;
	 * -ETOOMANYREFS: the user has too many descriptors in flight, and no event
	 * tells when that ends; another -errno: it is broken.
	 */
	ssize_t (*writev)(struct msd_transport *t, struct iovec *pieces, size_t n,
			  int fd);
	/**
	 * The events of the descriptor to wait for in order to read, write or both
	 * (@events: UV_READABLE and UV_WRITABLE).
	 */
	int (*wants)(const struct msd_transport *t, int events);
	/**
	 * Optional. True if the transport holds bytes that it has taken from its
	 * descriptor. A read returns more, but no event fires.
	 */
	bool (*holds)(const struct msd_transport *t);
	/** Optional. The cause of the last -EPROTO; valid until the next call. */
	const char *(*cause)(const struct msd_transport *t);
	/**
	 * End the conversation: no more reads or writes follow, and the written bytes
	 * should arrive. Tell the other side, and drop the bytes that it has sent.
	 * @scratch is a buffer for that.
	 */
	void (*end)(struct msd_transport *t, void *scratch, size_t n);
	/** Close the descriptor. This is the last call on the transport. */
	void (*close)(struct msd_transport *t);
};

struct msd_transport {
	const struct msd_transport_ops *ops;
	int fd;            /* owned; polled by a loop */
	bool may_pass_fds; /* descriptors can be received, and passed to writev */
	uint64_t passer;   /* sender of these (closer.h); default MSD_CLOSER_WORKERS */
	void *state;       /* private to the kind of transport; NULL if not needed */
	/* Verified identity of the other side (tls.h); lives as long as the
	 * transport. NULL: this kind of transport does not check it. */
	const struct msd_tls_peer *peer;
};

/**
 * Make a transport of a connected stream socket; takes ownership. @may_pass_fds is
 * for unix sockets.
 */
struct msd_transport msd_transport_of_socket(int fd, bool may_pass_fds);

#endif
