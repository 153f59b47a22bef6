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
	X("TVMCFuncSetReturn")                                                         \
	X("TVMFFIAnyViewToOwnedAny")                                                   \
	X("TVMFFIBacktrace")                                                           \
	X("TVMFFIBigIntFromByteArray")                                                 \
	X("TVMFFIBigIntGetContentByteArray")                                           \
	X("TVMFFIBytesFromByteArray")                                                  \
	X("TVMFFIDataTypeFromString")                                                  \
	X("TVMFFIDataTypeToString")                                                    \
	X("TVMFFIEnvCheckSignals")                                                     \
	X("TVMFFIEnvGetDLPackManagedTensorAllocator")                                  \
	X("TVMFFIEnvGetStream")                                                        \
	X("TVMFFIEnvModLookupFromImports")                                             \
	X("TVMFFIEnvModRegisterContextSymbol")                                         \
	X("TVMFFIEnvModRegisterSystemLibSymbol")                                       \
	X("TVMFFIEnvRegisterCAPI")                                                     \
	X("TVMFFIEnvSetDLPackManagedTensorAllocator")                                  \
	X("TVMFFIEnvSetStream")                                                        \
	X("TVMFFIEnvTensorAlloc")                                                      \
	X("TVMFFIErrorCreate")                                                         \
	X("TVMFFIErrorCreateWithCauseAndExtraContext")                                 \
	X("TVMFFIErrorMoveFromRaised")                                                 \
	X("TVMFFIErrorSetRaised")                                                      \
	X("TVMFFIErrorSetRaisedFromCStr")                                              \
	X("TVMFFIErrorSetRaisedFromCStrParts")                                         \
	X("TVMFFIFunctionCall")                                                        \
	X("TVMFFIFunctionCreate")                                                      \
	X("TVMFFIFunctionGetGlobal")                                                   \
	X("TVMFFIFunctionSetGlobal")                                                   \
	X("TVMFFIFunctionSetGlobalFromMethodInfo")                                     \
	X("TVMFFIGetCustomAllocator")                                                  \
	X("TVMFFIGetTypeAttrColumn")                                                   \
	X("TVMFFIGetTypeInfo")                                                         \
	X("TVMFFIGetVersion")                                                          \
	X("TVMFFIHandleDeinitOnce")                                                    \
	X("TVMFFIHandleInitOnce")                                                      \
	X("TVMFFIObjectCreateOpaque")                                                  \
	X("TVMFFIObjectDecRef")                                                        \
	X("TVMFFIObjectIncRef")                                                        \
	X("TVMFFISetCustomAllocator")                                                  \
	X("TVMFFIStringFromByteArray")                                                 \
	X("TVMFFITensorCreateUnsafeView")                                              \
	X("TVMFFITensorFromDLPack")                                                    \
	X("TVMFFITensorFromDLPackVersioned")                                           \
	X("TVMFFITensorToDLPack")                                                      \
	X("TVMFFITensorToDLPackVersioned")                                             \
	X("TVMFFITypeGetOrAllocIndex")                                                 \
	X("TVMFFITypeKeyToIndex")                                                      \
	X("TVMFFITypeRegisterAttr")                                                    \
	X("TVMFFITypeRegisterField")                                                   \
	X("TVMFFITypeRegisterMetadata")                                                \
	X("TVMFFITypeRegisterMethod")                                                  \
	X("TVMFuncCall")                                                               \
	X("TVMFuncCreateFromCFunc")                                                    \
	X("TVMFuncFree")                                                               \
	X("TVMFuncGetGlobal")                                                          \
	X("TVMFuncRegisterGlobal")                                                     \
	X("__gnu_f2h_ieee")                                                            \
	X("__gnu_h2f_ieee")                                                            \
	X("__truncdfhf2")

#endif
