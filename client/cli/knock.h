#ifndef MSD_CLI_KNOCK_H
#define MSD_CLI_KNOCK_H
/*
 * Who is it that has said nothing? A server of HTTP may wait for the end of a line,
 * which a frame has not.
 */
#include <stdbool.h>

/** Whether the peer on @fd, which is given up, answers lines as a server of HTTP does.
 * Takes KNOCK_MS at most. */
bool msd_knock_is_http(int fd);

#endif
