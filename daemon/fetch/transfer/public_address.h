#ifndef MSD_FETCH_PUBLIC_ADDRESS_H
#define MSD_FETCH_PUBLIC_ADDRESS_H
/* Recognize addresses of the public Internet: all except the special-purpose blocks
 * (RFC 6890 and its updates). */
#include <stdbool.h>
#include <sys/socket.h>

bool msd_public_is(const struct sockaddr *a);
/** The same for an address as text; false if it does not parse. */
bool msd_public_is_text(const char *address);

#endif
