#ifndef MSD_FETCH_PUBLIC_H
#define MSD_FETCH_PUBLIC_H
/* Which addresses are of the public Internet: all that no registry of special purposes
 * (RFC 6890 and its kin) keeps for this machine, its networks, or something else. */
#include <stdbool.h>
#include <sys/socket.h>

bool msd_public_is(const struct sockaddr *a);
/** The same of an address as text; what is none is not public. */
bool msd_public_is_text(const char *address);

#endif
