/* record.h - the texts in JSON, CSV and TSV records. */
#ifndef TIDE_RECORD_H
#define TIDE_RECORD_H

#include "file/file.h"

/* The public part is in wordtide.h. */

/* Seconds since 1970 of the latest good record with a time (a number: seconds, or milliseconds when
 * above 10^11; or ISO 8601); NAN before. A time that cannot be read leaves the record good. */
double tide_records_time(const tide_records *r);

/* What is wrong with the names of the columns, such as "no column 'body'; there are: id, time"; NULL
 * when nothing is. Stays until other names have come. */
const char *tide_records_problem(const tide_records *r);

/* Whether fields go by the names of columns, so that every input has to begin with these. */
bool tide_records_has_header(const tide_records *r);

/* Whether the next record of this input is the one with the names. */
bool tide_records_expects_header(const tide_records *r);

uint64_t tide_records_bytes(void);

/* Whether all that was fed is taken and no record has begun. */
bool tide_records_at_boundary(const tide_records *r);

/* Takes back the half-read record, up to TIDE_RECORD_MAX bytes, so that text of another input can come; returns how
 * many. Of a record that is too long none are kept, and *skipped says how many have gone by. To go on with
 * it, skip so many and feed the bytes again. */
size_t tide_records_unread(tide_records *r, void *bytes, uint64_t *skipped);
void tide_records_skip(tide_records *r, uint64_t skipped);

/* Section records: counters, names of columns, the half-read record. */
void tide_records_save(const tide_records *r, tide_store_writer *writer);
int tide_records_load(tide_records *r, tide_store *store, tide_error *err);

#endif
