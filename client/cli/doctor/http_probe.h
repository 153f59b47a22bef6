#ifndef MSD_CLI_HTTP_PROBE_H
#define MSD_CLI_HTTP_PROBE_H
/* HTTP probe for a peer that sent nothing. An HTTP server may wait for the end of a
 * line, which a frame does not contain. */
#include <stdbool.h>

/**
 * True if the peer on @fd answers line ends as an HTTP server does. @fd cannot be
 * used afterwards. Takes at most KNOCK_MS.
 */
bool msd_knock_is_http(int fd);

#endif
