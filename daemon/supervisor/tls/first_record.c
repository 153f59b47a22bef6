#include "daemon/supervisor/tls/first_record.h"

#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

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
