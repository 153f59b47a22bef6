#ifndef MSD_TESTS_TVM_RPC_SESSION_H
#define MSD_TESTS_TVM_RPC_SESSION_H
/* Packets of TVM's RPC in hexadecimal, behind '>' (from the client) or '<'; NULL ends a
 * list. */
extern const char *const tvm_rpc_ffi[];
extern const char *const tvm_rpc_classic[];

#endif
