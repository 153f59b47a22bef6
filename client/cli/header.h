#ifndef MSD_CLI_HEADER_H
#define MSD_CLI_HEADER_H

/** The text of include/tvm_api.h; made by CMake. */
extern const char msd_tvm_api_header[];

#endif
