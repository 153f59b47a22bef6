#include "daemon/supervisor/tls/protocol_sniff.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "proto/body.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "proto/value.h"

#define TLS_HANDSHAKE 0x16 /* type of a record that contains a ClientHello */

#define ADVICE "this port speaks TLS: connect to tls://HOST:PORT"

static const char http_answer[] =
	"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n"
	"Connection: close\r\n\r\nmodserd: " ADVICE ", or by https\n";

static void say(int fd, const void *p, size_t n)
{
	(void)send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Close as an unencrypted session does. */
static void say_frame(int fd)
{
	const uint8_t head[MSD_FRAME_HEADER_BYTES] = {0};
	struct msd_buf b = {0};

	msd_buf_put(&b, head, sizeof(head));
	msd_body_begin_notification(&b, "session.close");
	msd_pack_array(&b, 3);
	msd_pack_uint(&b, MSD_PROTOCOL);
	msd_pack_cstr(&b, msd_err_name(MSD_PROTOCOL));
	msd_pack_cstr(&b, ADVICE);
	if (!b.bad) {
		msd_frame_write((struct msd_frame){(uint32_t)(b.n - sizeof(head)), 0},
				b.p);
		say(fd, b.p, b.n);
	}
	msd_buf_finish(&b);
}

msd_err msd_tls_sniff_protocol(int fd, struct msd_diag *d)
{
	uint8_t first;
	const ssize_t n = recv(fd, &first, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return MSD_WAIT;
	if (n < 0)
		return msd_diag_set(d, MSD_IO, "%s", strerror(errno));
	if (n == 0) {
		return msd_diag_set(
			d, MSD_IO, "it closed the connection without sending anything");
	}
	if (first == TLS_HANDSHAKE)
		return MSD_OK;
	if (first == (uint8_t)MSD_MAGIC[0]) {
		say_frame(fd);
		return msd_diag_set(d, MSD_PROTOCOL,
				    "it speaks modserd's protocol without TLS");
	}
	if (first >= 'A' && first <= 'Z') {
		say(fd, http_answer, sizeof(http_answer) - 1);
		return msd_diag_set(d, MSD_PROTOCOL,
				    "it speaks HTTP, or other text, without TLS");
	}
	return msd_diag_set(d, MSD_PROTOCOL,
			    "it begins with the byte %02x, which is not TLS", first);
}

#define HEAD_BYTES 5
#define MOST_BYTES (16384 + 256) /* of a record; OpenSSL rejects more */

/* The size of the record, or of its header if that is all that is known; 0: not
 * valid. */
static int bytes_of(int fd)
{
	uint8_t head[HEAD_BYTES];

	if (recv(fd, head, sizeof(head), MSG_PEEK | MSG_DONTWAIT) < HEAD_BYTES)
		return HEAD_BYTES;
	const int n = head[3] << 8 | head[4];
	return n <= MOST_BYTES ? HEAD_BYTES + n : 0;
}

static bool set_low(int fd, int low)
{
	return setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low)) == 0;
}

bool msd_tls_first_record_waits(int fd, int *low)
{
	const int want = bytes_of(fd);
	int have = 0;

	/* The socket becomes readable with less than that at the end of the stream;
	 * read() reports the end. */
	if (ioctl(fd, FIONREAD, &have) == 0 && have < want && want != *low &&
	    set_low(fd, want)) {
		*low = want;
		return true;
	}
	if (*low != 0)
		(void)set_low(fd, 1);
	return false;
}

void msd_tls_first_record_drop(int fd)
{
	uint8_t scratch[HEAD_BYTES + MOST_BYTES];

	(void)recv(fd, scratch, sizeof(scratch), MSG_DONTWAIT);
}
