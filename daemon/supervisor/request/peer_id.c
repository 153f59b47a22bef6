#include "daemon/supervisor/request/peer_id.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static struct msd_peer_id of_user(int fd)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0)
		return (struct msd_peer_id){0};
	return (struct msd_peer_id){.kind = MSD_PEER_USER, .value = who.uid};
}

static struct msd_peer_id of_ipv4(const void *address)
{
	uint32_t bits;

	memcpy(&bits, address, sizeof(bits));
	return (struct msd_peer_id){.kind = MSD_PEER_IPV4, .value = ntohl(bits)};
}

static struct msd_peer_id of_ipv6(const struct in6_addr *address)
{
	uint64_t value = 0;

	if (IN6_IS_ADDR_V4MAPPED(address))
		return of_ipv4(&address->s6_addr[12]);
	for (unsigned i = 0; i < 8; i++)
		value = value << 8 | address->s6_addr[i];
	return (struct msd_peer_id){.kind = MSD_PEER_IPV6, .value = value};
}

struct msd_peer_id msd_peer_id_of_socket(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in ipv4;
		struct sockaddr_in6 ipv6;
	} at = {.any.sa_family = AF_UNSPEC};
	socklen_t n = sizeof(at);

	if (getpeername(fd, &at.any, &n) != 0)
		return (struct msd_peer_id){0};
	switch (at.any.sa_family) {
	case AF_UNIX:
		return of_user(fd);
	case AF_INET:
		return of_ipv4(&at.ipv4.sin_addr);
	case AF_INET6:
		return of_ipv6(&at.ipv6.sin6_addr);
	default:
		return (struct msd_peer_id){0};
	}
}

bool msd_peer_id_is_loopback(struct msd_peer_id who)
{
	return who.kind == MSD_PEER_IPV4 ? who.value >> 24 == IN_LOOPBACKNET
					 : who.kind == MSD_PEER_IPV6 && who.value == 0;
}

const char *msd_peer_id_text(struct msd_peer_id who, char ret[MSD_PEER_TEXT_BYTES])
{
	char address[INET6_ADDRSTRLEN] = "";
	struct in6_addr network = {0};
	const struct in_addr host = {htonl((uint32_t)who.value)};

	switch (who.kind) {
	case MSD_PEER_USER:
		(void)snprintf(ret, MSD_PEER_TEXT_BYTES, "uid %" PRIu64, who.value);
		break;
	case MSD_PEER_IPV4:
		(void)inet_ntop(AF_INET, &host, ret, MSD_PEER_TEXT_BYTES);
		break;
	case MSD_PEER_IPV6:
		for (unsigned i = 0; i < 8; i++)
			network.s6_addr[i] = (uint8_t)(who.value >> (56 - 8 * i));
		(void)inet_ntop(AF_INET6, &network, address, sizeof(address));
		(void)snprintf(ret, MSD_PEER_TEXT_BYTES, "%s/64", address);
		break;
	case MSD_PEER_NAME:
		(void)snprintf(ret, MSD_PEER_TEXT_BYTES, "user %s", who.name);
		break;
	case MSD_PEER_NOBODY:
	default:
		(void)snprintf(ret, MSD_PEER_TEXT_BYTES, "somebody");
		break;
	}
	return ret;
}
