#ifndef MSD_CLI_HEADER_H
#define MSD_CLI_HEADER_H

/** The texts of include/tvm_api.h, tvm_ffi_api.h and modser_aot.h; made by CMake. */
extern const char msd_tvm_api_header[];
extern const char msd_tvm_ffi_api_header[];
extern const char msd_aot_header[];

#endif
