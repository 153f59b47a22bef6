#ifndef MSD_PROTO_WORDS_H
#define MSD_PROTO_WORDS_H
/*
 * The words of an enumeration that is a list of X(enumerator, word), as a function.
 * MSD_WORDS_DEFINE(msd_right_name, enum msd_right, MSD_RIGHT_MAP) defines
 *
 *     const char *msd_right_name(enum msd_right value);
 *
 * whose declaration stays in the header, where people look for it.
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
