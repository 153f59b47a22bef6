#ifndef MSD_WIRE_TRANSPORT_H
#define MSD_WIRE_TRANSPORT_H
/*
 * How bytes get to the other side of a connection and back. A connection (conn.h) knows
 * frames and asks a transport for everything that is done with its descriptor; so
 * another kind of transport is one more file and nothing else. socket.c is a stream
 * socket as it is.
 *
 * Nothing blocks: who is told "not now" waits for the events that wants() names.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define MSD_TRANSPORT_FDS 4u

/* Descriptors that were received and not yet taken; owned. */
struct msd_fds {
	int fd[MSD_TRANSPORT_FDS];
	unsigned n;
};

struct msd_transport;
struct msd_tls_peer;

struct msd_transport_ops {
	/**
	 * Fill @n pieces in order with what has come. Fewer bytes than they have room
	 * for mean that nothing more is there now. Descriptors that came with the bytes
	 * are appended to @fds; those that it has no room for are closed aside
	 * (aside.h), all of them where it is NULL. Returns bytes; 0: the other side has
	 * ended; -EAGAIN: nothing has come; -EBUSY: there are descriptors with what
	 * comes next, and too many of the same passer are not closed yet, which no
	 * event tells; another -errno: it is broken.
	 */
	ssize_t (*read)(struct msd_transport *t, struct iovec *pieces, size_t n,
			struct msd_fds *fds);
	/**
	 * Write @n pieces as far as it takes them, and pass @fd (-1: none; borrowed)
	 * with the first byte. Returns bytes; -EAGAIN: none now; -ETOOMANYREFS: the
	 * user has too many descriptors on their way, which no event ends; another
	 * -errno: it is broken.
	 */
	ssize_t (*writev)(struct msd_transport *t, struct iovec *pieces, size_t n,
			  int fd);
	/** The events of the descriptor that reading, writing or both (@events, of
	 * UV_READABLE and UV_WRITABLE) wait for. */
	int (*wants)(const struct msd_transport *t, int events);
	/** Optional. The transport holds bytes that it has taken from its descriptor:
	 * reading brings more, of which no event tells. */
	bool (*holds)(const struct msd_transport *t);
	/** Optional. What was wrong, when the last call returned -EPROTO; valid until
	 * the next one. */
	const char *(*cause)(const struct msd_transport *t);
	/**
	 * Nothing will be written or read any more, and what was written should arrive:
	 * say so to the other side, and drop what it has sent. @scratch is room for
	 * that.
	 */
	void (*end)(struct msd_transport *t, void *scratch, size_t n);
	/** Close the descriptor; the transport's last call. */
	void (*close)(struct msd_transport *t);
};

struct msd_transport {
	const struct msd_transport_ops *ops;
	int fd;            /* owned; what a loop polls */
	bool may_pass_fds; /* descriptors can come, and writev may be given one */
	uint64_t passer;   /* who sends those (aside.h); MSD_ASIDE_WORKERS unless set */
	void *state;       /* the kind's own; NULL: it needs none */
	/* Who the other side has proved to be (tls.h), as long as the transport lives.
	 * NULL: this kind of transport does not ask. */
	const struct msd_tls_peer *peer;
};

/** A connected stream socket, owned from here on; @may_pass_fds is for unix sockets. */
struct msd_transport msd_transport_of_socket(int fd, bool may_pass_fds);

#endif
