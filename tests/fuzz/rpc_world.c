#include "tests/fuzz/rpc_world.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "daemon/rpc_session/session.h"
#include "tests/fuzz/fuzz.h"

#define MOST_FILES 3u
#define MOST_PACKET (1u << 20)
#define SOCKET_BYTES (4 << 20)

/* The peer reads nothing meanwhile: a session that has filled the buffer ends. */
static void open_pair(int pair[2])
{
	const int bytes = SOCKET_BYTES;
	const struct timeval soon = {.tv_usec = 1};

	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	for (int i = 0; i < 2; i++) {
		(void)setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
		(void)setsockopt(pair[i], SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
	}
}

size_t rpc_world_serve(const uint8_t *data, size_t n, uint8_t *ret, size_t room,
		       struct msd_rpc_page *page)
{
	int pair[2];
	struct msd_rpc_session s = {.channel = {.max_bytes = MOST_PACKET, .page = page},
				    .files = {.most = MOST_FILES},
				    .max_bytes = MOST_PACKET};

	(void)signal(SIGPIPE, SIG_IGN);
	/* A driver is foreign code. */
	(void)setenv("MODSERD_LIBOPENCL", "/nowhere", 1);
	(void)setenv("MODSERD_LIBCUDA", "/nowhere", 1);
	open_pair(pair);
	(void)!write(pair[0], data, n);
	(void)shutdown(pair[0], SHUT_WR);
	s.channel.fd = pair[1];
	MUST(msd_rpc_session_run(&s) == 0);
	msd_rpc_session_finish(&s);
	const ssize_t got = recv(pair[0], ret, room, MSG_DONTWAIT);
	(void)close(pair[0]);
	(void)close(pair[1]);
	return got > 0 ? (size_t)got : 0;
}
