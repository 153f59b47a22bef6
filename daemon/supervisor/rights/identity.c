#include "daemon/supervisor/rights/identity.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(sizeof(gid_t) == sizeof(uint32_t), "groups are read as they are");

/* Read the supplementary groups that the process had when it connected. */
static bool read_groups(int fd, struct msd_identity *i)
{
	socklen_t n = 0;

	/* Without a buffer, the kernel returns the required size. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &n) == 0 || errno != ERANGE)
		n = 0;
	uint32_t *more = realloc(i->gids, sizeof(*more) + n);
	if (more == NULL)
		return false;
	i->gids = more;
	if (n > 0 && getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, more + 1, &n) == 0)
		i->n_gids += n / sizeof(*more);
	return true;
}

bool msd_identity_of_socket(int fd, struct msd_identity *ret)
{
	struct msd_identity i = {0};
	struct ucred who;
	struct sockaddr_storage at = {0};
	socklen_t n = sizeof(who), n_at = sizeof(at);

	if (getsockname(fd, (struct sockaddr *)&at, &n_at) == 0 &&
	    at.ss_family == AF_UNIX &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0) {
		i.has_user = true;
		i.uid = who.uid;
		if (!read_groups(fd, &i))
			return false;
		i.gids[0] = who.gid;
		i.n_gids++;
	}
	*ret = i;
	return true;
}

void msd_identity_finish(struct msd_identity *i)
{
	free(i->gids);
	*i = (struct msd_identity){0};
}

bool msd_identity_is_operator(const struct msd_identity *i)
{
	return i->has_user && i->token == NULL && i->certificate == NULL &&
	       (i->uid == 0 || i->uid == geteuid());
}
