#ifndef MSD_PROTO_WORDS_H
#define MSD_PROTO_WORDS_H
/*
 * Generate a function that returns the names of an enumeration. The enumeration is a
 * list of X(enumerator, word). MSD_WORDS_DEFINE(msd_right_name, enum msd_right,
 * MSD_RIGHT_MAP) defines
 *
 *     const char *msd_right_name(enum msd_right value);
 *
 * The declaration stays in the header, where readers look for it.
 */

#define MSD_WORDS_ROW(e, word) word,

#define MSD_WORDS_DEFINE(function, type, MAP)                                          \
	const char *function(type value)                                               \
	{                                                                              \
		static const char *const words[] = {MAP(MSD_WORDS_ROW)};               \
                                                                                       \
		return words[value];                                                   \
	}

#endif
