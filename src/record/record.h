/* record.h - extracts text, time and labels from JSON, CSV and TSV records. */
#ifndef TIDE_RECORD_H
#define TIDE_RECORD_H

#include "file/file.h"

/* The public functions are in wordtide.h. */

/* The time of the latest good record that has one, in seconds since 1970; NaN if there
 * was none. Accepts a number (seconds, or milliseconds if above 10^11) or ISO 8601. A
 * time that cannot be parsed does not make the record bad. */
double tide_records_time(const tide_records *r);

/* The problem with the header or the fields, such as "no column 'body'; the header has:
 * id, time"; NULL if there is none. Remains set until another header has been read. */
const char *tide_records_problem(const tide_records *r);

/* Whether fields are selected by column name, so that every input needs a header
 * record. */
bool tide_records_has_header(const tide_records *r);

/* Whether the next record of this input is the header. */
bool tide_records_expects_header(const tide_records *r);

uint64_t tide_records_bytes(void);

/* Whether all input has been consumed and no record is incomplete. */
bool tide_records_at_boundary(const tide_records *r);

/* Removes the incomplete record, up to TIDE_RECORD_MAX bytes, copies it to `bytes` and
 * returns its size, so that another input can be fed. An over-long record is not
 * stored; *skipped is set to the number of its bytes seen so far. To resume the record
 * later, call tide_records_skip with `skipped` and feed the bytes again. */
size_t tide_records_unread(tide_records *r, void *bytes, uint64_t *skipped);
void tide_records_skip(tide_records *r, uint64_t skipped);

/* Section records: counters, the columns of the header, and the incomplete record. */
void tide_records_save(const tide_records *r, tide_store_writer *writer);
int tide_records_load(tide_records *r, tide_store *store, tide_error *err);

#endif
