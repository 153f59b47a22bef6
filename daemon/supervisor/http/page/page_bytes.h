#ifndef MSD_SUPERVISOR_PAGE_BYTES_H
#define MSD_SUPERVISOR_PAGE_BYTES_H
/* page.html, which the build converts to a source file. */
#include <stddef.h>
#include <stdint.h>

extern const uint8_t msd_page_bytes[];
extern const size_t msd_page_n_bytes;

#endif
