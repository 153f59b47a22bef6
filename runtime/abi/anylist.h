#ifndef MSD_RUNTIME_ABI_ANYLIST_H
#define MSD_RUNTIME_ABI_ANYLIST_H

#include "runtime/value/value.h"
/*
 * Lists of values that code in compiled mode works on (Relax, exec_mode="compiled"): it
 * gets a list as an opaque pointer and calls TVMBackendAnyList* with it. These have
 * other parameters in each era, under the same names in one process; so the pointer
 * says, in bits that its alignment leaves free, whose code has it.
 */

enum msd_list_era {
	MSD_LIST_FFI,     /* 0.22 and later */
	MSD_LIST_FFI_021, /* tensors have another type and header */
	MSD_LIST_CLASSIC  /* 0.16 to 0.20: values beside type codes */
};

/** What code of @era is given for the list at @items. */
void *msd_list_handle(struct msd_any *items, enum msd_list_era era);
/**
 * The hooks. @codes is the type codes of classic code, else the place among @args; the
 * last parameter, the place, is classic code's alone. Never fail but for values that no
 * code of the era can have.
 */
int msd_list_set_arg(void *list, int index, void *args, void *codes, int arg);
int msd_list_reset(void *list, int index);
int msd_list_move(void *list, int index, void *args, void *codes, int ret);

#endif
