#ifndef MSD_TESTS_MLF_WRITER_H
#define MSD_TESTS_MLF_WRITER_H

#include "tests/artifact/byte_writer.h"
/* Model Library Format archives of every version, of one small graph. */

/** x (an input) and w (a parameter) go into f; its result is the output. */
extern const char mlf_graph[];
/** A .params file with w. */
void mlf_put_params(struct bw *w);
/** A full model of @version called "m". */
struct bw mlf_full_model(unsigned version);
/** An archive of the function f in C, style operator. */
struct bw mlf_operator(unsigned version);
/** An archive that holds @metadata alone. */
struct bw mlf_of_metadata(const char *metadata);

#endif
