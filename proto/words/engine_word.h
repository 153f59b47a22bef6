#ifndef MSD_PROTO_ENGINE_WORD_H
#define MSD_PROTO_ENGINE_WORD_H
/* User-specified engine of a framework's model. */
#include "proto/words/word_list.h"

enum msd_engine_word {
	MSD_ENGINE_UNSAID,   /* as AUTO */
	MSD_ENGINE_AUTO,     /* "auto": native kernels where they exist */
	MSD_ENGINE_NATIVE,   /* "native": the same, whatever MODSERD_ENGINE says */
	MSD_ENGINE_REFERENCE /* "reference": the reference engine for all nodes */
};

#define MSD_ENGINE_WORDS "auto, native or reference"

extern const struct msd_word_list msd_engine_words;

/** The word; NULL for MSD_ENGINE_UNSAID. */
static inline const char *msd_engine_word_name(enum msd_engine_word word)
{
	return msd_engine_words.words[word];
}

#endif
