/*
 * Included before every file that tidy.sh checks. The analyzer sees one file at a time
 * and cannot know that these return the code they are given, so it would follow paths
 * on which an error is set and MSD_OK returned. This tells it.
 */
#include "proto/scan.h"
#include "runtime/value/error.h"

#define msd_diag_set(d, code, ...) ((void)msd_diag_set(d, code, __VA_ARGS__), (code))
#define msd_diag_wrap(d, code, ...) ((void)msd_diag_wrap(d, code, __VA_ARGS__), (code))
#define msd_diag_no_memory(d) ((void)msd_diag_no_memory(d), MSD_NOMEM)
#define msd_scan_fail(...) ((void)msd_scan_fail(__VA_ARGS__), MSD_PROTOCOL)
#define msd_abi_raise(...) ((void)msd_abi_raise(__VA_ARGS__), -1)
#define msd_abi_no_memory() ((void)msd_abi_no_memory(), -1)
