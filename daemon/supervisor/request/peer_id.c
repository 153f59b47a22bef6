#include "daemon/supervisor/request/peer_id.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/supervisor/request/network.h"

static struct msd_peer_id of_user(int fd)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0)
		return (struct msd_peer_id){0};
	return (struct msd_peer_id){.kind = MSD_PEER_USER, .value = who.uid};
}

struct msd_peer_id msd_peer_id_of_address(const uint8_t at[static 16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	const bool is_ipv4 = memcmp(at, mapped, sizeof(mapped)) == 0;
	const uint8_t *p = is_ipv4 ? at + sizeof(mapped) : at;
	uint64_t value = 0;

	for (unsigned i = 0; i < (is_ipv4 ? 4u : 8u); i++)
		value = value << 8 | p[i];
	return (struct msd_peer_id){.kind = is_ipv4 ? MSD_PEER_IPV4 : MSD_PEER_IPV6,
				    .value = value};
}

struct msd_peer_id msd_peer_id_of_socket(int fd)
{
	struct sockaddr any = {.sa_family = AF_UNSPEC};
	socklen_t n = sizeof(any);
	uint8_t at[MSD_ADDRESS_BYTES];

	if (msd_network_peer(fd, at))
		return msd_peer_id_of_address(at);
	if (getpeername(fd, &any, &n) == 0 && any.sa_family == AF_UNIX)
		return of_user(fd);
	return (struct msd_peer_id){0};
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
	case MSD_PEER_CONNECTION:
		(void)snprintf(ret, MSD_PEER_TEXT_BYTES, "connection %" PRIu64,
			       who.value);
		break;
	case MSD_PEER_UNKNOWN:
	default:
		(void)snprintf(ret, MSD_PEER_TEXT_BYTES, "unknown");
		break;
	}
	return ret;
}
