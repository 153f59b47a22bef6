#ifndef MSD_CLI_TEXTS_H
#define MSD_CLI_TEXTS_H
/* The long help texts of verbs, separate from the table of verbs, which refers to
 * them. */

extern const char msd_text_call[];
extern const char msd_text_load[];
extern const char msd_text_inspect[];
extern const char msd_text_bench[];
extern const char msd_text_session[];
extern const char msd_text_convert[];
extern const char msd_text_pack[];
extern const char msd_text_pull[];
extern const char msd_text_push[];

#endif
