#ifndef MSD_RUNTIME_ABI_ANYLIST_H
#define MSD_RUNTIME_ABI_ANYLIST_H

#include "runtime/value/value.h"
/*
 * Lists of values for code in compiled mode (Relax, exec_mode="compiled"). The code
 * gets a list as an opaque pointer and calls TVMBackendAnyList* with it. These
 * functions have the same names but different parameters in each ABI. Therefore
 * unused alignment bits of the pointer say which ABI the code uses.
 */

enum msd_list_era {
	MSD_LIST_FFI,     /* 0.22 and later */
	MSD_LIST_FFI_021, /* tensors have another type and header */
	MSD_LIST_CLASSIC  /* 0.16 to 0.20: values and type codes in two arrays */
};

/** Return the handle that code of @era gets for the list at @items. */
void *msd_list_handle(struct msd_any *items, enum msd_list_era era);
/**
 * The hooks. @codes is the array of type codes in classic code, else the index into
 * @args. Only classic code passes the last parameter (the index). They fail only for
 * values that no code of the ABI can have.
 */
int msd_list_set_arg(void *list, int index, void *args, void *codes, int arg);
int msd_list_reset(void *list, int index);
int msd_list_move(void *list, int index, void *args, void *codes, int ret);

#endif
