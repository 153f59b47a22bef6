#ifndef MSD_CLI_DUE_H
#define MSD_CLI_DUE_H
/*
 * When the command line's --deadline is over. It bounds all that the program does: what
 * is done here before the daemon is asked, reading and linking, and the requests, of
 * which each gets what is left.
 */
#include <stdbool.h>
#include <stdint.h>

struct msd_due {
	uint32_t in_ms; /* 0: never */
	uint64_t since_ms;
};

struct msd_due msd_due_begin(uint32_t in_ms);
/** For a request now: at least 1 ms; 0: there is no deadline. */
uint32_t msd_due_left_ms(const struct msd_due *due);
/** Until msd_due_unguard() the program ends with an error and the exit code when @due
 * is over, whatever it waits for. @what has not been done then: "net.so: it was not
 * read". False: out of memory. */
bool msd_due_guard(const struct msd_due *due, const char *what);
void msd_due_unguard(void);

#endif
