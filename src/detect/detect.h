/* detect.h - what an input is, judged by its first bytes. Private.
 *
 * The evidence must be such that no text has it by chance or because someone chose its first
 * line: bytes that no text contains, or a structure that holds over several lines. What a
 * reader may do about it differs: a file or a pipe is refused with the command to use instead,
 * a file that is followed is read as text with a warning, since its writers are not trusted.
 */
#ifndef TIDE_DETECT_H
#define TIDE_DETECT_H

#include "base/base.h"

/* What can be made use of besides text. Files, pipes and packed text of another kind are refused
 * (detect.h). */
typedef enum tide_expected {
    TIDE_EXPECTED_ANY,     /* vectors, models and JSON as well */
    TIDE_EXPECTED_RECORDS, /* JSON, but neither vectors nor models */
    TIDE_EXPECTED_LINES,   /* nothing */
    TIDE_EXPECTED_ALL,     /* everything: the user has said that it is text */
} tide_expected;

/* Bytes that are looked at; no more are needed. */
enum { TIDE_DETECT_SIZE = TIDE_ROOM(64 << 10, 1024) };

/* MAYBE: it may turn out with more bytes, and nothing should be made of these before. Kinds
 * without a magic number may say NO to a few bytes and YES to more. */
typedef enum tide_match { TIDE_NO, TIDE_MAYBE, TIDE_YES } tide_match;

/* The first bytes of an input. */
typedef struct tide_head {
    const unsigned char *bytes;
    size_t size;
    bool
        whole; /* no more will come: the input has ended, or these are TIDE_DETECT_SIZE */
} tide_head;

typedef struct tide_kind {
    tide_content content;
    const char *what;    /* "a zip archive" */
    const char *command; /* writes the input FILE as text: "unzip -p"; NULL for none */
    const char
        *advice; /* without a command: what to do, @ being the name of the input */
    const char *endings; /* of the names of such files: ".zip"; NULL */
    tide_match (*test)(tide_head head);
} tide_kind;

typedef struct tide_detected {
    const tide_kind *kind; /* NULL: text, or something unknown */
    bool open;             /* more bytes may show that it is one of the kinds */
} tide_detected;

tide_detected tide_detect(tide_head head, tide_expected expected);

/* "NAME is a zip archive, not text: unzip -p NAME | wordtide train -". Returns
 * TIDE_ERROR_FORMAT. */
int tide_detect_refuse(const tide_kind *kind, tide_head head, const char *spec,
                       tide_error *err);

/* Whether the name ends as those of such files do, so that its user means one. */
bool tide_detect_named(const char *endings, const char *name);

/* Where `part` begins in the bytes; NULL when it is not there. */
const unsigned char *tide_find_bytes(const unsigned char *bytes, size_t size,
                                     const char *part);

/* Whether the byte is a control character that text does not have. */
static inline bool tide_is_control(unsigned char c)
{
    return (c < 0x20 && (c < '\b' || c > '\r') && c != 0x1b) || c == 0x7f;
}

/* Whether there are control characters or bytes that are not UTF-8; a code point that the
 * end cuts does not count. */
bool tide_is_binary(const unsigned char *bytes, size_t size);

/* -- encodings (detect_encoding.c) ------------------------------------------------- */

/* With a byte order mark, or without one. */
tide_match tide_is_utf16(tide_head head), tide_is_utf32(tide_head head);
tide_match tide_is_utf16_little(tide_head head), tide_is_utf16_big(tide_head head);
tide_match tide_is_utf32_little(tide_head head), tide_is_utf32_big(tide_head head);
tide_match tide_is_8bit(tide_head head);

/* -- vectors (detect_vectors.c) ---------------------------------------------------- */

tide_match tide_is_word2vec_text(tide_head head), tide_is_glove(tide_head head);
tide_match tide_is_word2vec_binary(tide_head head);

/* -- JSON (detect_json.c) ---------------------------------------------------------- */

tide_match tide_is_json(tide_head head);

/* The fields of the first object, as "id, user.name, text". */
enum { TIDE_JSON_FIELDS = 200 };
void tide_json_fields(const unsigned char *bytes, size_t size,
                      char fields[TIDE_JSON_FIELDS]);

#endif
