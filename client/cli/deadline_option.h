#ifndef MSD_CLI_DEADLINE_OPTION_H
#define MSD_CLI_DEADLINE_OPTION_H
/*
 * The --deadline of the command line. The deadline bounds everything that the program
 * does: local work before the first request, such as reading and linking, and the
 * requests. Each request gets the rest.
 */
#include <stdbool.h>
#include <stdint.h>

struct msd_due {
	uint32_t in_ms; /* 0: no deadline */
	uint64_t since_ms;
};

struct msd_due msd_due_begin(uint32_t in_ms);
/** Timeout for a request now: at least 1 ms; 0: there is no deadline. */
uint32_t msd_due_left_ms(const struct msd_due *due);
/**
 * Until msd_due_unguard(), end the program with an error and the exit code when @due
 * passes, even if it is blocked. @what names the unfinished work: "net.so: it was not
 * read". False: out of memory.
 */
bool msd_due_guard(const struct msd_due *due, const char *what);
void msd_due_unguard(void);

#endif
