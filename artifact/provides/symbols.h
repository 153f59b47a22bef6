#ifndef MSD_ARTIFACT_PROVIDES_SYMBOLS_H
#define MSD_ARTIFACT_PROVIDES_SYMBOLS_H
/*
 * Symbols that libraries leave undefined and that a process linked with
 * msd_runtime_host provides. The linker's list, runtime/abi/exports.list, has the
 * same names: it cannot include this file, so a test compares them.
 */

#define MSD_SYMBOL_MAP(X)                                                              \
	X("TVMAPISetLastError")                                                        \
	X("TVMBackendAllocWorkspace")                                                  \
	X("TVMBackendAnyListMoveFromPackedReturn")                                     \
	X("TVMBackendAnyListResetItem")                                                \
	X("TVMBackendAnyListSetPackedArg")                                             \
	X("TVMBackendFreeWorkspace")                                                   \
	X("TVMBackendGetFuncFromEnv")                                                  \
	X("TVMBackendParallelBarrier")                                                 \
	X("TVMBackendParallelLaunch")                                                  \
	X("TVMBackendRegisterSystemLibSymbol")                                         \
	X("TVMBackendRunOnce")                                                         \
	X("TVMFFIBacktrace")                                                           \
	X("TVMFFIBytesFromByteArray")                                                  \
	X("TVMFFIEnvGetStream")                                                        \
	X("TVMFFIEnvModLookupFromImports")                                             \
	X("TVMFFIEnvModRegisterSystemLibSymbol")                                       \
	X("TVMFFIEnvSetStream")                                                        \
	X("TVMFFIErrorSetRaised")                                                      \
	X("TVMFFIErrorSetRaisedFromCStr")                                              \
	X("TVMFFIErrorSetRaisedFromCStrParts")                                         \
	X("TVMFFIFunctionCall")                                                        \
	X("TVMFFIGetTypeInfo")                                                         \
	X("TVMFFIHandleInitOnce")                                                      \
	X("TVMFFIStringFromByteArray")                                                 \
	X("TVMFuncCall")                                                               \
	X("__gnu_f2h_ieee")                                                            \
	X("__gnu_h2f_ieee")                                                            \
	X("__truncdfhf2")

#endif
