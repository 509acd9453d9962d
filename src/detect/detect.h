/* detect.h - what an input is, judged by its first bytes. Private.
 *
 * The evidence must be such that text does not have it by chance, nor because an
 * attacker chose its first line: bytes that no text contains, or a structure that
 * extends over several lines. The reaction depends on the source: a file or a pipe is
 * refused with the command to use instead; a file that is followed is read as text with
 * a warning, since its writer must not be able to stop the run.
 */
#ifndef TIDE_DETECT_H
#define TIDE_DETECT_H

#include "base/base.h"

#include <wordtide/tools.h>

/* The contents that a reader accepts besides plain text. Everything else that is
 * recognized is refused. */
typedef enum tide_expected {
    TIDE_EXPECTED_ANY,     /* vectors, models and JSON as well */
    TIDE_EXPECTED_RECORDS, /* JSON, but neither vectors nor models */
    TIDE_EXPECTED_LINES,   /* nothing */
    TIDE_EXPECTED_ALL,     /* anything: the user has declared it to be text */
} tide_expected;

/* The number of bytes that are examined; more are never needed. */
enum { TIDE_DETECT_SIZE = TIDE_SIZE(64 << 10, 1024) };

/* MAYBE: more bytes are needed to decide, and these should not be processed before.
 * Kinds without a magic number may return NO for a few bytes and YES for more. */
typedef enum tide_match { TIDE_NO, TIDE_MAYBE, TIDE_YES } tide_match;

/* The first bytes of an input. */
typedef struct tide_head {
    const unsigned char *bytes;
    size_t size;
    bool whole; /* no more needed: the input has ended, or size is TIDE_DETECT_SIZE */
} tide_head;

typedef struct tide_kind {
    tide_content content;
    const char *what;     /* "a zip archive" */
    const char *command;  /* prints a file as text: "unzip -p"; NULL if there is none */
    const char *advice;   /* without a command: what to do, @ is replaced by the name */
    const char *suffixes; /* of the names of such files: ".zip"; may be NULL */
    tide_match (*test)(tide_head head); /* NULL: the kind is recognized by its magic */
    const char *magic;
    size_t magic_size, reach; /* see MAGIC in detect.c */
} tide_kind;

typedef struct tide_detected {
    const tide_kind *kind; /* NULL: text, or unknown */
    bool undecided;        /* more bytes may show that it is one of the kinds */
} tide_detected;

tide_detected tide_detect(tide_head head, tide_expected expected);

/* Describes the refusal, as "NAME is a zip archive, which cannot be read: unzip -p NAME
 * | wordtide train -". Returns TIDE_ERROR_FORMAT. */
int tide_detect_refuse(const tide_kind *kind, tide_head head, const char *spec,
                       tide_error *err);

/* Whether the name ends with one of the suffixes, which are separated by spaces. */
bool tide_has_suffix(const char *suffixes, const char *name);

/* The first occurrence of `part` in the bytes; NULL if there is none. */
const unsigned char *tide_find_bytes(const unsigned char *bytes, size_t size,
                                     const char *part);

/* Whether the byte is a control character that does not occur in text. */
static inline bool tide_is_control(unsigned char c)
{
    return (c < 0x20 && (c < '\b' || c > '\r') && c != 0x1b) || c == 0x7f;
}

/* Whether there are control characters or invalid UTF-8. A code point truncated by the
 * end is not an error. */
bool tide_is_binary(const unsigned char *bytes, size_t size);

/* -- encodings (detect_encoding.c) ------------------------------------------------- */

/* UTF-16 and UTF-32 with a byte order mark; without one, little and big endian. */
tide_match tide_is_utf16(tide_head head), tide_is_utf32(tide_head head);
tide_match tide_is_utf16_little(tide_head head), tide_is_utf16_big(tide_head head);
tide_match tide_is_utf32_little(tide_head head), tide_is_utf32_big(tide_head head);
tide_match tide_is_8bit(tide_head head);

/* -- vectors (detect_vectors.c) ---------------------------------------------------- */

tide_match tide_is_word2vec_text(tide_head head), tide_is_glove(tide_head head);
tide_match tide_is_word2vec_binary(tide_head head);

/* -- JSON (detect_json.c) ---------------------------------------------------------- */

tide_match tide_is_json(tide_head head);

/* Lists the field names of the first object, as "id, user.name, text". */
enum { TIDE_JSON_FIELDS = 200 };
void tide_json_fields(const unsigned char *bytes, size_t size,
                      char fields[TIDE_JSON_FIELDS]);

#endif
