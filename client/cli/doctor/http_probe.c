#include "client/cli/doctor/http_probe.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/base/bytes.h"

#define KNOCK_MS 500
#define ENOUGH_BYTES 512u

/* True for HTTP. Without a version in the request, some servers answer as in HTTP
 * 0.9: without a head. */
static bool is_http(struct msd_span said)
{
	static const char *const begins[] = {"HTTP/", "<!DOCTYPE", "<!doctype",
					     "<html"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		if (msd_span_begins(said, begins[i]))
			return true;
	}
	return false;
}

bool msd_knock_is_http(int fd)
{
	static const char lines[] = "\r\n\r\n";
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint8_t said[ENOUGH_BYTES];

	if (send(fd, lines, strlen(lines), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ||
	    poll(&p, 1, KNOCK_MS) <= 0)
		return false;
	const ssize_t n = recv(fd, said, sizeof(said), MSG_DONTWAIT);
	return n > 0 && is_http((struct msd_span){said, (size_t)n});
}
