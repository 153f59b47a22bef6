#include "daemon/supervisor/rpc/bytes_written.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

uint64_t msd_bytes_written(int fd)
{
	struct tcp_info i = {0};
	socklen_t n = sizeof(i);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &n) != 0)
		return UINT64_MAX;
	return i.tcpi_bytes_sent - i.tcpi_bytes_retrans + i.tcpi_notsent_bytes;
}
